import { receiptSigned } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { nextPosition } from '../person/positions-sql.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';
import { releaseNewParts, storeParts } from '../sent-parts/new-parts-sql.ts';
import {
  recordCreationAndCommit,
  recordStateChange,
  supersededEvents,
  withdrawnEvents,
} from '../transaction/events.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { NewCode } from './code.ts';
import { storeCode } from './codes-store.ts';
import type { Commitment, CommittedRecord } from './commitment.ts';

/**
 * Commits a transaction in one statement: state, records, receipt, parts, history and outbox rows. A child
 * takes over its parent's claim on the context.
 * @returns false if the transaction has changed, its deadline has passed, or another statement of the person
 * was stored since the standing was read by which the commitment was decided; nothing is stored then.
 */
export async function commitTransaction(
  db: Queries,
  commitment: Commitment,
  source: string,
): Promise<boolean> {
  const row = await db.maybeOne(sql`
    WITH ${nextPosition(sql`${commitment.subject}`, commitment.seen, true)}, t AS (
      UPDATE transactions AS x
         SET state = 'COMMITTED', version = x.version + 1, answers_digest = ${commitment.answersDigest},
             changed_at = ${commitment.submittedAt}, notice_at = ${commitment.noticeAt},
             valid_until = ${commitment.validUntil}
       ${whereUnchanged(commitment)}
      RETURNING x.*
    ), ${storeCommittedAnswers(commitment, source)}, ${releaseNewParts(commitment.parts, source)}claim AS (
      UPDATE context_claims AS c SET transaction = t.id FROM t WHERE c.transaction = t.parent
    ), ${recordStateChange('committed', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}

/**
 * Common table expressions that commit the answers of the transaction in `t`: records, receipt, and the
 * events about what they replace. They need the `person` of {@link nextPosition}.
 */
function storeCommittedAnswers(commitment: Commitment, source: string): Statement {
  const { submittedAt, receipt } = commitment;
  return sql`${givenRecords(commitment)}, ${endReplaced(commitment.records, submittedAt, source)},
    ${storeRecords(commitment, sql`'COMMITTED'`)},
    ${tellWithdrawn(commitment.records, submittedAt, source)}${storeReceipt(receipt)}`;
}

/** Common table expressions that end the records that those in `given` replace, and tell of it. */
export function endReplaced(
  records: readonly Pick<CommittedRecord, 'ends'>[],
  committedAt: Date,
  source: string,
): Statement {
  const ended = records.flatMap(({ ends }) => ends ?? []);
  if (ended.length === 0) return sql`ended AS (SELECT WHERE false)`;
  // The list of ids, which `given` has too, makes the plan use the primary key.
  return sql`ended AS (
      UPDATE records AS r SET until_position = p.position, until_at = ${committedAt}, ended_by = g.id
        FROM given AS g CROSS JOIN person AS p WHERE r.id = g.ends AND r.id = ANY(${ended}::uuid[])
      RETURNING r.id, r.transaction, g.id AS by, ${committedAt}::timestamptz AS at
    ), superseded AS (${supersededEvents(sql`ended`, source)}
    )`;
}

export function tellWithdrawn(
  records: readonly Pick<CommittedRecord, 'ends' | 'withdraws'>[],
  committedAt: Date,
  source: string,
): Statement {
  const isTold = records.some(({ ends, withdraws }) => withdraws !== null && withdraws === ends);
  return isTold ? sql`withdrawn AS (${withdrawnEvents(committedAt, source)}), ` : empty;
}

/**
 * Common table expressions that store the receipt of the transaction in `t`, and queue its digest for the
 * audit log.
 */
export function storeReceipt({ body, jws }: SignedReceipt): Statement {
  return sql`receipt AS (
      INSERT INTO receipts (transaction, body, jws) SELECT t.id, ${body}, ${jws} FROM t
    ), logged AS (${receiptSigned(jws)}
    )`;
}

/**
 * Answers that wait for a code, for the owners of parts or for the leader's decision. They have no receipt
 * yet. What they do to other answers is decided when they are committed.
 */
export type PendingCommitment = Omit<Commitment, 'receipt'> & {
  /**
   * Until when the code must be entered, or all owners must hold their parts. For a part that this instance
   * holds, it is only shown as `expires`.
   */
  deadline: Date;
  /** The code that the subject must enter first; undefined without a confirmation. */
  code: NewCode | undefined;
  /** The receipt's body without the facts of the commit. */
  draft: string;
};

/**
 * Stores answers that are not committed yet in one statement: state, PENDING records, receipt draft, parts,
 * history and outbox rows. Parts are released at once, unless a code is awaited.
 * @returns false as {@link commitTransaction}.
 */
export async function submitTransaction(
  db: Queries,
  commitment: PendingCommitment,
  source: string,
): Promise<boolean> {
  const { code, parts } = commitment;
  const row = await db.maybeOne(sql`
    WITH ${nextPosition(sql`${commitment.subject}`, commitment.seen)}, t AS (
      UPDATE transactions AS x
         SET state = 'SUBMITTED', version = x.version + 1, answers_digest = ${commitment.answersDigest},
             changed_at = ${commitment.submittedAt}, expires_at = ${commitment.deadline},
             awaits_code = ${code !== undefined}
       ${whereUnchanged(commitment)}
      RETURNING x.*
    ), ${givenRecords(commitment)}, ended AS (SELECT WHERE false),
    ${storeRecords(commitment, sql`'PENDING'`)}, draft AS (
      INSERT INTO receipt_drafts (transaction, body) SELECT t.id, ${commitment.draft} FROM t
    ), ${code ? sql`${storeCode(code)}, ${storeParts(parts, sql`'WAITING'`)}` : releaseNewParts(parts, source)}
    ${recordStateChange('submitted', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}

/** The person is locked before the transaction, as everywhere. */
function whereUnchanged({ id, version }: Pick<Commitment, 'id' | 'version'>): Statement {
  return sql`
    FROM person WHERE x.id = ${id} AND x.version = ${version} AND x.state = 'CREATED'
      AND x.expires_at > accord_now()`;
}

function givenRecords({ records }: Pick<Commitment, 'records'>): Statement {
  return sql`given AS (
      SELECT g.* FROM t, jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
          AS g (id uuid, key text, type text, serial text, "infoKey" text, "infoSerial" text, value text[],
                positions integer[], "expiresAt" timestamptz, "isInForce" boolean, ends uuid, withdraws uuid)
    )`;
}

/** Stores the records of `given`, after those that they replace have ended. */
function storeRecords(commitment: Omit<Commitment, 'receipt'>, state: Statement): Statement {
  const isCommitted = sql`${state} = 'COMMITTED'`;
  const isInForce = sql`(${isCommitted} AND g."isInForce")`;
  return sql`stored AS (
      INSERT INTO records (id, transaction, subject, object, key, type, serial, info_key, info_serial, value,
                           positions, state, origin, source, author, comment, created_at, committed_at,
                           expires_at, withdraws, position, from_position, from_at)
      SELECT g.id, t.id, t.subject, ${commitment.object}, g.key, g.type, g.serial, g."infoKey",
             g."infoSerial", g.value, g.positions, ${state}, ${commitment.origin},
             ${commitment.source}::text, ${commitment.author}, ${commitment.comment}::text, ${commitment.givenAt},
             CASE WHEN ${isCommitted} THEN ${commitment.submittedAt}::timestamptz END, g."expiresAt",
             CASE WHEN ${isCommitted} THEN g.withdraws END, p.position,
             CASE WHEN ${isInForce} THEN p.position END, CASE WHEN ${isInForce} THEN ${commitment.submittedAt}::timestamptz END
        FROM given AS g CROSS JOIN t CROSS JOIN person AS p
       CROSS JOIN (SELECT count(*) FROM ended) AS e (count)
      RETURNING id, key, withdraws
    )`;
}

/**
 * Common table expressions that store a transaction as if it had been created and then committed: with its
 * records, receipt, history and events. They need the `person` of `storePerson`. @param from SQL: a join that
 * has no row if nothing is to be stored.
 */
export function insertCommitted(
  {
    id,
    subject,
    context,
    layout,
    author,
    parent,
    leader,
    kind,
    createdAt,
    expiresAt,
    ...created
  }: Transaction,
  commitment: Commitment,
  source: string,
  from: Statement = empty,
): Statement {
  return sql`t AS (
      INSERT INTO transactions (id, subject, state, version, context, layout, kind, author, created_by,
                                is_address_known, parent, leader, answers_digest, created_at, changed_at, expires_at, notice_at, valid_until)
      SELECT ${id}, ${subject}, 'COMMITTED', ${commitment.version + 1}::int,
             ${JSON.stringify(context)}::jsonb, ${JSON.stringify(layout)}::jsonb, ${kind}::text, ${author},
             ${created.createdBy}::text, ${created.isAddressKnown}::boolean, ${parent}::text, ${leader}::jsonb, ${commitment.answersDigest}::bytea,
             ${createdAt}::timestamptz, ${commitment.submittedAt}::timestamptz, ${expiresAt}::timestamptz,
             ${commitment.noticeAt}::timestamptz, ${commitment.validUntil}::timestamptz
        FROM person ${from}
      RETURNING *
    ), ${storeCommittedAnswers(commitment, source)},
    ${recordCreationAndCommit(source)}`;
}
