import type { OwnerVerdict, RefusalReason } from '#lib/contracts/parts.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Transaction } from '../domain/transaction.ts';
import { insertCommitted } from './withdrawals.ts';

/** Identifies a part that a peer sent: base URL of the peer, and the peer's id of the part. */
export interface PeerPartKey {
  peer: string;
  sid: string;
}

/** Our verdict on a part that a peer sent. */
export interface StoredVerdict {
  /** SHA-256 of the request; null if a decision, a withdrawal or an erasure came before the part. */
  digest: Buffer | null;
  verdict: OwnerVerdict['verdict'];
  reason: RefusalReason | null;
  transaction: string | null;
}

const columns = sql`s.digest, s.verdict, s.reason, s.transaction`;

/** The verdict on a part, undefined if there is none yet, and the database's time. */
export async function readVerdict(
  db: Queries,
  { peer, sid }: PeerPartKey,
): Promise<{ now: Date; known: StoredVerdict | undefined }> {
  const { now, verdict, ...rest } = await db.one<
    Omit<StoredVerdict, 'verdict'> & { now: Date; verdict: StoredVerdict['verdict'] | null }
  >(sql`
    SELECT accord_now() AS now, ${columns}
      FROM (SELECT) AS one LEFT JOIN submissions AS s ON s.peer = ${peer} AND s.sid = ${sid}`);
  return { now, known: verdict === null ? undefined : { verdict, ...rest } };
}

/** The verdict on a part, locked until the end of the database transaction; undefined if there is none. */
export function lockVerdict(tx: Queries, { peer, sid }: PeerPartKey): Promise<StoredVerdict | undefined> {
  return tx.maybeOne<StoredVerdict>(sql`
    SELECT ${columns} FROM submissions AS s WHERE s.peer = ${peer} AND s.sid = ${sid} FOR UPDATE`);
}

/** The verdict as its leader gets it. */
export function presentVerdict({ verdict, reason, transaction }: StoredVerdict): OwnerVerdict {
  return { verdict, ...(reason && { reason }), ...(transaction && { id: transaction }) };
}

/**
 * Stores the first verdict on a part. Concurrent calls for the same part wait for the COMMIT.
 * @returns false if there is a verdict already.
 */
export async function insertVerdict(db: Queries, key: PeerPartKey, verdict: StoredVerdict): Promise<boolean> {
  return (await db.maybeOne(insertedVerdict(key, verdict))) !== undefined;
}

function insertedVerdict(
  { peer, sid }: PeerPartKey,
  { digest, verdict, reason, transaction }: StoredVerdict,
  { at, maxSkewSeconds, guard = empty }: Guards = {},
): Statement {
  return sql`
    INSERT INTO submissions (peer, sid, digest, verdict, reason, transaction, received_at, changed_at)
    SELECT ${peer}, ${sid}, ${digest}, ${verdict}, ${reason}, ${transaction}, accord_now(), accord_now()
     WHERE coalesce(abs(extract(epoch FROM accord_now() - ${at}::timestamptz))
                    <= ${maxSkewSeconds}::float8, true) ${guard}
    ON CONFLICT (peer, sid) DO NOTHING RETURNING sid`;
}

interface Guards {
  at?: Date;
  maxSkewSeconds?: number | undefined;
  /** SQL: `AND` and another condition. */
  guard?: Statement;
}

/**
 * SQL: whether the answers of a part take effect at the time of its commit, because no stored answer to the
 * same questions is later. `is_newest_at` waits for a withdrawal or another part of the same subject that is
 * being stored, and then sees it. The calling statement has an older snapshot and does not. So the function
 * compares the newest answer with the newest that the statement sees (last argument); if they differ, the
 * condition is false, and nothing is stored.
 */
function isNewest(
  { subject, leader }: Transaction,
  { object, records, givenAt, submittedAt }: Commitment,
): Statement {
  const keys = records.map(({ key }) => key);
  const consents = records.map(({ type, value }) => type === 'processing' && value[0] === 'accepted');
  return sql`AND NOT EXISTS (
      SELECT FROM unnest(${keys}::text[], ${consents}::boolean[]) AS asked (key, is_consent)
       WHERE NOT is_newest_at(
               ${subject}, ${object}, asked.key, asked.is_consent, ${givenAt}, ${leader?.location ?? null},
               ${submittedAt}, (
                 SELECT max(r.committed_at) FROM records AS r
                  WHERE r.state = 'COMMITTED' AND r.subject = ${subject} AND r.object = ${object}
                    AND r.key = asked.key)))`;
}

interface CommittedPart {
  key: PeerPartKey;
  verdict: StoredVerdict;
  /** The transaction as it is when it is created. */
  created: Transaction;
  commitment: Commitment;
  /** Largest difference between `createdAt` and the database's time; undefined: any. */
  maxSkewSeconds: number | undefined;
}

/**
 * Stores a part whose answers take effect at once, in one statement: the verdict, and its transaction as if
 * it had been created and then committed, with records, receipt, history and outbox rows.
 * @returns the database's time; undefined if nothing was stored: the part has a verdict already, the times
 * differ too much, or another answer to one of its questions is later or was being stored.
 */
export async function commitPeerPart(
  db: Queries,
  { key, verdict, created, commitment, maxSkewSeconds }: CommittedPart,
  source: string,
): Promise<Date | undefined> {
  const guard = isNewest(created, commitment);
  const at = { at: created.createdAt, maxSkewSeconds, guard };
  const row = await db.maybeOne<{ now: Date }>(sql`
    WITH verdict AS (${insertedVerdict(key, verdict, at)}
    ), ${insertCommitted(created, commitment, source, sql`FROM verdict`)}
    SELECT accord_now() AS now FROM t`);
  return row?.now;
}

/** Notes when the person withdrew a part at its leader: answers that arrive later may be older than this. */
export async function noteWithdrawal(tx: Queries, { peer, sid }: PeerPartKey, at: Date): Promise<void> {
  await tx.query(sql`UPDATE submissions SET withdrawn_at = ${at} WHERE peer = ${peer} AND sid = ${sid}`);
}

/** Writes the verdict with which a held part ends. The caller has locked it. */
export async function changeVerdict(
  tx: Queries,
  { peer, sid }: PeerPartKey,
  verdict: 'committed' | 'rolledback',
): Promise<void> {
  await tx.query(sql`
    UPDATE submissions SET verdict = ${verdict}, changed_at = accord_now()
     WHERE peer = ${peer} AND sid = ${sid}`);
}

/** Limits per peer of rows that have no transaction (docs/federation.md, "Answers at their owner"). */
const maxRows = { notReceived: 4_000, refused: 10_000 };

/** Whether a peer has reached the limit of rows of one kind. */
export async function hasMaxRows(db: Queries, peer: string, kind: keyof typeof maxRows): Promise<boolean> {
  const { rows } = await db.one<{ rows: number }>(sql`
    SELECT count(*)::int AS rows
      FROM (SELECT FROM submissions AS s
             WHERE s.peer = ${peer} AND (s.digest IS NULL) = ${kind === 'notReceived'} AND s.transaction IS NULL
             LIMIT ${maxRows[kind]}) AS s`);
  return rows >= maxRows[kind];
}

/**
 * How many days verdicts without a transaction are kept (docs/federation.md, "Answers at their owner"). The
 * leader attempts delivery for 30 days. A leader of an earlier release may send a withdrawn part after up to
 * 90 days of waiting for a code. The rest allows for differences between clocks.
 */
const retentionDays = { notReceived: 90 + 30 + 2, refused: 30 + 1 };

/** Deletes old verdicts without a transaction. @returns how many, at most `limit`. */
export async function deleteOldVerdicts(db: Queries, limit: number): Promise<number> {
  const deleted = await db.query(sql`
    DELETE FROM submissions AS s
     WHERE (s.peer, s.sid) IN (
       SELECT o.peer, o.sid FROM submissions AS o
        WHERE o.transaction IS NULL
          AND o.changed_at < accord_now() - ${retentionDays.refused} * interval '1 day'
          AND (o.digest IS NOT NULL
               OR o.changed_at < accord_now() - ${retentionDays.notReceived} * interval '1 day')
        LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING s.sid`);
  return deleted.length;
}

/** For metrics: held parts, counted up to 100,000, and the age of the oldest. */
export function heldParts(db: Queries): Promise<{ rows: number; oldestSeconds: number }> {
  return db.one(sql`
    SELECT (SELECT count(*)::int
              FROM (SELECT 1 FROM submissions WHERE verdict = 'held' LIMIT 100000) AS h) AS rows,
           coalesce((SELECT extract(epoch FROM accord_now() - s.received_at)::float8 FROM submissions AS s
                      WHERE s.verdict = 'held' ORDER BY s.received_at LIMIT 1), 0) AS "oldestSeconds"`);
}
