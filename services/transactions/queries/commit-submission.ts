import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Transaction } from '../domain/transaction.ts';
import { recordAnswers } from './commit-transaction.ts';
import { knowSubject } from './create-transaction.ts';
import { recordTwoSteps } from './state-event.ts';
import { insertedSubmission, type StoredSubmission, type SubmissionKey } from './submissions.ts';

/**
 * Stores a peer's part whose answers are in force at once, in one statement: what is said of it, and its transaction as if that had been made
 * and committed one after the other, with records, receipt, history and outbox rows.
 * @param created as it is when it is made.
 * @returns the time; undefined if something has been said of the part already, or the time is not right: nothing is stored.
 */
export async function commitSubmission(
  db: Queries,
  { key, said, created, commitment, mostSecondsOff }: CommittedSubmission,
  source: string,
): Promise<Date | undefined> {
  const { id, subject, context, layout, author, leader, createdAt, expiresAt } = created;
  const row = await db.maybeOne<{ now: Date }>(sql`
    WITH said AS (${insertedSubmission(key, said, { at: createdAt, mostSecondsOff })}
    ), t AS (
      INSERT INTO transactions (id, subject, state, version, context, layout, author, leader, answers_digest, created_at, changed_at, expires_at, notice_at)
      SELECT ${id}, ${subject}, 'COMMITTED', ${commitment.version + 1}::int, ${JSON.stringify(context)}::jsonb, ${JSON.stringify(layout)}::jsonb,
             ${author}, ${leader}::jsonb, ${commitment.answersDigest}::bytea, ${createdAt}::timestamptz, ${commitment.committedAt}::timestamptz,
             ${expiresAt}::timestamptz, ${commitment.noticeAt}::timestamptz
        FROM said
      RETURNING *
    ), ${knowSubject()}, ${recordAnswers(commitment, source)}, ${recordTwoSteps(['created', 'committed'], source)}
    SELECT accord_now() AS now FROM t`);
  return row?.now;
}

interface CommittedSubmission {
  key: SubmissionKey;
  said: StoredSubmission;
  created: Transaction;
  commitment: Commitment;
  /** By how much the time may differ at which it is stored. */
  mostSecondsOff: number | undefined;
}
