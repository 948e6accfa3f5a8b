import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Notice } from '../domain/notice.ts';
import type { Transaction } from '../domain/transaction.ts';

/**
 * Notices by transaction, in the order of their names. Only transactions that withdraw a consent have any; a
 * refusal in a form can withdraw one, too. They are not looked up before the commit.
 */
export async function readNotices(
  db: Queries,
  transactions: readonly Pick<Transaction, 'id' | 'state'>[],
): Promise<Map<string, Notice[]>> {
  const committed = transactions.filter(({ state }) => state === 'COMMITTED');
  if (committed.length === 0) return new Map();
  const rows = await db.query<Notice & { transaction: string }>(sql`
    SELECT n.transaction, n.name, n.kind, n.state, n.outcome, n.note, n.since
      FROM notices AS n WHERE n.transaction = ANY(${committed.map(({ id }) => id)}::text[])
     ORDER BY n.transaction, n.name, n.recipient`);
  return Map.groupBy(rows, ({ transaction }) => transaction);
}

/** By erasure: what the organisations behind webhooks know of it, in the order of their names. */
export async function readErasureNotices(
  db: Queries,
  erasures: readonly string[],
): Promise<Map<string, Notice[]>> {
  const rows = await db.query<Notice & { erasure: string }>(sql`
    SELECT n.erasure, n.name, 'RECIPIENT' AS kind, n.state, n.outcome, n.note, n.since
      FROM erasure_notices AS n WHERE n.erasure = ANY(${erasures}::text[])
     ORDER BY n.erasure, n.name, n.recipient`);
  return Map.groupBy(rows, ({ erasure }) => erasure);
}

/**
 * Stores what the organisation behind a webhook knows of a withdrawal or an erasure, unless a newer state is
 * stored already, or this withdrawal or erasure does not exist.
 */
export async function storeNotice(
  db: Queries,
  notice: EventData['io.accord.notice.queued.v1'],
): Promise<void> {
  const { transaction: id, recipient, name, state, outcome = null, note = null, version, since } = notice;
  const values = sql`${name}, ${state}, ${outcome}, ${note}, ${version}::int, ${since}::timestamptz`;
  const ifNewer = sql`
       SET name = excluded.name, state = excluded.state, outcome = excluded.outcome, note = excluded.note,
           version = excluded.version, since = excluded.since
     WHERE n.version < excluded.version`;
  await db.query(sql`
    WITH of_erasure AS (
      INSERT INTO erasure_notices AS n (erasure, recipient, name, state, outcome, note, version, since)
      SELECT e.id, ${recipient}, ${values} FROM erasures AS e WHERE e.id = ${id}
      ON CONFLICT (erasure, recipient) DO UPDATE ${ifNewer}
    )
    INSERT INTO notices AS n (transaction, recipient, kind, name, state, outcome, note, version, since)
    SELECT t.id, ${recipient}, 'RECIPIENT', ${values} FROM transactions AS t WHERE t.id = ${id}
    ON CONFLICT (transaction, recipient) DO UPDATE ${ifNewer}`);
}
