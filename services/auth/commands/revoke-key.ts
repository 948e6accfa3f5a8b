import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { uuidPattern } from '#lib/http/cursor.ts';
import { revokeKey as revokeRow } from '../queries/api-keys.ts';

/** Revokes a key for good. @throws Failure `not-found` if none of that id is in force. */
export async function revokeKey(
  { db, baseUrl, wake }: { db: Database; baseUrl: string; wake: () => void },
  id: string,
): Promise<void> {
  const missing = () => fail('not-found', 'There is no such key.');
  if (!uuidPattern.test(id)) throw missing();
  await db.withTransaction(async (tx) => {
    const row = await revokeRow(tx, id);
    if (!row) throw missing();
    await addToOutbox(tx, 'accord.keys', {
      type: 'io.accord.key.revoked.v1',
      source: baseUrl,
      subject: row.id,
      data: { key: row.id, scope: row.scope, version: 2 },
    });
  });
  wake();
}
