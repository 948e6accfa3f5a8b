import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { ConsentContext } from '../transaction/context.ts';
import { toReadTransaction, transactionColumns } from '../transaction/store.ts';
import type { NewTransaction, ReadTransaction, Transaction } from '../transaction/transaction.ts';

/**
 * Gives a CREATED transaction, whose claim is locked, the `author` and the `notificationRecipient` of an
 * equal context; the digest leaves them out (`contextDigest`). If the transaction is answered meanwhile,
 * `storeAnswers` stores nothing and all is rolled back.
 */
export async function replaceUncounted(
  tx: Queries,
  read: ReadTransaction,
  { context: { author, notificationRecipient }, author: creator }: Pick<NewTransaction, 'context' | 'author'>,
): Promise<ReadTransaction> {
  const { author: _author, notificationRecipient: _recipient, ...counted } = read.transaction.context;
  const context: ConsentContext = {
    ...counted,
    ...(author !== undefined && { author }),
    ...(notificationRecipient !== undefined && { notificationRecipient }),
  };
  await tx.query(sql`
    UPDATE transactions SET context = ${JSON.stringify(context)}::jsonb, author = ${creator}
     WHERE id = ${read.transaction.id}`);
  return { ...read, transaction: { ...read.transaction, context, author: creator } };
}

/**
 * Gives an open transaction the `validity` of an equal context, which may give the default or leave it out:
 * what is given limits the validity of elements (`validityOf`).
 */
export async function takeValidity(
  db: Queries,
  read: ReadTransaction,
  { validity }: Pick<ConsentContext, 'validity'>,
): Promise<ReadTransaction> {
  const { id, state, context } = read.transaction;
  if (state !== 'CREATED' || validity === context.validity) return read;
  const row = await db.maybeOne<Pick<Transaction, 'context'>>(sql`
    UPDATE transactions AS t SET context = t.context - 'validity' || ${JSON.stringify({ validity })}::jsonb
     WHERE t.id = ${id} AND t.state = 'CREATED'
    RETURNING t.context`);
  return row ? { ...read, transaction: { ...read.transaction, ...row } } : read;
}

/** The transaction that holds the claim on a digest. */
export async function readClaimed(db: Queries, digest: Buffer): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Transaction & { now: Date }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now
      FROM context_claims AS c JOIN transactions AS t ON t.id = c.transaction
     WHERE c.digest = ${digest}`);
  return row && toReadTransaction(row);
}

/**
 * Locks a claim until the end of the database transaction. If an erasure has deleted the claim meanwhile, it
 * is inserted for `transaction`, so that concurrent equal requests wait in that case, too.
 */
export async function lockClaim(tx: Queries, digest: Buffer, transaction: string): Promise<void> {
  await tx.query(sql`
    INSERT INTO context_claims AS c (digest, transaction) VALUES (${digest}, ${transaction})
    ON CONFLICT (digest) DO UPDATE SET transaction = c.transaction`);
}

/** Gives a locked claim to another transaction. */
export async function repointClaim(tx: Queries, digest: Buffer, transaction: string): Promise<void> {
  await tx.query(sql`UPDATE context_claims AS c SET transaction = ${transaction} WHERE c.digest = ${digest}`);
}
