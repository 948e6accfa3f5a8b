import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { requestExtension } from '#lib/events/request-extension.ts';
import { newUuid } from '#lib/ids/new-uuid.ts';
import type { AnsweredState, Follower } from '../domain/follower.ts';
import type { State } from '../domain/states.ts';
import type { Transaction } from '../domain/transaction.ts';

/** Peers' parts of transactions, by transaction, in the order of the form. Transactions that name no peer are not asked for. */
export async function readFollowers(
  db: Queries,
  transactions: readonly Pick<Transaction, 'id' | 'layout'>[],
): Promise<Map<string, Follower[]>> {
  const byTransaction = new Map<string, Follower[]>();
  const asked = transactions.filter(({ layout }) => layout.elements.some((key) => key.includes('@')));
  if (asked.length === 0) return byTransaction;
  const rows = await db.query<Follower & { transaction: string }>(sql`
    SELECT f.transaction, f.sid, f.location, f.name, f.state, f.reason, f.remote_id AS "remoteId", f.mode, f.shown
      FROM followers AS f WHERE f.transaction = ANY(${asked.map(({ id }) => id)}::text[])
     ORDER BY f.transaction, f.place`);
  for (const { transaction, ...follower } of rows) {
    const known = byTransaction.get(transaction);
    if (known) known.push(follower);
    else byTransaction.set(transaction, [follower]);
  }
  return byTransaction;
}

/** A part that may be sent, and what is said beside it. */
export interface ReleasedPart {
  location: string;
  deadline: Date;
  transaction: string;
  subject: string;
  object: string | null;
  validity: string;
  language: string;
  mode: Follower['mode'];
  sealed: string;
}

export async function readReleased(db: Queries, sid: string): Promise<ReleasedPart | undefined> {
  return db.maybeOne<ReleasedPart>(sql`
    SELECT f.location, f.deadline, t.id AS transaction, t.subject, t.context->>'object' AS object, t.context->>'validity' AS validity,
           f.language, f.mode, f.sealed
      FROM followers AS f JOIN transactions AS t ON t.id = f.transaction
     WHERE f.sid = ${sid} AND f.state = 'SENDING'`);
}

/** Waits for whoever changes the transaction of a part, until the end of the database transaction. @returns its id. */
export async function lockTransactionOf(tx: Queries, sid: string): Promise<string | undefined> {
  const row = await tx.maybeOne<{ id: string }>(sql`
    SELECT t.id FROM transactions AS t
     WHERE t.id = (SELECT f.transaction FROM followers AS f WHERE f.sid = ${sid}) FOR UPDATE`);
  return row?.id;
}

export async function readFollower(
  db: Queries,
  sid: string,
): Promise<Pick<Follower, 'location' | 'state' | 'mode'> | undefined> {
  return db.maybeOne(sql`SELECT f.location, f.state, f.mode FROM followers AS f WHERE f.sid = ${sid}`);
}

/** Whose a part is, and how the transaction stands. */
export async function readTransactionOf(
  db: Queries,
  sid: string,
): Promise<{ location: string; state: State; expiresAt: Date; now: Date } | undefined> {
  return db.maybeOne(sql`
    SELECT f.location, t.state, t.expires_at AS "expiresAt", accord_now() AS now
      FROM followers AS f JOIN transactions AS t ON t.id = f.transaction WHERE f.sid = ${sid}`);
}

/** What has become of a part. */
export interface FollowerChange {
  sid: string;
  state: AnsweredState;
  reason: string | null;
  /** The transaction at the peer, if it said so. */
  remoteId: string | undefined;
}

const events = {
  HELD: 'io.accord.peer.submission.delivered.v1',
  ACCEPTED: 'io.accord.peer.submission.accepted.v1',
  REFUSED: 'io.accord.peer.submission.refused.v1',
  DROPPED: 'io.accord.peer.submission.refused.v1',
} as const;

/**
 * Writes what has become of a part, and tells it as a fact about its transaction. What was sealed is gone from then on: nobody needs it any
 * more.
 */
export async function changeFollower(tx: Queries, change: FollowerChange, source: string): Promise<void> {
  const { sid, state, reason, remoteId } = change;
  const id = newUuid();
  await tx.query(sql`
    WITH f AS (
      UPDATE followers SET state = ${state}, version = version + 1, reason = ${reason}, remote_id = coalesce(${remoteId}, remote_id),
             sealed = NULL, changed_at = accord_now()
       WHERE sid = ${sid}
      RETURNING *
    )
    INSERT INTO outbox (event_id, topic, key, event)
    SELECT ${id}::uuid, 'accord.consents', f.transaction,
           jsonb_build_object('id', ${id}::text, 'type', ${events[state]}::text, 'source', ${source}::text, 'subject', f.transaction,
             'time', to_json(f.changed_at), 'data',
             jsonb_strip_nulls(jsonb_build_object('transaction', f.transaction, 'peer', f.location, 'version', f.version, 'reason', f.reason)))
           || ${requestExtension()}::jsonb
      FROM f`);
}
