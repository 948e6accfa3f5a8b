import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { clock } from '../person/positions-sql.ts';
import { withdrawalNotice } from '../sent-parts/notices-store.ts';
import { answerColumns } from '../standing/answers-store.ts';
import type { StandingAnswer } from '../standing/standing-answer.ts';
import { toReadTransaction, transactionColumns } from '../transaction/store.ts';
import type { ReadTransaction, Transaction } from '../transaction/transaction.ts';

/** A transaction with submitted answers. */
export interface SubmittedTransaction extends ReadTransaction {
  /** The receipt's body without the facts of the commit. */
  draft: string;
  /** When a code confirmed the answers; null without a code, and before. */
  usedAt: Date | null;
  answers: StandingAnswer[];
  /** When parts were withdrawn that wait for the code: RFC 3339, by the base URL of the owner. */
  withdrawnParts: Readonly<Record<string, string>>;
}

/** Reads answers that wait. The caller has locked the person. `now` is the time after the lock. */
export async function readSubmitted(tx: Queries, id: string): Promise<SubmittedTransaction | undefined> {
  type Row = Transaction & { now: Date } & Omit<SubmittedTransaction, keyof ReadTransaction | 'answers'>;
  const row = await tx.maybeOne<Row>(sql`
    SELECT ${transactionColumns}, ${clock} AS now, d.body AS draft, c.used_at AS "usedAt",
           (SELECT coalesce(jsonb_object_agg(f.location, w.changed_at), '{}'::jsonb)
              FROM sent_parts AS f JOIN ${withdrawalNotice} JOIN transactions AS w ON w.id = n.withdrawal
             WHERE f.transaction = t.id AND f.state = 'WAITING') AS "withdrawnParts"
      FROM transactions AS t JOIN receipt_drafts AS d ON d.transaction = t.id
      LEFT JOIN codes AS c ON c.transaction = t.id
     WHERE t.id = ${id} AND t.state = 'SUBMITTED'`);
  if (!row) return undefined;
  const answers = await tx.query<StandingAnswer>(sql`
    SELECT ${answerColumns} FROM records AS r JOIN transactions AS t ON t.id = r.transaction
     WHERE r.transaction = ${id} AND r.state = 'PENDING'`);
  const { draft, usedAt, withdrawnParts, ...rest } = row;
  return { ...toReadTransaction(rest), draft, usedAt, answers, withdrawnParts };
}
