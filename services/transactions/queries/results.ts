import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { ReadTransaction, Transaction } from '../domain/transaction.ts';
import { isWithdrawableOn, type ShownStanding } from '../domain/withdrawal.ts';
import { toReadTransaction, transactionColumns, withdrawnAt } from './transactions.ts';
import { readReceiptBodies } from './withdrawals.ts';

/** A transaction with its result, as its pages show it. */
export interface TransactionResult extends ReadTransaction {
  /** The body of the receipt; null before the commit. */
  receipt: string | null;
  /** The newest answers to its questions, without consents that have expired; none before the commit. */
  standing: ShownStanding[];
}

/**
 * SQL: `standing` of the committed transaction `t`: refusals, and other answers that have not expired; null
 * if there are none. `withdrawnAt` is read only if the newest answer is a refusal: the time of the first
 * withdrawal after the consent on the receipt.
 */
const standing = sql`
  SELECT jsonb_agg(jsonb_build_object('key', element.key, 'type', a.type, 'value', a.value,
           'transaction', a.transaction,
           'withdrawnAt', to_char((CASE WHEN a.value = '{refused}' THEN (
             SELECT min(${withdrawnAt}) FROM records AS o
               JOIN records AS n ON n.state = 'COMMITTED' AND n.subject = o.subject AND n.object = o.object
                AND n.key = o.key AND n.committed_at > o.committed_at AND n.value = '{refused}'
              WHERE o.transaction = t.id AND o.key = element.key AND o.value = '{accepted}')
           END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
    FROM jsonb_array_elements_text(t.layout->'elements') AS element (key) CROSS JOIN LATERAL (
      SELECT r.type, r.value, r.transaction, r.expires_at FROM records AS r
       WHERE r.state = 'COMMITTED' AND r.subject = t.subject
         AND r.object = coalesce(t.context->>'object', '') AND r.key = element.key
       ORDER BY r.committed_at DESC, r.id DESC LIMIT 1) AS a
   WHERE a.value = '{refused}' OR a.expires_at IS NULL OR a.expires_at > accord_now()`;

export async function readResult(db: Queries, id: string): Promise<TransactionResult | undefined> {
  const row = await db.maybeOne<
    Transaction & { now: Date; receipt: string | null; standing: ShownStanding[] | null }
  >(sql`
    SELECT ${transactionColumns}, accord_now() AS now, b.body AS receipt,
           CASE WHEN b.transaction IS NOT NULL THEN (${standing}) END AS standing
      FROM transactions AS t LEFT JOIN receipts AS b ON b.transaction = t.id
     WHERE t.id = ${id}`);
  if (!row) return undefined;
  const { receipt, standing: newest, ...rest } = row;
  return { ...toReadTransaction(rest), receipt, standing: await judgeLater(db, id, newest ?? []) };
}

/** The newest answers to the questions of a committed transaction, without consents that have expired. */
export async function readShownStanding(db: Queries, transaction: string): Promise<ShownStanding[]> {
  const { newest } = await db.one<{ newest: ShownStanding[] | null }>(sql`
    SELECT (${standing}) AS newest FROM transactions AS t WHERE t.id = ${transaction}`);
  return judgeLater(db, transaction, newest ?? []);
}

/** Judges an acceptance in a later transaction by the receipt of that transaction: its texts may differ. */
async function judgeLater(
  db: Queries,
  transaction: string,
  newest: ShownStanding[],
): Promise<ShownStanding[]> {
  const later = newest.filter((each) => each.transaction !== transaction && each.value[0] === 'accepted');
  if (later.length === 0) return newest;
  const bodies = await readReceiptBodies(
    db,
    later.map((each) => each.transaction),
  );
  const receipts = new Map([...bodies].map(([id, body]) => [id, JSON.parse(body) as ReceiptBody]));
  return newest.map((each) => {
    const receipt = later.includes(each) ? receipts.get(each.transaction) : undefined;
    return receipt ? { ...each, isWithdrawable: isWithdrawableOn(receipt, each.key) } : each;
  });
}
