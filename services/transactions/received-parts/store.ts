import type { OwnerVerdict, RefusalReason } from '#lib/contracts/parts.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { Commitment } from '../answer/commitment.ts';
import { insertCommitted } from '../answer/store.ts';
import { contactDigest } from '../person/contacts-sql.ts';
import { storePerson } from '../person/positions-sql.ts';
import { partEvents } from '../sent-parts/events.ts';
import { since } from '../sent-parts/lost-events-store.ts';
import type { Standing } from '../standing/in-force.ts';
import { type Since, type StandingRow, standingColumns, toStanding } from '../standing/store.ts';
import { readTransaction } from '../transaction/store.ts';
import type { Transaction } from '../transaction/transaction.ts';

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

/** What decides about a part that has arrived. */
export interface PartState {
  /** The database's time. */
  now: Date;
  /** The verdict on the part; undefined if there is none yet. */
  known: StoredVerdict | undefined;
  standing: Standing;
}

/** The questions whose standing is read with a verdict. */
export interface AskedStanding {
  subject: string;
  object: string;
  keys: readonly string[];
  since: Since;
}

export async function readPartState(
  db: Queries,
  { peer, sid }: PeerPartKey,
  asked: AskedStanding = { subject: '', object: '', keys: [], since: { source: null, at: new Date(0) } },
): Promise<PartState> {
  const { now, verdict, ...row } = await db.one<
    Omit<StoredVerdict, 'verdict'> & StandingRow & { now: Date; verdict: StoredVerdict['verdict'] | null }
  >(sql`
    SELECT accord_now() AS now, ${columns}, ${standingColumns(asked, asked.since)}
      FROM (SELECT) AS one LEFT JOIN received_parts AS s ON s.peer = ${peer} AND s.sid = ${sid}`);
  const { digest, reason, transaction } = row;
  const known = verdict === null ? undefined : { verdict, digest, reason, transaction };
  return { now, known, standing: toStanding(row) };
}

/** The verdict on a part, locked until the end of the database transaction; undefined if there is none. */
export function lockVerdict(tx: Queries, { peer, sid }: PeerPartKey): Promise<StoredVerdict | undefined> {
  return tx.maybeOne<StoredVerdict>(sql`
    SELECT ${columns} FROM received_parts AS s WHERE s.peer = ${peer} AND s.sid = ${sid} FOR UPDATE`);
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
  from = empty,
): Statement {
  return sql`
    INSERT INTO received_parts (peer, sid, digest, verdict, reason, transaction, received_at, changed_at)
    SELECT ${peer}, ${sid}, ${digest}, ${verdict}, ${reason}, ${transaction}, accord_now(), accord_now() ${from}
    ON CONFLICT (peer, sid) DO NOTHING RETURNING sid`;
}

/**
 * SQL: stores the address whose reader may see what a part brought (docs/choices.md).
 * @param transaction SQL: id of the transaction of the part.
 */
export function insertedAddress(address: string, transaction: Statement, from = empty): Statement {
  return sql`
    INSERT INTO part_addresses (transaction, digest)
    SELECT ${transaction}, ${contactDigest(sql`${address}::text`)} ${from}`;
}

interface CommittedPart {
  key: PeerPartKey;
  verdict: StoredVerdict;
  /** The transaction as it is when it is created. */
  created: Transaction;
  commitment: Commitment;
  /** As in {@link insertedAddress}; null: none. */
  address: string | null;
}

/**
 * Stores a part whose answers are committed at once, in one statement: the verdict, and its transaction as if
 * it had been created and then committed, with records, receipt, history and outbox rows.
 * @returns false if the part has a verdict already, or if another statement of the person was stored since
 * the standing was read; nothing is stored then.
 */
export async function commitPeerPart(
  db: Queries,
  { key, verdict, created, commitment, address }: CommittedPart,
  source: string,
): Promise<boolean> {
  const row = await db.maybeOne(sql`
    WITH ${storePerson(created, commitment.seen)}, verdict AS (${insertedVerdict(key, verdict, sql`FROM person`)}
    ), ${insertCommitted(created, commitment, source, sql`CROSS JOIN verdict`)}${
      address === null ? empty : sql`, opener AS (${insertedAddress(address, sql`t.id`, sql`FROM t`)})`
    }
    SELECT t.id FROM t`);
  return row !== undefined;
}

/** Writes the verdict with which a held part ends. The caller has locked it. */
export async function changeVerdict(
  tx: Queries,
  { peer, sid }: PeerPartKey,
  verdict: 'committed' | 'rolledback',
): Promise<void> {
  await tx.query(sql`
    UPDATE received_parts SET verdict = ${verdict}, changed_at = accord_now()
     WHERE peer = ${peer} AND sid = ${sid}`);
}

/** Limits per peer of rows that have no transaction (docs/federation.md, "Answers at their owner"). */
const maxRows = { notReceived: 4_000, refused: 10_000 };

/** Whether a peer has reached the limit of rows of one kind. */
export async function hasMaxRows(db: Queries, peer: string, kind: keyof typeof maxRows): Promise<boolean> {
  const { rows } = await db.one<{ rows: number }>(sql`
    SELECT count(*)::int AS rows
      FROM (SELECT FROM received_parts AS s
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
    DELETE FROM received_parts AS s
     WHERE (s.peer, s.sid) IN (
       SELECT o.peer, o.sid FROM received_parts AS o
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
              FROM (SELECT 1 FROM received_parts WHERE verdict = 'held' LIMIT 100000) AS h) AS rows,
           coalesce((SELECT extract(epoch FROM accord_now() - s.received_at)::float8 FROM received_parts AS s
                      WHERE s.verdict = 'held' ORDER BY s.received_at LIMIT 1), 0) AS "oldestSeconds"`);
}

/** The transaction that stores a part. */
export async function readStored(tx: Queries, id: string): Promise<Transaction> {
  const read = await readTransaction(tx, id);
  if (!read) throw new Error('the transaction of a part does not exist');
  return read.transaction;
}

/** Hours within which the service `peers` has got the decision, or has rolled the part back. */
const undecidedHours = 26;

/**
 * Publishes `held` again every 26 hours for parts that are still held, in case the event was lost: the
 * service `peers` then asks for the decision, and rolls the part back if it gets none.
 * @returns how many, at most `limit`.
 */
export async function repeatHeldEvents(tx: Queries, limit: number, source: string): Promise<number> {
  const repeated = await tx.query(sql`
    WITH due AS MATERIALIZED (
      SELECT s.ctid FROM received_parts AS s
       WHERE s.verdict = 'held' AND coalesce(s.resent_at, s.received_at) <= ${since(undecidedHours)}
       ORDER BY coalesce(s.resent_at, s.received_at) LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), changed AS (
      UPDATE received_parts AS s SET resent_at = accord_now()
       WHERE s.ctid = ANY(ARRAY(SELECT d.ctid FROM due AS d))
      RETURNING s.sid, s.peer AS location
    ), held AS (${partEvents('held', { from: sql`changed`, source })}
    )
    SELECT FROM changed`);
  return repeated.length;
}
