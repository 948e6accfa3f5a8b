import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Transaction } from '../domain/transaction.ts';
import type { StandingAnswer } from '../domain/withdrawal.ts';
import { storeCommittedAnswers } from './commit-transaction.ts';
import { recordCreationAndCommit } from './events.ts';
import { arrivedAt, storeSubject } from './transactions.ts';

/**
 * Waits for all submissions of a subject that are being stored, and makes later ones wait for the end of the
 * database transaction (docs/withdrawal.md, "The rule"). The shared lock: `subjectLockShared`.
 */
export async function lockSubject(tx: Queries, subject: string): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('subject'), hashtext(${subject}))`);
}

/**
 * Waits for the parts and withdrawals of a transaction's subject that are being stored, so that a later
 * statement sees them.
 */
export async function lockParts(tx: Queries, transaction: string): Promise<void> {
  await tx.query(sql`
    SELECT pg_advisory_xact_lock_shared(hashtext('subject'), hashtext(t.subject)),
           pg_advisory_xact_lock(hashtext('parts'), hashtext(t.subject))
      FROM transactions AS t WHERE t.id = ${transaction}`);
}

/** Columns of {@link StandingAnswer} of a record `r` and its transaction `t`. */
const standingColumns = sql`
  r.id, r.transaction, r.object, r.key, r.type, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial",
  r.value, coalesce(r.committed_at, least(r.created_at, ${arrivedAt})) AS at, r.created_at AS "givenAt", t.kind,
  t.parent,
  leader_of(t.id) AS leader`;

/**
 * The newest committed answer to each question about an object, then consents that may come into force later
 * ({@link waitingConsents}), and the database's clock.
 */
export function readStanding(
  db: Queries,
  { subject, object, keys }: { subject: string; object: string; keys: readonly string[] },
): Promise<Standing> {
  return readAnswers(db, {
    newest: sql`
      SELECT newest.* FROM unnest(${keys}::text[]) AS element (key)
       CROSS JOIN LATERAL (
         SELECT ${standingColumns} FROM records AS r JOIN transactions AS t ON t.id = r.transaction
          WHERE r.state = 'COMMITTED' AND r.subject = ${subject} AND r.object = ${object}
            AND r.key = element.key
          ORDER BY r.committed_at DESC, r.id DESC LIMIT 1) AS newest`,
    waiting: waitingConsents(subject, sql`AND r.object = ${object} AND r.key = ANY(${keys}::text[])`),
  });
}

/** As {@link readStanding}, for every question about every object that a person has answered. */
export function readAllStanding(db: Queries, subject: string): Promise<Standing> {
  return readAnswers(db, {
    newest: sql`
      SELECT DISTINCT ON (r.object, r.key) ${standingColumns}
        FROM records AS r JOIN transactions AS t ON t.id = r.transaction
       WHERE r.state = 'COMMITTED' AND r.subject = ${subject}
       ORDER BY r.object, r.key, r.committed_at DESC, r.id DESC`,
    waiting: waitingConsents(subject),
  });
}

/**
 * SQL: for each question the newest consent that waits for a code, for peers or for its leader's decision.
 * Consents that were withdrawn since they were given, or whose deadline has passed, are left out.
 */
function waitingConsents(subject: string, about: Statement = empty): Statement {
  return sql`
      SELECT DISTINCT ON (r.object, r.key) ${standingColumns}
        FROM transactions AS t JOIN records AS r ON r.transaction = t.id
       WHERE t.subject = ${subject} AND t.state = 'SUBMITTED'
         AND (t.expires_at > accord_now() OR t.leader IS NOT NULL)
         AND r.state = 'PENDING' AND r.type <> 'preference' AND r.value = '{accepted}' ${about}
         AND NOT EXISTS (
           SELECT FROM records AS n
            WHERE n.state = 'COMMITTED' AND n.subject = r.subject AND n.object = r.object AND n.key = r.key
              AND n.committed_at > r.created_at - interval '1 minute' AND n.value = '{refused}'
              AND is_later(n, r.created_at, ${arrivedAt}, t.leader->>'location'))
       ORDER BY r.object, r.key, r.created_at DESC, r.id DESC`;
}

interface Standing {
  clock: Date;
  standing: StandingAnswer[];
}

async function readAnswers(
  db: Queries,
  { newest, waiting }: Record<'newest' | 'waiting', Statement>,
): Promise<Standing> {
  type Stored = Omit<StandingAnswer, 'at' | 'givenAt'> & { at: string; givenAt: string };
  const listed = (answers: Statement) => sql`
           (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.object, a.key), '[]'::jsonb) FROM (${answers}) AS a)`;
  const { clock, standing } = await db.one<{ clock: Date; standing: Stored[] }>(sql`
    SELECT clock_timestamp() + (accord_now() - now()) AS clock, ${listed(newest)} || ${listed(waiting)} AS standing`);
  const read = ({ at, givenAt, ...answer }: Stored): StandingAnswer => ({
    ...answer,
    at: new Date(at),
    givenAt: new Date(givenAt),
  });
  return { clock, standing: standing.map(read) };
}

/** Bodies of receipts, or of their drafts before the commit, by transaction. */
export async function readReceiptBodies(
  db: Queries,
  transactions: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ transaction: string; body: string }>(sql`
    SELECT r.transaction, r.body FROM receipts AS r WHERE r.transaction = ANY(${transactions}::text[])
    UNION ALL
    SELECT d.transaction, d.body FROM receipt_drafts AS d WHERE d.transaction = ANY(${transactions}::text[])`);
  return new Map(rows.map(({ transaction, body }) => [transaction, body]));
}

/** Stores a withdrawal: a transaction that is created and committed at once. */
export async function insertWithdrawal(
  tx: Queries,
  created: Transaction,
  commitment: Commitment,
  source: string,
): Promise<void> {
  await tx.one(sql`
    WITH ${insertCommitted(created, commitment, source)}
    SELECT t.id FROM t`);
}

/**
 * Common table expressions that store a transaction as if it had been created and then committed: with its
 * records, receipt, history and events.
 * @param from SQL: `FROM` and a relation of one row, or of none to store nothing.
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
                                is_address_known, parent, leader, answers_digest, created_at, changed_at, expires_at, notice_at)
      SELECT ${id}, ${subject}, 'COMMITTED', ${commitment.version + 1}::int,
             ${JSON.stringify(context)}::jsonb, ${JSON.stringify(layout)}::jsonb, ${kind}::text, ${author},
             ${created.createdBy}::text, ${created.isAddressKnown}::boolean, ${parent}::text, ${leader}::jsonb, ${commitment.answersDigest}::bytea,
             ${createdAt}::timestamptz, ${commitment.submittedAt}::timestamptz, ${expiresAt}::timestamptz,
             ${commitment.noticeAt}::timestamptz
        ${from}
      RETURNING *
    ), ${storeSubject()}, ${storeCommittedAnswers(commitment, source)},
    ${recordCreationAndCommit(source)}`;
}
