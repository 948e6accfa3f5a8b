import { recordAction } from '#lib/audit/record-action.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { uuidPattern } from '#lib/http/lists.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { isName, nameRule } from '#lib/text/visible-text.ts';
import {
  creatableScopes,
  drawApiKey,
  type KeyedHash,
  keyScopes,
  pairingKeyDays,
} from '../domain/api-keys.ts';
import { type ApiKey, insertKey, revokeKey as revokeRow } from '../queries/api-keys.ts';

interface Dependencies {
  db: Database;
  keyedHash: KeyedHash;
  baseUrl: string;
  /** Wakes the outbox relay. */
  wake: () => void;
}

const maxName = 255;
const maxElements = 100;
/** The end of a key's life that its creator can choose. */
const latestMs = Date.UTC(3000, 0);

/**
 * Creates an API key.
 * @param creator the caller.
 * @returns its row, and the key itself, which is not stored.
 * @throws Failure `invalid`; `forbidden` if the caller may not create a key of this scope.
 */
export async function createKey(
  { db, keyedHash, baseUrl, wake }: Dependencies,
  input: NewKey,
  creator: Pick<Principal, 'name' | 'roles'>,
): Promise<{ row: ApiKey; key: string }> {
  const { name, scope, elements, expiresAt } = readNewKey(input);
  if (!creatableScopes(creator.roles).includes(scope))
    throw fail('forbidden', 'Only an administrator may create a key with which answers can be read.');
  const id = newUuid();
  const key = drawApiKey(id);
  const row = await db.withTransaction(async (tx) => {
    const inserted = await insertKey(tx, {
      id,
      name,
      scope,
      elements,
      expiresAt,
      createdBy: creator.name,
      hash: keyedHash.hash(key),
    });
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

interface NewKey {
  name: string;
  scope: string;
  elements?: string[];
  /** Epoch milliseconds. */
  expirationDate?: number;
}

function readNewKey(input: NewKey): Pick<ApiKey, 'name' | 'scope' | 'elements' | 'expiresAt'> {
  const name = readBoundedText(input.name, maxName);
  const scope = keyScopes.find((each) => each === input.scope);
  const elements = input.elements && [...new Set(input.elements.map((key) => key.trim()).filter(Boolean))];
  const faults: Fault[] = [];
  if (!name || !isName(name))
    faults.push({
      pointer: '/name',
      code: 'invalid',
      detail: `Must have 1 to ${maxName} characters, ${nameRule}.`,
    });
  if (!scope)
    faults.push({ pointer: '/scope', code: 'invalid', detail: `Must be ${keyScopes.join(' or ')}.` });
  if (elements && scope !== 'DECISION')
    faults.push({
      pointer: '/elements',
      code: 'conflict',
      detail: 'Only keys of scope DECISION have elements.',
    });
  if (elements && (elements.length === 0 || elements.length > maxElements))
    faults.push({ pointer: '/elements', code: 'invalid', detail: `Must have 1 to ${maxElements} members.` });
  const { expirationDate } = input;
  if (expirationDate !== undefined && scope === 'PEER')
    faults.push({
      pointer: '/expirationDate',
      code: 'conflict',
      detail: `Keys of scope PEER expire after ${pairingKeyDays} days.`,
    });
  else if (expirationDate !== undefined && !(expirationDate > Date.now() && expirationDate <= latestMs))
    faults.push({
      pointer: '/expirationDate',
      code: 'invalid',
      detail: 'Must be in the future, before the year 3000.',
    });
  if (!name || !scope || faults.length > 0)
    throw fail('invalid', 'The API key is not valid.', { errors: faults });
  const expiresAt = expirationDate === undefined ? null : new Date(expirationDate);
  return { name, scope, elements: elements ?? null, expiresAt };
}
