import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/cursor.ts';
import type { KeyScope } from '../domain/api-key.ts';
import { canPair } from './pairing-keys.ts';

/** A key as lists show it. */
export interface ApiKey {
  id: string;
  name: string;
  scope: KeyScope;
  createdAt: Date;
  lastAccessAt: Date | null;
}

const columns = sql`k.id, k.name, k.scope, k.created_at AS "createdAt", k.last_access_at AS "lastAccessAt"`;

export function insertKey(
  db: Queries,
  key: { id: string; name: string; scope: KeyScope; hash: Buffer },
): Promise<ApiKey> {
  return db.one<ApiKey>(sql`
    INSERT INTO api_keys AS k (id, name, scope, hash, created_at)
    VALUES (${key.id}, ${key.name}, ${key.scope}, ${key.hash}, accord_now())
    RETURNING ${columns}`);
}

/** Keys in force, newest first, after a position. */
export function listKeys(
  db: Queries,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<(ApiKey & { position: string })[]> {
  const from = after
    ? sql`AND (k.created_at, k.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`
    : sql``;
  return db.query(sql`
    SELECT ${columns}, k.created_at::text AS position FROM api_keys AS k
     WHERE k.revoked_at IS NULL ${from}
     ORDER BY k.created_at DESC, k.id DESC LIMIT ${limit}`);
}

/** Revokes a key for good; its row stays, so that its id is never given again. @returns undefined if none is in force. */
export function revokeKey(db: Queries, id: string): Promise<{ id: string; scope: KeyScope } | undefined> {
  return db.maybeOne(sql`
    UPDATE api_keys AS k SET revoked_at = accord_now()
     WHERE k.id = ${id} AND k.revoked_at IS NULL
    RETURNING k.id, k.scope`);
}

/** What a presented key is compared with. `spent`: it was for one pairing, and is used or too old. */
export function findKey(
  db: Queries,
  id: string,
): Promise<{ id: string; name: string; scope: KeyScope; hash: Buffer; spent: boolean } | undefined> {
  return db.maybeOne(sql`
    SELECT k.id, k.name, k.scope, k.hash, k.scope = 'PEER' AND NOT ${canPair} AS spent
      FROM api_keys AS k WHERE k.id = ${id} AND k.revoked_at IS NULL`);
}

/** Notes that a key was used; at most once a minute, whoever else notes it too. */
export async function touchKey(db: Queries, id: string): Promise<void> {
  await db.query(sql`
    UPDATE api_keys AS k SET last_access_at = accord_now()
     WHERE k.id = ${id} AND (k.last_access_at IS NULL OR k.last_access_at < accord_now() - interval '1 minute')`);
}
