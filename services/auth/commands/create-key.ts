import type { Database } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { newUuid } from '#lib/ids/new-uuid.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { drawApiKey, type KeyScope } from '../domain/api-key.ts';
import type { KeyedHash } from '../domain/keyed-hash.ts';
import { type ApiKey, insertKey } from '../queries/api-keys.ts';

interface Parts {
  db: Database;
  keyedHash: KeyedHash;
  baseUrl: string;
  wake: () => void;
}

const maxName = 255;

/** Makes an API key. @returns its row, and the key itself, which is kept nowhere. @throws Failure `invalid`. */
export async function createKey(
  { db, keyedHash, baseUrl, wake }: Parts,
  wanted: { name: string; scope: string },
): Promise<{ row: ApiKey; key: string }> {
  const { name, scope } = readNewKey(wanted);
  const id = newUuid();
  const key = drawApiKey(id);
  const row = await db.withTransaction(async (tx) => {
    const inserted = await insertKey(tx, { id, name, scope, hash: keyedHash.hash(key) });
    await addToOutbox(tx, 'accord.keys', {
      type: 'io.accord.key.created.v1',
      source: baseUrl,
      subject: id,
      data: { key: id, scope, version: 1 },
    });
    return inserted;
  });
  wake();
  return { row, key };
}

function readNewKey(wanted: { name: string; scope: string }): { name: string; scope: KeyScope } {
  const name = readBoundedText(wanted.name, maxName);
  const faults: Fault[] = [];
  if (!name)
    faults.push({ pointer: '/name', code: 'invalid', detail: `A name has 1 to ${maxName} characters.` });
  if (wanted.scope !== 'OWNER' && wanted.scope !== 'PEER')
    faults.push({ pointer: '/scope', code: 'invalid', detail: 'The scope is OWNER or PEER.' });
  if (!name || faults.length > 0) throw fail('invalid', 'The key cannot be made.', { errors: faults });
  return { name, scope: wanted.scope as KeyScope };
}
