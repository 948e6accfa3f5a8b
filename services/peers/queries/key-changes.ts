import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { PeerKey } from '../domain/read-description.ts';

/** Keeps keys that nobody vouched for until an administrator says what they are. */
export async function quarantinePeer(tx: Queries, id: string, announced: readonly PeerKey[]): Promise<void> {
  await tx.query(sql`
    UPDATE peers AS p SET state = 'QUARANTINED', announced = ${JSON.stringify(announced)}::jsonb,
           version = p.version + 1, modified_at = accord_now()
     WHERE p.id = ${id} AND p.announced IS DISTINCT FROM ${JSON.stringify(announced)}::jsonb`);
}

/** The keys that wait. */
export async function announcedKeys(tx: Queries, id: string): Promise<PeerKey[] | null> {
  const row = await tx.maybeOne<{ announced: PeerKey[] | null }>(
    sql`SELECT p.announced FROM peers AS p WHERE p.id = ${id}`,
  );
  return row?.announced ?? null;
}

/** Takes a peer out of quarantine, or takes over its new name. */
export async function describePeer(tx: Queries, id: string, name: string): Promise<void> {
  await tx.query(sql`
    UPDATE peers AS p SET state = 'PAIRED', announced = NULL, name = ${name}, version = p.version + 1,
           modified_at = accord_now()
     WHERE p.id = ${id}`);
}

/**
 * Claims the right to ask a peer for its description: at most once in `seconds`, whoever else wants to.
 * @returns false if it was asked for lately.
 */
export async function claimDescription(db: Queries, id: string, seconds: number): Promise<boolean> {
  const claimed = await db.query(sql`
    UPDATE peers AS p SET described_at = accord_now()
     WHERE p.id = ${id} AND p.described_at <= accord_now() - ${seconds} * interval '1 second'
    RETURNING p.id`);
  return claimed.length > 0;
}
