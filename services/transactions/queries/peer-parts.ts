import type { RefusalReason, SubmissionVerdict } from '#lib/contracts/submissions.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Transaction } from '../domain/transaction.ts';
import { recordAnswers } from './commit-transaction.ts';
import { knowSubject } from './create-transaction.ts';
import { recordTwoSteps } from './events.ts';

/** Which part: of which peer (base URL), and which of its. */
export interface SubmissionKey {
  peer: string;
  sid: string;
}

/** What was said of a part. */
export interface StoredSubmission {
  /** Null: it was decided before it came. */
  digest: Buffer | null;
  verdict: SubmissionVerdict['verdict'];
  reason: RefusalReason | null;
  transaction: string | null;
}

const columns = sql`s.digest, s.verdict, s.reason, s.transaction`;

/** What is known of a part, and the database's time. */
export async function readSubmission(
  db: Queries,
  { peer, sid }: SubmissionKey,
): Promise<{ now: Date; known: StoredSubmission | undefined }> {
  const { now, verdict, ...rest } = await db.one<
    Omit<StoredSubmission, 'verdict'> & { now: Date; verdict: StoredSubmission['verdict'] | null }
  >(sql`
    SELECT accord_now() AS now, ${columns}
      FROM (SELECT) AS one LEFT JOIN submissions AS s ON s.peer = ${peer} AND s.sid = ${sid}`);
  return { now, known: verdict === null ? undefined : { verdict, ...rest } };
}

/** The same, locked until the end of the database transaction; undefined if it is not known. */
export function lockSubmission(
  tx: Queries,
  { peer, sid }: SubmissionKey,
): Promise<StoredSubmission | undefined> {
  return tx.maybeOne<StoredSubmission>(sql`
    SELECT ${columns} FROM submissions AS s WHERE s.peer = ${peer} AND s.sid = ${sid} FOR UPDATE`);
}

/**
 * Remembers what is said of a part. Whoever says something of the same part at the same time waits for the end of this database
 * transaction. @returns false if something has been said already: it stands.
 */
export async function insertSubmission(
  db: Queries,
  key: SubmissionKey,
  said: StoredSubmission,
): Promise<boolean> {
  return (await db.maybeOne(insertedSubmission(key, said))) !== undefined;
}

/** The same as a part of a statement: without a row if something has been said already, or it is not about the time that it should be. */
export function insertedSubmission(
  { peer, sid }: SubmissionKey,
  { digest, verdict, reason, transaction }: StoredSubmission,
  { at, mostSecondsOff }: { at?: Date; mostSecondsOff?: number | undefined } = {},
): Statement {
  return sql`
    INSERT INTO submissions (peer, sid, digest, verdict, reason, transaction, received_at, changed_at)
    SELECT ${peer}, ${sid}, ${digest}, ${verdict}, ${reason}, ${transaction}, accord_now(), accord_now()
     WHERE coalesce(abs(extract(epoch FROM accord_now() - ${at}::timestamptz)) <= ${mostSecondsOff}::float8, true)
    ON CONFLICT (peer, sid) DO NOTHING RETURNING sid`;
}

/** Limits of what a peer can have stored by parts that make no transaction. */
const limits = { neverCame: 1_000, refused: 10_000 };

/** Whether a peer has as many rows of this kind as it may have. */
export async function isFull(db: Queries, peer: string, kind: keyof typeof limits): Promise<boolean> {
  const { rows } = await db.one<{ rows: number }>(sql`
    SELECT count(*)::int AS rows
      FROM (SELECT FROM submissions AS s
             WHERE s.peer = ${peer} AND (s.digest IS NULL) = ${kind === 'neverCame'} AND s.transaction IS NULL
             LIMIT ${limits[kind]}) AS s`);
  return rows >= limits[kind];
}

/** A leader tries for 30 days, and what it sealed cannot be opened after that. */
const keptDays = 31;

/** Forgets parts that made no transaction when they cannot come again. @returns how many, at most `limit`. */
export async function forgetSubmissions(db: Queries, limit: number): Promise<number> {
  const forgotten = await db.query(sql`
    DELETE FROM submissions AS s
     WHERE (s.peer, s.sid) IN (
       SELECT o.peer, o.sid FROM submissions AS o
        WHERE o.transaction IS NULL AND o.changed_at < accord_now() - ${keptDays} * interval '1 day'
        LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING s.sid`);
  return forgotten.length;
}

/** Writes what was decided over a part that is held, and locked. */
export async function changeVerdict(
  tx: Queries,
  { peer, sid }: SubmissionKey,
  verdict: 'committed' | 'rolledback',
): Promise<void> {
  await tx.query(sql`
    UPDATE submissions SET verdict = ${verdict}, changed_at = accord_now() WHERE peer = ${peer} AND sid = ${sid}`);
}

/** What metrics tell of parts whose leader has not decided. Nobody needs to know exactly how many very many are. */
export function heldSubmissions(db: Queries): Promise<{ rows: number; oldestSeconds: number }> {
  return db.one(sql`
    SELECT (SELECT count(*)::int FROM (SELECT 1 FROM submissions WHERE verdict = 'held' LIMIT 100000) AS h) AS rows,
           coalesce((SELECT extract(epoch FROM accord_now() - s.received_at)::float8
                       FROM submissions AS s WHERE s.verdict = 'held' ORDER BY s.received_at LIMIT 1), 0) AS "oldestSeconds"`);
}

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
