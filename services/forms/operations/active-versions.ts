import type { ActiveVersions } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { formatReference } from '../domain/element-reference.ts';
import { formatSerial } from '../domain/serial.ts';
import { type ActiveRow, readActive } from '../queries/active-entries.ts';
import type { PeerRow } from '../queries/read-peers.ts';

/** Presents rows by key. Without a prototype, because keys are chosen by people. */
export function presentActive(rows: Iterable<ActiveRow>, peers: Iterable<PeerRow> = []): ActiveVersions {
  const active: ActiveVersions = Object.create(null);
  for (const { key, status, major, minor } of rows)
    active[key] = {
      major,
      serial: major === null || minor === null ? null : formatSerial({ major, minor }),
      deleted: status === 'DELETED',
    };
  for (const { major, minor, ...reference } of peers)
    active[formatReference(reference)] = { major, serial: formatSerial({ major, minor }), deleted: false };
  return active;
}

/** The internal operation `activeVersions`. */
export function createActiveVersions({ db }: { db: Database }) {
  return async ({ keys }: { keys: string[] }): Promise<ActiveVersions> =>
    keys.length === 0 ? {} : presentActive(await readActive(db, { keys }));
}
