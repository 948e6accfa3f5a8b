import { createHash } from 'node:crypto';
import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { endTransactions } from '../answer/end-transactions.ts';
import { eraseDocuments } from '../documents/store.ts';
import { isAskedToErase, queuePeerNotices, takeOverRequests } from '../sent-parts/notices-store.ts';
import type { ConsentContext } from '../transaction/context.ts';
import { inPieces, insertEvents } from '../transaction/events.ts';
import { type ErasureCounts, type ErasurePeer, erasedContext } from './erasure.ts';

/** What a call of {@link eraseTransactions} has erased. */
export interface Erased {
  counts: ErasureCounts;
  /** Peers that keep answers, or have shown the form. */
  peers: ErasurePeer[];
}

/** A transaction that a database transaction has locked to erase it. */
export interface Picked {
  id: string;
  context: ConsentContext;
}

/**
 * SQL: whether the owner of a part `f` of a transaction `t` may have stored the part. It has not if the part
 * was never sent, or was refused without a transaction at the owner.
 */
export const mayBeStored = sql`(
  f.state IN ('SENDING', 'HELD', 'ACCEPTED')
  OR f.state = 'DROPPED' AND NOT t.awaits_code AND coalesce(f.reason, '') NOT IN ('unsent', 'withdrawn')
  OR f.state = 'REFUSED' AND f.remote_id IS NOT NULL)`;

/**
 * Erases the personal data of transactions in a final state (docs/erasure.md, "What becomes of the data").
 * The caller has locked their subject and these rows.
 * @param erasure for the events; undefined if a retention has ended.
 */
export async function eraseTransactions(
  tx: Queries,
  picked: readonly Picked[],
  { erasure, source }: { erasure: string | undefined; source: string },
): Promise<Erased> {
  const ids = picked.map(({ id }) => id);
  const peers = await readPeers(tx, ids);
  if (erasure === undefined) await detachChildren(tx, ids);
  else {
    // The person may have asked the owners of some already.
    await takeOverRequests(tx, erasure, ids);
    const untold = sql`f.transaction = ANY(${ids}::text[]) AND ${mayBeStored} AND NOT ${isAskedToErase}`;
    await queuePeerNotices(tx, { erasure }, untold, source);
  }
  await eraseRows(tx, picked);
  await eraseDocuments(tx, ids);
  const receipts = await eraseReceipts(tx, ids);
  const records = await eraseRecords(tx, ids, { erasure, source });
  const messages = await eraseMessages(tx, ids);
  return { counts: { transactions: ids.length, records, receipts, messages }, peers };
}

/** Peers that keep answers of transactions, or have shown their form. */
export function readPeers(tx: Queries, ids: readonly string[]): Promise<ErasurePeer[]> {
  return tx.query<ErasurePeer>(sql`
    SELECT DISTINCT f.name, f.location FROM sent_parts AS f JOIN transactions AS t ON t.id = f.transaction
     WHERE f.transaction = ANY(${ids}::text[]) AND ${mayBeStored}
     UNION
    SELECT t.leader->>'location', t.leader->>'location' FROM transactions AS t
     WHERE t.id = ANY(${ids}::text[]) AND t.leader IS NOT NULL
     ORDER BY name, location`);
}

/**
 * Children of a transaction whose retention has ended stay, and must not lead to it. A withdrawal that a
 * peer ordered still says which peer (`coveredBy`). An erasure detaches nothing: it erases all
 * that is based on what it covers, and finds it by these links until then.
 */
async function detachChildren(tx: Queries, ids: readonly string[]): Promise<void> {
  await tx.query(sql`
    UPDATE transactions AS c
       SET parent = NULL,
           leader = coalesce(c.leader, CASE WHEN c.kind = 'WITHDRAWAL' AND c.context->>'origin' = 'PEER'
                                            THEN t.leader END)
      FROM transactions AS t
     WHERE t.id = ANY(${ids}::text[]) AND c.subject = t.subject AND c.parent = t.id`);
}

/** Erases the rows, their claims, receipt drafts, short links, codes and addresses, and the sealed parts. */
async function eraseRows(tx: Queries, picked: readonly Picked[]): Promise<void> {
  const erased = picked.map(({ id, context }) => ({ id, context: erasedContext(context) }));
  const ids = picked.map(({ id }) => id);
  await tx.query(sql`
    UPDATE transactions AS t
       SET subject = g.context->>'subject', context = g.context, author = '', created_by = NULL, parent = NULL,
           -- The texts of an inline layout may name the person.
           layout = jsonb_set(t.layout, '{texts}', '{}'),
           answers_digest = NULL, token_epoch = t.token_epoch + 1, notice_at = 'infinity',
           erased_at = accord_now()
      FROM jsonb_to_recordset(${JSON.stringify(erased)}::jsonb) AS g (id text, context jsonb)
     WHERE t.id = g.id`);
  await tx.query(sql`DELETE FROM context_claims AS c WHERE c.transaction = ANY(${ids}::text[])`);
  await tx.query(sql`DELETE FROM receipt_drafts AS d WHERE d.transaction = ANY(${ids}::text[])`);
  await tx.query(sql`DELETE FROM short_links AS l WHERE l.transaction = ANY(${ids}::text[])`);
  await tx.query(sql`DELETE FROM import_evidence AS e WHERE e.transaction = ANY(${ids}::text[])`);
  await tx.query(sql`
    DELETE FROM imported_answers AS a USING records AS r
     WHERE r.transaction = ANY(${ids}::text[]) AND a.record = r.id`);
  await tx.query(sql`DELETE FROM codes AS c WHERE c.transaction = ANY(${ids}::text[])`);
  await tx.query(sql`DELETE FROM part_addresses AS p WHERE p.transaction = ANY(${ids}::text[])`);
  // A part that its owner has not answered is not sent again. It may have arrived: in an erasure,
  // `queuePeerNotices` has asked its owner to erase it; after a retention no owner is asked.
  await tx.query(sql`
    UPDATE sent_parts AS f
       SET state = 'DROPPED', version = f.version + 1, sealed = NULL, changed_at = accord_now()
     WHERE f.transaction = ANY(${ids}::text[]) AND f.sealed IS NOT NULL`);
}

/** Replaces receipts by the facts that prove a copy of the receipt. @returns their number. */
async function eraseReceipts(tx: Queries, ids: readonly string[]): Promise<number> {
  const deleted = await tx.query<{ transaction: string; body: string; jws: string }>(sql`
    DELETE FROM receipts AS r WHERE r.transaction = ANY(${ids}::text[]) RETURNING r.transaction, r.body, r.jws`);
  const kept = deleted.map(({ transaction, body, jws }) => ({
    transaction,
    digest: createHash('sha256').update(jws).digest('hex'),
    kid: (JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid,
    at: (JSON.parse(body) as { timestamp: string }).timestamp,
  }));
  await tx.query(sql`
    INSERT INTO erased_receipts (transaction, digest, kid, signed_at)
    SELECT g.transaction, decode(g.digest, 'hex'), g.kid, g.at
      FROM jsonb_to_recordset(${JSON.stringify(kept)}::jsonb)
        AS g (transaction text, digest text, kid text, at timestamptz)
    ON CONFLICT (transaction) DO NOTHING`);
  return deleted.length;
}

/**
 * Keeps the choice between `accepted` and `refused`, and the positions of other options; not the `accepted`
 * of a notice, which was no choice.
 * @returns the number of records.
 */
async function eraseRecords(
  tx: Queries,
  ids: readonly string[],
  { erasure, source }: { erasure: string | undefined; source: string },
): Promise<number> {
  const { count } = await tx.one<{ count: number }>(sql`
    WITH erased AS (
      UPDATE records AS r
         SET subject = t.subject, state = 'ERASED', object = '', author = '', comment = NULL,
             value = CASE WHEN r.type IN ('processing', 'conditions') AND r.positions IS NOT NULL THEN r.value
                          ELSE '{}' END
        FROM transactions AS t
       WHERE t.id = ANY(${ids}::text[]) AND r.transaction = t.id
      RETURNING r.id, r.transaction, r.committed_at
    ), event AS (${erasedEvents(erasure, source)}
    )
    SELECT count(*)::int AS count FROM erased`);
  return count;
}

async function eraseMessages(tx: Queries, ids: readonly string[]): Promise<number> {
  const deleted = await tx.query(sql`
    DELETE FROM messages AS m WHERE m.transaction = ANY(${ids}::text[]) RETURNING m.id`);
  return deleted.length;
}

/** What an erasure covers, see {@link Erasure}. */
export interface ErasureScope {
  erasure: string;
  subject: string;
  peer: string | null;
}

/**
 * SQL: whether an erasure that has started covers the transaction `t`: whether `t` was created before the
 * erasure started, or is based on such a transaction. If a peer asks for the erasure, it covers only what
 * this peer has sent, and all that is based on that.
 */
function coveredBy({ erasure, subject, peer }: ErasureScope): Statement {
  const sent = (x: Statement) => (peer === null ? empty : sql`AND ${x}.leader->>'location' = ${peer}`);
  const isFirst = (x: Statement) => sql`
    coalesce(${x}.created_at <= (SELECT e.started_at FROM erasures AS e WHERE e.id = ${erasure}) ${sent(x)}, false)`;
  // What a transaction is based on may have been erased by an earlier COMMIT of the same erasure.
  return sql`t.subject = ${subject} AND (${isFirst(sql`t`)} OR t.id IN (
    WITH RECURSIVE later AS (
      SELECT x.id, x.kind, x.parent FROM transactions AS x
       WHERE x.subject = ${subject} AND NOT ${isFirst(sql`x`)}
    ), basis AS (${basisOf(peer)}
    ), based AS (
      SELECT b.id FROM basis AS b JOIN transactions AS x ON x.id = b.of
       WHERE x.erased_at IS NOT NULL OR ${isFirst(sql`x`)}
       UNION
      SELECT b.id FROM based AS d JOIN basis AS b ON b.of = d.id)
    SELECT d.id FROM based AS d))`;
}

/**
 * SQL: the transactions on which those in `later` are based: the parent, and, unless a peer asks for the
 * erasure, those whose consents or parts a withdrawal has withdrawn. What people withdrew wherever they had
 * consented is their own, and not a peer's.
 */
function basisOf(peer: string | null): Statement {
  const parents = sql`
      SELECT c.id, c.parent AS of FROM later AS c WHERE c.parent IS NOT NULL`;
  if (peer !== null) return parents;
  return sql`${parents}
       UNION
      SELECT c.id, w.transaction FROM later AS c JOIN records AS r ON r.transaction = c.id
        JOIN records AS w ON w.id = r.withdraws WHERE c.kind = 'WITHDRAWAL'
       UNION
      SELECT c.id, f.transaction FROM later AS c JOIN notices AS n ON n.about = c.id AND n.kind = 'PEER'
        JOIN sent_parts AS f ON f.sid = n.recipient`;
}

/**
 * Locks transactions that an erasure covers and that are in a final state. SKIP LOCKED: a process that has
 * locked a row may wait for the subject (`erasePart`); the next run finds the row.
 */
export function pickTransactions(tx: Queries, scope: ErasureScope, limit: number): Promise<Picked[]> {
  return tx.query<Picked>(sql`
    SELECT t.id, t.context FROM transactions AS t
     WHERE ${coveredBy(scope)} AND t.state NOT IN ('CREATED', 'SUBMITTED')
     ORDER BY t.created_at LIMIT ${limit} FOR NO KEY UPDATE OF t SKIP LOCKED`);
}

/** Whether transactions are left that an erasure covers, and whether the subject has others. */
export async function readRest(
  tx: Queries,
  scope: ErasureScope,
): Promise<{ covered: boolean; others: boolean }> {
  return tx.one(sql`
    SELECT EXISTS (SELECT FROM transactions AS t WHERE ${coveredBy(scope)}) AS covered,
           EXISTS (SELECT FROM transactions AS t
                    WHERE t.subject = ${scope.subject} AND NOT (${coveredBy(scope)})) AS others`);
}

/** Deletes the claims of covered transactions, in a database transaction that locks nothing else. */
export async function deleteClaims(db: Queries, scope: ErasureScope): Promise<void> {
  await db.query(sql`
    DELETE FROM context_claims AS c USING transactions AS t WHERE ${coveredBy(scope)} AND c.transaction = t.id`);
}

/**
 * Cancels the open transactions that an erasure covers. Left out are transactions past their deadline, which
 * the sweeper ends, and those that a peer leads, which wait for the peer's decision. A row that is locked is
 * skipped; the next run finds it. A first statement locks the rows, and a second one cancels them. So the
 * second one sees all that a submission of the same transaction has stored just before.
 */
export async function cancelOpen(tx: Queries, scope: ErasureScope, source: string): Promise<void> {
  const locked = await tx.query<{ id: string }>(sql`
    SELECT t.id FROM transactions AS t JOIN erasures AS e ON e.id = ${scope.erasure}
     WHERE ${coveredBy(scope)} AND t.state IN ('CREATED', 'SUBMITTED') AND t.leader IS NULL
       AND t.expires_at > accord_now() AND e.state IN ('RUNNING', 'HELD')
     FOR NO KEY UPDATE OF t SKIP LOCKED`);
  const ids = locked.map(({ id }) => id);
  await endTransactions(tx, 'CANCELLED', sql`id = ANY(${ids}::text[])`, source);
}

/** Inserts an event for every 50 records of the transactions in `erased` that have ever taken effect. */
function erasedEvents(erasure: string | undefined, source: string): Statement {
  return insertEvents(
    {
      from: inPieces(sql`
        SELECT e.transaction AS id, e.id AS record FROM erased AS e WHERE e.committed_at IS NOT NULL`),
      topic: 'accord.consents',
      key: sql`s.id`,
      type: sql`'io.accord.subject.erased.v1'::text`,
      time: sql`accord_now()`,
      data: sql`jsonb_build_object(
        'erasure', ${erasure}::text, 'transaction', s.id, 'records', s.records)`,
    },
    source,
  );
}
