import { recordAction } from '#lib/audit/record-action.ts';
import type { Database } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { uuidPattern } from '#lib/http/lists.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { drawApiKey, type KeyedHash, type KeyScope } from '../domain/api-keys.ts';
import { type ApiKey, insertKey, revokeKey as revokeRow } from '../queries/api-keys.ts';

interface Dependencies {
  db: Database;
  keyedHash: KeyedHash;
  baseUrl: string;
  /** Wakes the outbox relay. */
  wake: () => void;
}

const maxName = 255;

/**
 * Creates an API key. @returns its row, and the key itself, which is not stored. @throws Failure `invalid`.
 */
export async function createKey(
  { db, keyedHash, baseUrl, wake }: Dependencies,
  input: { name: string; scope: string },
): Promise<{ row: ApiKey; key: string }> {
  const { name, scope } = readNewKey(input);
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
    await recordAction(tx, { action: 'key.created', target: `key/${id}` });
    return inserted;
  });
  wake();
  return { row, key };
}

/** Revokes a key permanently. @throws Failure `not-found` if there is no active key with this id. */
export async function revokeKey(
  { db, baseUrl, wake }: Omit<Dependencies, 'keyedHash'>,
  id: string,
): Promise<void> {
  const notFound = () => fail('not-found', 'API key not found.');
  if (!uuidPattern.test(id)) throw notFound();
  await db.withTransaction(async (tx) => {
    const row = await revokeRow(tx, id);
    if (!row) throw notFound();
    await addToOutbox(tx, 'accord.keys', {
      type: 'io.accord.key.revoked.v1',
      source: baseUrl,
      subject: row.id,
      data: { key: row.id, scope: row.scope, version: 2 },
    });
    await recordAction(tx, { action: 'key.revoked', target: `key/${id}` });
  });
  wake();
}

function readNewKey(input: { name: string; scope: string }): { name: string; scope: KeyScope } {
  const name = readBoundedText(input.name, maxName);
  const { scope } = input;
  const faults: Fault[] = [];
  if (!name)
    faults.push({ pointer: '/name', code: 'invalid', detail: `Must have 1 to ${maxName} characters.` });
  if (scope !== 'OWNER' && scope !== 'PEER')
    faults.push({ pointer: '/scope', code: 'invalid', detail: 'Must be OWNER or PEER.' });
  if (!name || faults.length > 0) throw fail('invalid', 'The API key is not valid.', { errors: faults });
  return { name, scope: scope as KeyScope };
}
