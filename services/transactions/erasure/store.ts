import type { Queries } from '#lib/db/database.ts';
import { join, type Statement, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import { isHeld } from '../standing/holds-store.ts';
import type { Erased } from './erase-transactions.ts';
import type { Erasure } from './erasure.ts';

const columns = sql`e.id, e.reference::text AS reference, e.subject, e.peer, e.state, e.reason, e.ground, e.counts, e.peers,
  e.only_peers AS "onlyPeers", e.created_at AS "createdAt", e.due_at AS "dueAt", e.ended_at AS "endedAt"`;

/**
 * Stores an erasure. @returns undefined if an erasure with the same `subject` and the same `peer` (null for
 * none) has not ended.
 */
export function insertErasure(
  tx: Queries,
  given: Pick<Erasure, 'id' | 'reference' | 'reason' | 'peer'> & {
    subject: string;
    digest: Buffer;
    state: 'REQUESTED' | 'RUNNING';
  },
): Promise<Erasure | undefined> {
  const { id, reference, subject, peer, digest, state, reason } = given;
  return tx.maybeOne<Erasure>(sql`
    INSERT INTO erasures AS e
      (id, reference, subject, peer, digest, state, reason, created_at, due_at, started_at)
    VALUES (${id}, ${reference}, ${subject}, ${peer}, ${digest}, ${state}, ${reason}, accord_now(), accord_now() + interval '1 month',
            CASE WHEN ${state === 'RUNNING'} THEN ${startOf(sql`${subject}`)} END)
    ON CONFLICT DO NOTHING RETURNING ${columns}`);
}

/** Stores an erasure at peers alone. There is nothing to repeat here after a restore, so it has no digest. */
export function insertAtPeers(
  tx: Queries,
  { id, reference, peers }: Pick<Erasure, 'id' | 'reference' | 'peers'>,
): Promise<Erasure> {
  return tx.one<Erasure>(sql`
    INSERT INTO erasures AS e (id, reference, state, peers, only_peers, created_at, due_at, started_at, ended_at)
    VALUES (${id}, ${reference}, 'DONE', ${JSON.stringify(peers)}::jsonb, true, accord_now(),
            accord_now() + interval '1 month', accord_now(), accord_now())
    RETURNING ${columns}`);
}

/** The newest erasure for which owners of parts were asked. @param sids of parts, one at least asked for. */
export function readNewestAt(db: Queries, sids: readonly string[]): Promise<Erasure> {
  return db.one<Erasure>(sql`
    SELECT ${columns} FROM erasures AS e
     WHERE e.id IN (SELECT n.erasure FROM notices AS n
                     WHERE n.recipient = ANY(${sids}::text[]) AND n.kind = 'PEER' AND n.erasure IS NOT NULL)
     ORDER BY e.created_at DESC, e.id DESC LIMIT 1`);
}

export function readErasure(db: Queries, id: string): Promise<Erasure | undefined> {
  return db.maybeOne<Erasure>(sql`SELECT ${columns} FROM erasures AS e WHERE e.id = ${id}`);
}

/** The erasure of a subject that has not ended; of a peer's parts, if a peer is named. */
export function readOpenErasure(
  db: Queries,
  { subject, peer }: { subject: string; peer: string | null },
): Promise<Erasure | undefined> {
  return db.maybeOne<Erasure>(sql`
    SELECT ${columns} FROM erasures AS e WHERE e.subject = ${subject} AND e.peer IS NOT DISTINCT FROM ${peer}`);
}

/**
 * Whether this instance has refused an erasure that a peer asked for at or later than `after`.
 * @param reference id of the subject.
 */
export async function wasRefused(
  db: Queries,
  { peer, reference, after }: { peer: string; reference: string; after: Date },
): Promise<boolean> {
  const refused = await db.maybeOne(sql`
    SELECT FROM erasures AS e
     WHERE e.peer = ${peer} AND e.reference = ${reference} AND e.state = 'REFUSED' AND e.created_at >= ${after}
     LIMIT 1`);
  return refused !== undefined;
}

/** The newest erasures of a subject. @param reference id of the subject. */
export function listErasuresOf(db: Queries, reference: string, limit: number): Promise<Erasure[]> {
  return db.query<Erasure>(sql`
    SELECT ${columns} FROM erasures AS e WHERE e.reference = ${reference}
     ORDER BY e.created_at DESC, e.id DESC LIMIT ${limit}`);
}

/**
 * A page of erasures, newest first.
 * @param of only those of a subject: by its id, its name, or the digests that the name can have.
 */
export function listErasures(
  db: Queries,
  {
    of,
    after,
    limit,
  }: {
    of?: { name: string; id: string | null; digests: readonly Buffer[] } | undefined;
    after?: Position | undefined;
    limit: number;
  },
): Promise<(Erasure & { position: string })[]> {
  const conditions = [
    ...(after ? [sql`(e.created_at, e.id) < (${after.createdAt}::timestamptz, ${after.id})`] : []),
    ...(of
      ? [
          sql`(e.reference = ${of.id}::uuid OR e.subject = ${of.name}
               OR e.digest = ANY(${of.digests}::bytea[]))`,
        ]
      : []),
  ];
  const where = conditions.length > 0 ? sql`WHERE ${join(conditions, ' AND ')}` : sql``;
  return db.query(sql`
    SELECT ${columns}, e.created_at::text AS position FROM erasures AS e ${where}
     ORDER BY e.created_at DESC, e.id DESC LIMIT ${limit}`);
}

/** An erasure as it is repeated after a restore. */
export interface RepeatableErasure {
  id: string;
  subject: string;
  digest: string;
  created: string;
  started: string;
  /** Base URL of the peer that asked, if any. */
  peer?: string;
}

/**
 * Erasures that have begun and whose digest is kept, by their start, oldest first. Times have microseconds:
 * what was created a moment before the start must be covered by the repetition.
 * @param page.after the erasure before; undefined for the first page.
 */
export async function listRepeatable(
  db: Queries,
  { after, limit }: { after: RepeatableErasure | undefined; limit: number },
): Promise<RepeatableErasure[]> {
  const exact = (time: Statement) =>
    sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  const from = after ? sql`AND (e.started_at, e.id) > (${after.started}::timestamptz, ${after.id})` : sql``;
  const rows = await db.query<RepeatableErasure & { peer: string | null }>(sql`
    SELECT e.id, e.reference::text AS subject, translate(encode(e.digest, 'base64'), '+/=', '-_') AS digest,
           ${exact(sql`e.created_at`)} AS created, ${exact(sql`e.started_at`)} AS started, e.peer
      FROM erasures AS e
     WHERE e.digest IS NOT NULL AND e.started_at IS NOT NULL ${from}
     ORDER BY e.started_at, e.id LIMIT ${limit}`);
  return rows.map(({ peer, ...row }) => ({ ...row, ...(peer !== null && { peer }) }));
}

/** Locks an erasure until the end of the database transaction. */
export function lockErasure(tx: Queries, id: string): Promise<Erasure | undefined> {
  return tx.maybeOne<Erasure>(sql`SELECT ${columns} FROM erasures AS e WHERE e.id = ${id} FOR UPDATE`);
}

/**
 * SQL: when an erasure starts that begins now: not before any transaction that is stored. The clock of a
 * part's leader may be ahead, and this request may have waited for the lock of the subject, which it holds.
 */
function startOf(subject: Statement): Statement {
  return sql`greatest(accord_now(), (SELECT max(t.created_at) FROM transactions AS t WHERE t.subject = ${subject}))`;
}

/** Moves an erasure that has not ended to another state. The subject is locked. */
export function moveErasure(tx: Queries, id: string, state: 'RUNNING' | 'HELD'): Promise<Erasure> {
  const start = startOf(sql`e.subject`);
  return change(tx, id, sql`state = ${state}, started_at = coalesce(e.started_at, ${start})`);
}

/** Ends an erasure: its row no longer names the subject. A refused one is not repeated after a restore. */
export function endErasure(
  tx: Queries,
  id: string,
  { state, ground = null }: { state: 'DONE' | 'REFUSED'; ground?: string | null },
): Promise<Erasure> {
  return change(
    tx,
    id,
    sql`state = ${state}, ground = ${ground}, subject = NULL, reason = NULL, ended_at = accord_now(),
           digest = CASE WHEN ${state === 'DONE'} THEN e.digest END`,
  );
}

/**
 * Ends the erasures of a subject that peers asked for and that have not begun, if all that the peer has sent
 * is erased: they cover nothing more. Their rows name the subject until then.
 */
export async function endRequestsOfPeers(tx: Queries, subject: string): Promise<void> {
  await tx.query(sql`
    UPDATE erasures AS e
       SET state = 'DONE', subject = NULL, reason = NULL, digest = NULL, ended_at = accord_now(),
           started_at = coalesce(e.started_at, accord_now())
     WHERE e.subject = ${subject} AND e.peer IS NOT NULL AND e.state = 'REQUESTED'
       AND NOT EXISTS (SELECT FROM transactions AS t
                        WHERE t.subject = e.subject AND t.leader->>'location' = e.peer)`);
}

function change(tx: Queries, id: string, assignments: Statement): Promise<Erasure> {
  return tx.one<Erasure>(
    sql`UPDATE erasures AS e SET ${assignments} WHERE e.id = ${id} RETURNING ${columns}`,
  );
}

/** Adds what was erased to the counts and peers of an erasure. */
export async function addErased(tx: Queries, { id, counts, peers }: Erasure, erased: Erased): Promise<void> {
  const sum = Object.entries(erased.counts).map(([name, count]) => [
    name,
    (counts[name as keyof typeof counts] ?? 0) + count,
  ]);
  const known = new Map([...peers, ...erased.peers].map((peer) => [peer.location, peer]));
  await tx.query(sql`
    UPDATE erasures AS e
       SET counts = ${JSON.stringify(Object.fromEntries(sum))}::jsonb,
           peers = ${JSON.stringify([...known.values()])}::jsonb
     WHERE e.id = ${id}`);
}

/**
 * Ids of erasures that can be worked on, sorted, from the one after `range.after`.
 * @param state HELD: those whose hold is over.
 */
export async function erasuresToWorkOn(
  db: Queries,
  state: 'HELD' | 'RUNNING',
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    SELECT e.id FROM erasures AS e
     WHERE e.state = ${state} AND e.id > ${after}
       AND (e.state = 'RUNNING' OR NOT ${isHeld(sql`e.subject`)})
     ORDER BY e.id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/** Deletes the digests that tell whose data old erasures erased. @param retention BACKUP_RETENTION. */
export async function forgetDigests(db: Queries, retention: string): Promise<void> {
  await db.query(sql`
    UPDATE erasures AS e SET digest = NULL
     WHERE e.digest IS NOT NULL AND e.ended_at < accord_now() - ${retention}::interval`);
}

/** Starts an erasure again after a restore, unless it is open already. @returns whether it was started. */
export async function repeatErasure(
  tx: Queries,
  erasure: RepeatableErasure,
  subject: string,
): Promise<boolean> {
  const { id, started, peer = null } = erasure;
  // Another open erasure of the same data, which this one covers. It keeps its peers and recipients.
  await tx.query(sql`
    UPDATE erasures AS e
       SET state = 'DONE', subject = NULL, reason = NULL, ended_at = accord_now(),
           started_at = coalesce(e.started_at, ${started}::timestamptz)
     WHERE e.subject = ${subject} AND e.peer IS NOT DISTINCT FROM ${peer} AND e.id <> ${id}`);
  const repeated = await tx.maybeOne(sql`
    INSERT INTO erasures AS e (${repeatedColumns}, subject, state)
    SELECT ${repeatedValues(erasure)}, ${subject}, 'RUNNING'
    ON CONFLICT (id) DO UPDATE
       SET state = excluded.state, subject = excluded.subject, digest = excluded.digest,
           started_at = excluded.started_at, ended_at = NULL
     WHERE e.state NOT IN ('RUNNING', 'HELD')
    RETURNING e.id`);
  return repeated !== undefined;
}

/**
 * Stores an erasure of which nothing has to be repeated after a restore. Its state is DONE, so that later
 * lists contain it, too.
 * @param isCovered whether a later erasure covers its data. If not, and it is open here, it stays open.
 */
export async function storeEnded(tx: Queries, erasure: RepeatableErasure, isCovered: boolean): Promise<void> {
  const ending = sql`UPDATE
       SET state = 'DONE', subject = NULL, reason = NULL, ended_at = accord_now(),
           started_at = excluded.started_at
     WHERE e.state <> 'DONE'`;
  await tx.query(sql`
    INSERT INTO erasures AS e (${repeatedColumns}, state, ended_at)
    SELECT ${repeatedValues(erasure)}, 'DONE', accord_now()
    ON CONFLICT (id) DO ${isCovered ? ending : sql`NOTHING`}`);
}

const repeatedColumns = sql`id, reference, peer, digest, created_at, due_at, started_at`;

function repeatedValues({ id, subject, digest, created, started, peer }: RepeatableErasure): Statement {
  return sql`${id}::text, ${subject}::uuid, ${peer ?? null}::text, ${Buffer.from(digest, 'base64url')}::bytea,
           ${created}::timestamptz, ${created}::timestamptz + interval '1 month', ${started}::timestamptz`;
}

/** Whether a subject has transactions that a peer sent before a time. */
export async function hasSentBefore(
  db: Queries,
  { subject, peer, before }: { subject: string; peer: string; before: string },
): Promise<boolean> {
  const sent = await db.maybeOne(sql`
    SELECT FROM transactions AS t
     WHERE t.subject = ${subject} AND t.leader->>'location' = ${peer} AND t.created_at <= ${before}::timestamptz
     LIMIT 1`);
  return sent !== undefined;
}
