import { sql } from '#lib/db/sql.ts';
import type { ReadTransaction, Transaction } from '../domain/transaction.ts';

/** A transaction's columns, named as the domain names them; the table's alias must be `t`. */
export const transactionColumns = sql`
  t.id, t.subject, t.state, t.version, t.context, t.layout, t.author, t.parent, t.token_epoch AS "tokenEpoch",
  t.answers_digest AS "answersDigest", t.leader, t.created_at AS "createdAt", t.changed_at AS "changedAt", t.expires_at AS "expiresAt"`;

type Row = Transaction & { now: Date };

/** Splits a row into the transaction and the database's time. */
export function toReadTransaction({ now, ...transaction }: Row): ReadTransaction {
  return { transaction, now };
}
