import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** What oidc-provider stores for a model and an id. */
export type ItemPayload = Record<string, unknown>;

interface ItemRow {
  payload: ItemPayload;
  consumed: number | null;
}

const columns = sql`i.payload, extract(epoch FROM i.consumed_at)::int AS consumed`;

/** Inserts or replaces an item. */
export async function upsertItem(
  db: Queries,
  { model, id, payload, ttlSeconds }: { model: string; id: string; payload: ItemPayload; ttlSeconds: number },
): Promise<void> {
  const { grantId, uid } = payload as { grantId?: string; uid?: string };
  await db.query(sql`
    INSERT INTO issuer_items (model, id, payload, grant_id, uid, expires_at)
    VALUES (${model}, ${id}, ${payload}, ${grantId}, ${uid}, now() + ${ttlSeconds} * interval '1 second')
    ON CONFLICT (model, id) DO UPDATE
       SET payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid, expires_at = excluded.expires_at`);
}

export async function findItem(db: Queries, model: string, id: string): Promise<ItemPayload | undefined> {
  return present(
    await db.maybeOne<ItemRow>(sql`
      SELECT ${columns} FROM issuer_items AS i WHERE i.model = ${model} AND i.id = ${id} AND i.expires_at > now()`),
  );
}

export async function findItemByUid(
  db: Queries,
  model: string,
  uid: string,
): Promise<ItemPayload | undefined> {
  return present(
    await db.maybeOne<ItemRow>(sql`
      SELECT ${columns} FROM issuer_items AS i
       WHERE i.model = ${model} AND i.uid = ${uid} AND i.expires_at > now()
       ORDER BY i.expires_at DESC LIMIT 1`),
  );
}

/**
 * Marks an item as consumed. @returns false if it was: of two concurrent exchanges of a code one succeeds.
 */
export async function consumeItem(db: Queries, model: string, id: string): Promise<boolean> {
  const row = await db.maybeOne(sql`
    UPDATE issuer_items AS i SET consumed_at = now()
     WHERE i.model = ${model} AND i.id = ${id} AND i.consumed_at IS NULL RETURNING i.id`);
  return row !== undefined;
}

export async function deleteItem(db: Queries, model: string, id: string): Promise<void> {
  await db.query(sql`DELETE FROM issuer_items WHERE model = ${model} AND id = ${id}`);
}

export async function deleteItemsOfGrant(db: Queries, grantId: string): Promise<void> {
  await db.query(sql`DELETE FROM issuer_items WHERE grant_id = ${grantId}`);
}

/** Ends the grant of an item: deletes it and everything that was issued under it. */
export async function deleteGrantOfItem(db: Queries, model: string, id: string): Promise<void> {
  await db.query(sql`
    WITH grants AS (
      SELECT i.grant_id FROM issuer_items AS i WHERE i.model = ${model} AND i.id = ${id})
    DELETE FROM issuer_items AS i USING grants
     WHERE i.grant_id = grants.grant_id OR (i.model = 'Grant' AND i.id = grants.grant_id)`);
}

/**
 * Ends the sessions of an account: deletes its sessions, grants, codes and refresh tokens, and interactions
 * in which it has signed in.
 */
export async function deleteItemsOfAccount(db: Queries, account: string): Promise<void> {
  await db.query(sql`
    DELETE FROM issuer_items AS i
     WHERE coalesce(i.payload ->> 'accountId', i.payload #>> '{result,login,accountId}') = ${account}`);
}

export async function deleteExpiredItems(db: Queries): Promise<void> {
  await db.query(sql`DELETE FROM issuer_items WHERE expires_at <= now()`);
}

/** Sign-ins that are under way, of all strangers; sessions and grants of one account. */
const [maxInteractions, maxOfAccount] = [20_000, 100];

/**
 * Deletes the oldest items beyond what strangers and one account may have stored at a time, with everything
 * that was issued under their grants.
 */
export async function deleteExcessItems(db: Queries): Promise<void> {
  await db.query(sql`
    DELETE FROM issuer_items WHERE model = 'Interaction' AND id IN (
      SELECT id FROM issuer_items WHERE model = 'Interaction'
       ORDER BY expires_at DESC OFFSET ${maxInteractions})`);
  await db.query(sql`
    WITH ranked AS (
      SELECT i.model, i.id,
             row_number() OVER (PARTITION BY i.model, i.payload ->> 'accountId' ORDER BY i.expires_at DESC) AS rank
        FROM issuer_items AS i WHERE i.model IN ('Grant', 'Session') AND i.payload ->> 'accountId' IS NOT NULL),
    excess AS (SELECT model, id FROM ranked WHERE rank > ${maxOfAccount})
    DELETE FROM issuer_items AS i USING excess AS e
     WHERE (i.model = e.model AND i.id = e.id) OR (e.model = 'Grant' AND i.grant_id = e.id)`);
}

function present(row: ItemRow | undefined): ItemPayload | undefined {
  if (!row) return undefined;
  return row.consumed === null ? row.payload : { ...row.payload, consumed: row.consumed };
}
