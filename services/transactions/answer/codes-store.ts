import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { TaskScope } from '../transaction/access.ts';
import { toReadTransaction, transactionColumns } from '../transaction/store.ts';
import type { ReadTransaction, Transaction } from '../transaction/transaction.ts';
import { type Code, maxTries, type NewCode } from './code.ts';

const columns = sql`c.number, c.mac, c.sealed, c.tries, c.created_at AS "createdAt", c.expires_at AS "expiresAt",
  c.used_at AS "usedAt"`;

/** A transaction with its last code and the draft of its receipt, each null if there is none. */
export interface TransactionWithCode extends ReadTransaction {
  code: Code | null;
  draft: string | null;
}

interface TransactionCodeRow extends Transaction, Omit<Code, 'number' | 'createdAt' | 'expiresAt'> {
  now: Date;
  draft: string | null;
  number: number | null;
  codeCreatedAt: Date;
  codeExpiresAt: Date;
}

export async function readTransactionWithCode(
  db: Queries,
  id: string,
): Promise<TransactionWithCode | undefined> {
  const row = await db.maybeOne<TransactionCodeRow>(sql`
    SELECT ${transactionCodeColumns} FROM ${transactionWithCode(id)}`);
  return row && toTransactionWithCode(row);
}

const transactionCodeColumns = sql`${transactionColumns}, accord_now() AS now, d.body AS draft,
  c.number, c.mac,
  c.sealed, c.tries, c.created_at AS "codeCreatedAt", c.expires_at AS "codeExpiresAt", c.used_at AS "usedAt"`;

function transactionWithCode(id: string): Statement {
  return sql`transactions AS t
      LEFT JOIN codes AS c ON c.transaction = t.id
      LEFT JOIN receipt_drafts AS d ON d.transaction = t.id
     WHERE t.id = ${id}`;
}

function toTransactionWithCode(row: TransactionCodeRow): TransactionWithCode {
  const { draft, number, mac, sealed, tries, codeCreatedAt, codeExpiresAt, usedAt, ...rest } = row;
  const times = { createdAt: codeCreatedAt, expiresAt: codeExpiresAt, usedAt };
  const code = number === null ? null : { number, mac, sealed, tries, ...times };
  return { ...toReadTransaction(rest), code, draft };
}

/** A common table expression that stores the first code of the transaction in `t`. */
export function storeCode({ mac, sealed, ttl }: NewCode): Statement {
  return sql`code AS (
      INSERT INTO codes (transaction, mac, sealed, created_at, expires_at)
      SELECT t.id, ${mac}, ${sealed}::bytea, accord_now(), ${expiryAfter(ttl, sql`t.expires_at`)} FROM t
    )`;
}

/** No code is valid for longer than its transaction. */
function expiryAfter(seconds: number, deadline: Statement): Statement {
  return sql`least(accord_now() + ${seconds} * interval '1 second', ${deadline})`;
}

/** When the code of a transaction expires, and the time now; undefined if it awaits no code. */
export function readCodeLife(db: Queries, transaction: string): Promise<CodeLife | undefined> {
  return db.maybeOne<CodeLife>(sql`
    SELECT c.expires_at AS "expiresAt", accord_now() AS now
      FROM codes AS c WHERE c.transaction = ${transaction} AND c.used_at IS NULL`);
}

type CodeLife = Pick<Code, 'expiresAt'> & { now: Date };

/** A transaction as it was before an attempt with its code. */
export interface CodeAttempt {
  read: TransactionWithCode;
  /** Attempts with the code including this one; undefined if it was not counted. */
  tries: number | undefined;
}

/**
 * Counts an attempt with a code before it is evaluated, so that parallel guesses cannot exceed the limit. An
 * attempt is not counted if the code is used, expired or exhausted, or the transaction is out of scope.
 */
export async function countAttempt(
  db: Queries,
  id: string,
  scope: TaskScope,
): Promise<CodeAttempt | undefined> {
  const { subject, epoch } = { subject: null, epoch: null, ...scope };
  const row = await db.maybeOne<TransactionCodeRow & { counted: number | null }>(sql`
    WITH counted AS (
      UPDATE codes AS c SET tries = c.tries + 1 FROM transactions AS t
       WHERE t.id = ${id} AND c.transaction = t.id AND c.used_at IS NULL AND c.tries < ${maxTries}
         -- If this statement waited until the code was replaced, the attempt is not counted for the new code.
         AND c.number = (SELECT o.number FROM codes AS o WHERE o.transaction = ${id})
         AND c.expires_at > accord_now()
         AND (${subject}::text IS NULL OR t.subject = ${subject})
         AND (${epoch}::integer IS NULL OR t.token_epoch <= ${epoch})
      RETURNING c.number, c.tries
    )
    SELECT (SELECT a.tries FROM counted AS a WHERE a.number = c.number) AS counted, ${transactionCodeColumns}
      FROM ${transactionWithCode(id)}`);
  if (!row) return undefined;
  const { counted, ...read } = row;
  return { read: toTransactionWithCode(read), tries: counted ?? undefined };
}

/**
 * Marks a code as used. The statement returns no row if the code was used or replaced before. It locks the
 * transaction before its code, as a cancellation does.
 */
export function useCode(transaction: string, number: number): Statement {
  return sql`
      UPDATE codes AS c SET used_at = accord_now(), sealed = NULL
        FROM (SELECT l.id FROM transactions AS l WHERE l.id = ${transaction} FOR NO KEY UPDATE) AS own
       WHERE c.transaction = own.id AND c.number = ${number} AND c.used_at IS NULL
      RETURNING c.number`;
}

/**
 * Replaces a code that was made at least `after` seconds ago. Locks as {@link useCode}.
 * @returns undefined if the code is newer, used or replaced, or its transaction awaits no code any more.
 */
export function replaceCode(
  tx: Queries,
  { transaction, after, code }: { transaction: string; after: number; code: NewCode },
): Promise<Code | undefined> {
  return tx.maybeOne<Code>(sql`
    UPDATE codes AS c
       SET number = ${code.number}, mac = ${code.mac}, sealed = ${code.sealed}::bytea, tries = 0,
           created_at = accord_now(), expires_at = ${expiryAfter(code.ttl, sql`own.expires_at`)}
      FROM (SELECT t.id, t.expires_at FROM transactions AS t
             WHERE t.id = ${transaction} AND t.state = 'SUBMITTED' AND t.awaits_code FOR NO KEY UPDATE) AS own
     WHERE c.transaction = own.id AND c.number = ${code.number - 1} AND c.used_at IS NULL
       AND c.created_at <= accord_now() - ${after} * interval '1 second'
    RETURNING ${columns}`);
}
