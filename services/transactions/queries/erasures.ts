import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import type { Erasure, ErasureState } from '../domain/erasure.ts';
import type { Erased } from './erase-transactions.ts';

const columns = sql`e.id, e.reference::text AS reference, coalesce(e.subject, e.sent_subject) AS subject, e.peer, e.state, e.reason, e.ground, e.counts, e.peers,
  e.created_at AS "createdAt", e.due_at AS "dueAt", e.ended_at AS "endedAt"`;

/** Stores an erasure. @returns undefined if one of the subject, for the same peer if any, has not ended. */
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
      (id, reference, subject, sent_subject, peer, digest, state, reason, created_at, due_at, started_at)
    VALUES (${id}, ${reference}, ${peer === null ? subject : null}, ${peer === null ? null : subject}, ${peer},
            ${digest}, ${state}, ${reason}, accord_now(), accord_now() + interval '1 month',
            CASE WHEN ${state === 'RUNNING'} THEN accord_now() END)
    ON CONFLICT DO NOTHING RETURNING ${columns}`);
}

export function readErasure(db: Queries, id: string): Promise<Erasure | undefined> {
  return db.maybeOne<Erasure>(sql`SELECT ${columns} FROM erasures AS e WHERE e.id = ${id}`);
}

/** The erasure of a subject that has not ended; of a peer's parts, if a peer is named. */
export function readOpenErasure(
  db: Queries,
  { subject, peer }: { subject: string; peer: string | null },
): Promise<Erasure | undefined> {
  const which =
    peer === null ? sql`e.subject = ${subject}` : sql`e.peer = ${peer} AND e.sent_subject = ${subject}`;
  return db.maybeOne<Erasure>(sql`SELECT ${columns} FROM erasures AS e WHERE ${which}`);
}

/** Whether an erasure that a peer asked for after a time was refused. @param reference id of the subject. */
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

/** A page of erasures, newest first. */
export function listErasures(
  db: Queries,
  { after, limit }: { after?: Position | undefined; limit: number },
): Promise<(Erasure & { position: string })[]> {
  const from = after
    ? sql`WHERE (e.created_at, e.id) < (${after.createdAt}::timestamptz, ${after.id})`
    : sql``;
  return db.query(sql`
    SELECT ${columns}, e.created_at::text AS position FROM erasures AS e ${from}
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

/** Erasures that have begun and whose digest is kept, oldest first. */
export async function listRepeatable(
  db: Queries,
  { after, limit }: { after: string; limit: number },
): Promise<RepeatableErasure[]> {
  const rows = await db.query<RepeatableErasure & { peer: string | null }>(sql`
    SELECT e.id, e.reference::text AS subject, translate(encode(e.digest, 'base64'), '+/=', '-_') AS digest,
           e.created_at AS created, e.started_at AS started, e.peer
      FROM erasures AS e
     WHERE e.digest IS NOT NULL AND e.started_at IS NOT NULL AND e.id > ${after}
     ORDER BY e.id LIMIT ${limit}`);
  return rows.map(({ peer, ...row }) => ({ ...row, ...(peer !== null && { peer }) }));
}

/** Locks an erasure until the end of the database transaction. */
export function lockErasure(tx: Queries, id: string): Promise<Erasure | undefined> {
  return tx.maybeOne<Erasure>(sql`SELECT ${columns} FROM erasures AS e WHERE e.id = ${id} FOR UPDATE`);
}

/** Moves an erasure that has not ended to another state. */
export function moveErasure(tx: Queries, id: string, state: 'RUNNING' | 'HELD'): Promise<Erasure> {
  return change(tx, id, sql`state = ${state}, started_at = coalesce(e.started_at, accord_now())`);
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
    sql`state = ${state}, ground = ${ground}, subject = NULL, sent_subject = NULL, reason = NULL,
           ended_at = accord_now(),
           digest = CASE WHEN ${state === 'DONE'} THEN e.digest END`,
  );
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

/** Ids of erasures that are in a state, oldest first. */
export async function idsOfErasures(
  db: Queries,
  state: ErasureState,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    SELECT e.id FROM erasures AS e
     WHERE (e.subject IS NOT NULL OR e.sent_subject IS NOT NULL) AND e.state = ${state} AND e.id > ${after} ORDER BY e.id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/** Forgets of whom the oldest erasures were. @param retention BACKUP_RETENTION. */
export async function forgetDigests(db: Queries, retention: string): Promise<void> {
  await db.query(sql`
    UPDATE erasures AS e SET digest = NULL
     WHERE e.digest IS NOT NULL AND e.ended_at < accord_now() - ${retention}::interval`);
}

/**
 * Starts an erasure again after a restore. @param subject the name that has the digest; undefined if no
 * subject has it: the erasure is stored as it had ended.
 */
export async function repeatErasure(
  tx: Queries,
  { id, subject: reference, digest, created, started, peer }: RepeatableErasure,
  subject: string | undefined,
): Promise<void> {
  const state = subject === undefined ? 'DONE' : 'RUNNING';
  const ended = subject === undefined ? sql`accord_now()` : sql`NULL::timestamptz`;
  const bytes = Buffer.from(digest, 'base64url');
  const [whole, sent] = peer === undefined ? [subject ?? null, null] : [null, subject ?? null];
  // Another erasure of the same data that the backup has: this one replaces it.
  if (subject !== undefined)
    await tx.query(sql`
      DELETE FROM erasures AS e
       WHERE (e.subject = ${whole} OR e.peer = ${peer ?? null} AND e.sent_subject = ${sent}) AND e.id <> ${id}`);
  await tx.query(sql`
    INSERT INTO erasures AS e
      (id, reference, subject, sent_subject, peer, digest, state, created_at, due_at, started_at, ended_at)
    VALUES (${id}, ${reference}, ${whole}, ${sent}, ${peer ?? null}, ${bytes}, ${state}, ${created},
            ${created}::timestamptz + interval '1 month', ${started}, ${ended})
    ON CONFLICT (id) DO UPDATE
       SET state = excluded.state, subject = excluded.subject, sent_subject = excluded.sent_subject,
           digest = excluded.digest, started_at = excluded.started_at, ended_at = excluded.ended_at
     WHERE e.state <> 'DONE' OR excluded.state = 'RUNNING'`);
}
