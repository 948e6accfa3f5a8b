import { receiptSigned } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { NewCode } from '../domain/code.ts';
import type { Commitment, NewRecord } from '../domain/commitment.ts';
import type { SignedReceipt } from '../domain/receipt.ts';
import { type ReadTransaction, statesBefore, type Transaction } from '../domain/transaction.ts';
import { storeCode, useCode } from './codes.ts';
import { partEvents, recordStateChange, supersededEvents, withdrawnEvents } from './events.ts';
import { releaseNewParts, releaseWaitingParts, storeParts } from './release-parts.ts';
import {
  arrivedAt,
  isSubjectLocked,
  lockSubjectOf,
  subjectLockShared,
  toReadTransaction,
  transactionColumns,
  withdrawnSince,
} from './transactions.ts';

/**
 * Commits a transaction in one statement: state, records, receipt, parts, history and outbox rows. A child
 * takes over its parent's claim on the context.
 * @returns false if the transaction has changed, its deadline has passed or, with parts, the person has
 * withdrawn since `givenAt`; nothing is stored then.
 */
export async function commitTransaction(
  db: Queries,
  commitment: Commitment,
  source: string,
): Promise<boolean> {
  const row = await db.maybeOne(sql`
    WITH ${lockSubjectOf(commitment.id)}, t AS (
      UPDATE transactions
         SET state = 'COMMITTED', version = version + 1, answers_digest = ${commitment.answersDigest},
             changed_at = ${commitment.submittedAt}, notice_at = ${commitment.noticeAt}
       ${whereUnchanged(commitment)}
      RETURNING *
    ), ${storeCommittedAnswers(commitment, source)}, ${releaseNewParts(commitment.parts, source)}claim AS (
      UPDATE context_claims AS c SET transaction = t.id FROM t WHERE c.transaction = t.parent
    ), ${recordStateChange('committed', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}

/** Common table expressions that commit the answers of the transaction in `t`: records and receipt. */
export function storeCommittedAnswers(commitment: Commitment, source: string): Statement {
  const { submittedAt: committedAt, receipt, object } = commitment;
  const refuses = commitment.records.some(isRefusal);
  const about = { object: sql`${object}`, subject: sql`t.subject`, at: sql`${committedAt}::timestamptz` };
  const withdraws = refuses ? sql`coalesce(g.withdraws, ${withdrawnRecord})` : sql`NULL::uuid`;
  return sql`${givenRecords(commitment)},
    earlier AS (${earlierAnswers(sql`given AS g CROSS JOIN t`, about)}
    ), superseded AS (${supersededEvents(sql`earlier`, source)}
    ), ${storeRecords(commitment, { state: sql`'COMMITTED'`, committedAt: about.at, withdraws })},
    ${refuses ? sql`withdrawn AS (${withdrawnEvents(committedAt, source)}), ` : empty}${storeReceipt(receipt)}`;
}

/**
 * Common table expressions that store the receipt of the transaction in `t`, and queue its digest for the
 * audit log.
 */
function storeReceipt({ body, jws }: SignedReceipt): Statement {
  return sql`receipt AS (
      INSERT INTO receipts (transaction, body, jws) SELECT t.id, ${body}, ${jws} FROM t
    ), logged AS (${receiptSigned(jws)}
    )`;
}

/**
 * Answers that wait for a code, for the owners of parts or for the leader's decision. They have no receipt
 * yet.
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
    WITH ${lockSubjectOf(commitment.id)}, t AS (
      UPDATE transactions
         SET state = 'SUBMITTED', version = version + 1, answers_digest = ${commitment.answersDigest},
             changed_at = ${commitment.submittedAt}, expires_at = ${commitment.deadline},
             awaits_code = ${code !== undefined}
       ${whereUnchanged(commitment)}
      RETURNING *
    ), ${givenRecords(commitment)}, ${storeRecords(commitment, pending)}, draft AS (
      INSERT INTO receipt_drafts (transaction, body) SELECT t.id, ${commitment.draft} FROM t
    ), ${code ? sql`${storeCode(code)}, ${storeParts(parts, sql`'WAITING'`)}` : releaseNewParts(parts, source)}
    ${recordStateChange('submitted', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}

/**
 * Nothing is stored if there are parts and the person has withdrawn since the answers were sealed, because an
 * owner compares the time in the seal with that of the withdrawal. `submitAnswers` checks and seals the
 * answers again, so that they count as given after the withdrawal; a single step fails as `unavailable`.
 */
function whereUnchanged({ id, version, parts, givenAt }: Commitment | PendingCommitment): Statement {
  const isWithdrawn = parts.length > 0 ? sql`AND NOT withdrawn_since(subject, ${givenAt})` : empty;
  return sql`
    WHERE ${isSubjectLocked} AND id = ${id} AND version = ${version} AND state = 'CREATED'
      AND expires_at > accord_now() ${isWithdrawn}`;
}

/** Whether an answer is a refusal; also in SQL: {@link withdrawnRecord}. */
function isRefusal({ type, value }: Pick<NewRecord, 'type' | 'value'>): boolean {
  return type !== 'preference' && value[0] === 'refused';
}

/**
 * SQL: the newest committed answer to the same question as each answer `g`, unless it took effect
 * after `at`. Columns: `by`, the new answer; `id`, `transaction` and `value` of the earlier one; `at`, when
 * the new answer takes effect.
 */
function earlierAnswers(
  given: Statement,
  { subject, object, at }: Record<'subject' | 'object' | 'at', Statement>,
): Statement {
  return sql`
      SELECT g.id AS by, old.id, old.transaction, old.value, ${at} AS at
        FROM ${given} CROSS JOIN LATERAL (
          SELECT r.id, r.transaction, r.value, r.committed_at FROM records AS r
           WHERE r.state = 'COMMITTED' AND r.subject = ${subject} AND r.object = ${object} AND r.key = g.key
           ORDER BY r.committed_at DESC, r.id DESC LIMIT 1) AS old
       WHERE old.committed_at <= ${at}`;
}

/** SQL: the acceptance in `earlier` that the answer `g` withdraws if it is a refusal. */
const withdrawnRecord = sql`CASE WHEN g.type <> 'preference' AND g.value = '{refused}' THEN (
           SELECT e.id FROM earlier AS e WHERE e.by = g.id AND e.value = '{accepted}') END`;

function givenRecords({ records }: Pick<Commitment, 'records'>): Statement {
  return sql`given AS (
      SELECT g.* FROM t, jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
          AS g (id uuid, key text, type text, serial text, "infoKey" text, "infoSerial" text, value text[],
                positions integer[], "expiresAt" timestamptz, withdraws uuid)
    )`;
}

const pending = { state: sql`'PENDING'`, committedAt: sql`NULL`, withdraws: sql`NULL::uuid` };

/**
 * Stores the records of `given`. This statement waits for a withdrawal for the same subject that is being
 * stored. A later withdrawal waits for this COMMIT and finds these records (docs/withdrawal.md, "The rule").
 */
function storeRecords(
  commitment: Omit<Commitment, 'receipt'>,
  { state, committedAt, withdraws }: Record<'state' | 'committedAt' | 'withdraws', Statement>,
): Statement {
  return sql`stored AS (
      INSERT INTO records (id, transaction, subject, object, key, type, serial, info_key, info_serial, value,
                           positions, state, origin, author, comment, created_at, committed_at, expires_at,
                           withdraws)
      SELECT g.id, t.id, t.subject, ${commitment.object}, g.key, g.type, g.serial, g."infoKey",
             g."infoSerial", g.value, g.positions, ${state}, ${commitment.origin},
             ${commitment.author}, ${commitment.comment}::text, ${commitment.givenAt}, ${committedAt},
             g."expiresAt", ${withdraws}
        FROM given AS g CROSS JOIN t
       CROSS JOIN ${subjectLockShared} AS shared
      RETURNING id, key, withdraws
    )`;
}

/** A transaction with submitted answers. */
export interface SubmittedTransaction extends ReadTransaction {
  /** The receipt's body without the facts of the commit. */
  draft: string;
  /** When a code confirmed the answers; null without a code. */
  confirmedAt: Date | null;
  /** {@link withdrawnSince}: times as JSON. */
  withdrawn: Readonly<Record<string, string>> | null;
}

export async function readSubmitted(db: Queries, id: string): Promise<SubmittedTransaction | undefined> {
  type Row = Transaction & { now: Date } & Omit<SubmittedTransaction, keyof ReadTransaction>;
  const row = await db.maybeOne<Row>(sql`
    SELECT ${transactionColumns}, accord_now() AS now, d.body AS draft, c.used_at AS "confirmedAt",
           ${withdrawnSince} AS withdrawn
      FROM transactions AS t JOIN receipt_drafts AS d ON d.transaction = t.id
      LEFT JOIN codes AS c ON c.transaction = t.id
     WHERE t.id = ${id} AND t.state = 'SUBMITTED'`);
  if (!row) return undefined;
  const { draft, confirmedAt, withdrawn, ...rest } = row;
  return { ...toReadTransaction(rest), draft, confirmedAt, withdrawn };
}

/**
 * Commits submitted answers in one statement: state, records, receipt, history and outbox rows. A child takes
 * over its parent's claim on the context. Parts that waited for a code are released, unless they were
 * withdrawn; for each part that its owner holds, the decision `commit` is released. A consent that was
 * withdrawn while it waited is stored with a `committed_at` before the withdrawal and all later answers, so
 * that it is never in force (`takes_effect_at`; docs/withdrawal.md, "The rule").
 * @param submitted.deadline of the parts that are released.
 * @param submitted.code number of the code that confirms the answers; marked as used.
 * @returns false if the transaction is no longer SUBMITTED, its deadline has passed (that of a transaction
 * with a leader has no effect), or the code was replaced or used. Then nothing is changed, except that the
 * code may have been marked as used.
 */
export async function commitSubmittedTransaction(
  db: Queries,
  submitted: {
    id: string;
    committedAt: Date;
    expiresAt: Date;
    deadline: Date;
    receipt: SignedReceipt;
    code?: number | undefined;
  },
  source: string,
): Promise<boolean> {
  const { id, committedAt, expiresAt, deadline, receipt, code } = submitted;
  const confirmed = { subject: sql`g.subject`, object: sql`g.object`, at: sql`g.at` };
  const isUsed = code === undefined ? empty : sql`AND EXISTS (SELECT FROM used)`;
  const row = await db.maybeOne(sql`
    WITH ${lockSubjectOf(id)}, ${code === undefined ? empty : sql`used AS (${useCode(id, code, isSubjectLocked)}), `}t AS (
      UPDATE transactions
         SET state = 'COMMITTED', version = version + 1, changed_at = ${committedAt}, awaits_code = false
       WHERE ${isSubjectLocked} AND id = ${id} AND state = ANY(${statesBefore('commit-submitted')}::text[])
         AND (expires_at > accord_now() OR leader IS NOT NULL) ${isUsed}
      RETURNING *
    ), given AS (
      SELECT r.id, r.subject, r.key, r.object, r.type, r.value,
             takes_effect_at(r.subject, r.object, r.key, r.type = 'processing' AND r.value = '{accepted}',
                             r.created_at, ${arrivedAt}, t.leader->>'location', ${committedAt}) AS at
        FROM t JOIN records AS r ON r.transaction = t.id WHERE r.state = 'PENDING'
    ), earlier AS (${earlierAnswers(sql`given AS g`, confirmed)}
    ), superseded AS (${supersededEvents(sql`earlier`, source)}
    ), stored AS (
      UPDATE records AS r
         SET state = 'COMMITTED', committed_at = g.at,
             expires_at = CASE WHEN r.expires_at IS NULL THEN NULL ELSE ${expiresAt}::timestamptz END,
             withdraws = ${withdrawnRecord}
        FROM given AS g WHERE r.id = g.id
      RETURNING r.id, r.key, r.withdraws
    ), withdrawn AS (${withdrawnEvents(committedAt, source)}
    ), ${storeReceipt(receipt)}, undrafted AS (
      DELETE FROM receipt_drafts AS d USING t WHERE d.transaction = t.id
    ), claim AS (
      UPDATE context_claims AS c SET transaction = t.id FROM t WHERE c.transaction = t.parent
    ), held AS (
      SELECT f.sid, f.location FROM t JOIN followers AS f ON f.transaction = t.id WHERE f.state = 'HELD'
    ), decided AS (${partEvents('decided', { from: sql`held`, source, decision: 'commit' })}
    ), ${releaseWaitingParts(deadline, source)}, ${recordStateChange('committed', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}
