import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Lets campaigns write to a person again; those that have left the person out stay as they are. */
export async function deleteUnsubscription(db: Queries, reference: string): Promise<void> {
  await db.query(sql`DELETE FROM unsubscriptions AS u WHERE u.subject = ${reference}::uuid`);
}

/** @returns since when a person gets no messages of campaigns. */
export async function readUnsubscription(db: Queries, reference: string): Promise<Date | undefined> {
  const found = await db.maybeOne<{ since: Date }>(sql`
    SELECT u.since FROM unsubscriptions AS u WHERE u.subject = ${reference}::uuid`);
  return found?.since;
}
