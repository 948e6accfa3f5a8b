import type { Queries } from '#lib/db/database.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import type { Entry } from '../domain/model.ts';
import { formatSerial, type Serial } from '../domain/serial.ts';

/**
 * Writes the event of a change that forms and peers must learn of. `archived` means that nothing of the entry is ACTIVE any more;
 * an activation that replaces a version is told as `activated` alone. `shared`: others may show it than before, or under another name.
 */
export async function announce(
  tx: Queries,
  {
    source,
    name,
    entry,
    serial,
  }: { source: string; name: 'activated' | 'archived' | 'deleted' | 'shared'; entry: Entry; serial?: Serial },
): Promise<void> {
  const { id, key, type, revision } = entry;
  await addToOutbox(tx, 'accord.models', {
    type: `io.accord.model.${name}.v1`,
    source,
    subject: id,
    data: { model: id, key, type, version: revision, ...(serial && { serial: formatSerial(serial) }) },
  });
}
