import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { isInForce } from '../person/positions-sql.ts';
import { readReceiptBodies } from '../receipts/store.ts';
import { toReadTransaction, transactionColumns } from '../transaction/store.ts';
import type { ReadTransaction, Transaction } from '../transaction/transaction.ts';
import { isWithdrawableOn, type ShownStanding } from './withdrawal.ts';

/** A transaction with its result, as its pages show it. */
export interface TransactionResult extends ReadTransaction {
  /** The body of the receipt; null before the commit. */
  receipt: string | null;
  /** The newest answers to its questions, without consents that have expired; none before the commit. */
  standing: ShownStanding[];
}

/** SQL: when the refusal `n` took effect, or, if it was given at a peer's form, when it was given. */
const refusedAt = (n: Statement) =>
  sql`CASE WHEN ${n}.origin = 'PEER' THEN ${n}.created_at ELSE ${n}.committed_at END`;

/**
 * SQL: `standing` of the committed transaction `t`: refusals, and other answers that have not expired; null
 * if there are none. `withdrawnAt` is read only if a refusal is in force: the time of the first refusal after
 * the consent on the receipt, or, if that consent was never in force, of the refusal that is.
 */
const standing = sql`
  SELECT jsonb_agg(jsonb_build_object('key', element.key, 'type', r.type, 'value', r.value,
           'transaction', r.transaction,
           'withdrawnAt', to_char((CASE WHEN r.value = '{refused}' THEN (
             SELECT CASE WHEN o.from_position IS NULL THEN ${refusedAt(sql`r`)} ELSE (
                      SELECT ${refusedAt(sql`n`)} FROM records AS n
                       WHERE n.state = 'COMMITTED' AND n.subject = o.subject AND n.object = o.object
                         AND n.key = o.key AND n.from_position > o.from_position AND n.value = '{refused}'
                       ORDER BY n.from_position LIMIT 1) END
               FROM records AS o
              WHERE o.transaction = t.id AND o.key = element.key AND o.value = '{accepted}')
           END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
    FROM jsonb_array_elements_text(t.layout->'elements') AS element (key)
    JOIN records AS r ON r.subject = t.subject AND r.object = coalesce(t.context->>'object', '')
     AND r.key = element.key AND ${isInForce}
   WHERE r.value = '{refused}' OR r.expires_at IS NULL OR r.expires_at > accord_now()`;

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
