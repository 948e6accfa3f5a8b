import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { NewTransaction, ReadTransaction, Transaction } from '../domain/transaction.ts';
import { recordStateChange } from './events.ts';
import { toReadTransaction, transactionColumns } from './transactions.ts';

type Row = Transaction & { now: Date };

/**
 * Claims a context's digest and creates its transaction in one statement, with history, subject and event.
 * @returns undefined if the digest is claimed already.
 */
export async function insertClaiming(
  db: Queries,
  digest: Buffer,
  created: NewTransaction,
  source: string,
): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Row>(sql`
    WITH claim AS (
      INSERT INTO context_claims (digest, transaction) VALUES (${digest}, ${created.id})
      ON CONFLICT (digest) DO NOTHING RETURNING transaction
    ), ${inserted(created, source, sql`FROM claim`)}
    SELECT ${transactionColumns}, accord_now() AS now FROM t`);
  return row && toReadTransaction(row);
}

/** Creates a transaction without a claim: a child, or one to which the caller repoints a claim. */
export async function insertTransaction(
  db: Queries,
  created: NewTransaction,
  source: string,
): Promise<ReadTransaction> {
  const row = await db.one<Row>(sql`
    WITH ${inserted(created, source, empty)}
    SELECT ${transactionColumns}, accord_now() AS now FROM t`);
  return toReadTransaction(row);
}

function inserted(
  { id, context, layout, author, parent, leader }: NewTransaction,
  source: string,
  from: Statement,
): Statement {
  return sql`t AS (
      INSERT INTO transactions (id, subject, state, version, context, layout, author, parent, leader,
                                created_at, changed_at, expires_at)
      SELECT ${id}, ${context.subject}, 'CREATED', 1, ${JSON.stringify(context)}::jsonb,
             ${JSON.stringify(layout)}::jsonb, ${author}, ${parent}::text, ${leader}::jsonb,
             accord_now(), accord_now(),
             accord_now() + ${context.timeout}::interval ${from}
      RETURNING *
    ), ${storeSubject()}, ${recordStateChange('created', source)}`;
}

/** A common table expression that stores the subject of the transaction in `t` if it is new. */
export function storeSubject(): Statement {
  return sql`subject AS (
      INSERT INTO subjects (id, name, email_address, default_language, created_at, modified_at)
      SELECT ${newUuid()}::uuid, t.subject, t.context->'subjectInfos'->>'emailAddress',
             t.context->>'language', t.created_at, t.created_at FROM t
      ON CONFLICT (name) DO NOTHING
    )`;
}

/** The transaction that holds the claim on a digest. */
export async function readClaimed(db: Queries, digest: Buffer): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Row>(sql`
    SELECT ${transactionColumns}, accord_now() AS now
      FROM context_claims AS c JOIN transactions AS t ON t.id = c.transaction
     WHERE c.digest = ${digest}`);
  return row && toReadTransaction(row);
}

/** Locks a claim until the end of the database transaction. */
export async function lockClaim(tx: Queries, digest: Buffer): Promise<void> {
  await tx.query(sql`SELECT c.transaction FROM context_claims AS c WHERE c.digest = ${digest} FOR UPDATE`);
}

/** Gives a locked claim to another transaction. */
export async function repointClaim(tx: Queries, digest: Buffer, transaction: string): Promise<void> {
  await tx.query(sql`UPDATE context_claims AS c SET transaction = ${transaction} WHERE c.digest = ${digest}`);
}
