import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Settlement } from '#lib/deliveries/delivery-kind.ts';

/** A mail to a person with an account, as it is stored. */
export interface NewAccountMail {
  id: string;
  account: string;
  /** Address, link and language, encrypted. */
  sealed: Buffer;
  /** When its link expires: it is not sent later. */
  expiresAt: Date;
}

/** Stores a mail, which is sent after the COMMIT. */
export async function insertAccountMail(tx: Queries, mail: NewAccountMail): Promise<void> {
  await tx.query(sql`
    INSERT INTO account_mails (id, account, queue, sealed, not_before, expires_at)
    VALUES (${mail.id}, ${mail.account}, 'accounts', ${mail.sealed}, accord_now(), ${mail.expiresAt})`);
}

/** The mails of the last day to a mailbox, and those of the last hour to all, before a further one. */
export interface CountedMails {
  toMailbox: number;
  ofHour: number;
}

/** Counts mails, until the COMMIT alone: mails that are queued at once cannot exceed the limits together. */
export async function countAccountMails(tx: Queries, mailbox: Buffer): Promise<CountedMails> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('accord account mails'))`);
  const row = await tx.maybeOne<CountedMails>(sql`
    SELECT (SELECT count(*)::int FROM account_mail_counts AS c
             WHERE c.mailbox = ${mailbox} AND c.queued_at > accord_now() - interval '1 day') AS "toMailbox",
           (SELECT count(*)::int FROM account_mail_counts AS c
             WHERE c.queued_at > accord_now() - interval '1 hour') AS "ofHour"`);
  return row ?? { toMailbox: 0, ofHour: 0 };
}

/** Counts one more mail to a mailbox. */
export async function addAccountMail(tx: Queries, mailbox: Buffer): Promise<void> {
  await tx.query(sql`
    INSERT INTO account_mail_counts (mailbox, queued_at) VALUES (${mailbox}, accord_now())`);
}

/** Deletes what counts no more. */
export async function deleteOldMailCounts(db: Queries): Promise<void> {
  await db.query(sql`DELETE FROM account_mail_counts WHERE queued_at < accord_now() - interval '1 day'`);
}

/** Tables and conditions for the delivery engine (docs/adr/0020-one-delivery-engine.md). */
export const accountMailTables = {
  targets: sql`mail_queues`,
  targetKey: sql`t.name`,
  targetKeyType: sql`text`,
  ready: sql`true`,
  generation: sql`''`,
  rows: sql`account_mails`,
  rowKey: sql`d.id`,
  rowKeyType: sql`uuid`,
  rowTarget: sql`d.queue`,
  due: sql`d.not_before <= accord_now()`,
  columns: sql`d.id, d.account, d.sealed, d.attempts, d.expires_at < accord_now() AS "isExpired"`,
};

/** Records attempts: a mail that is to be sent again waits, every other is deleted. */
export async function settleAccountMails(
  tx: Queries,
  settlements: readonly Settlement<{ id: string }, unknown>[],
): Promise<void> {
  const again = settlements.filter(({ ending }) => ending === 'retry');
  const over = settlements.filter(({ ending }) => ending !== 'retry');
  await tx.query(sql`DELETE FROM account_mails WHERE id = ANY(${over.map(({ row }) => row.id)}::uuid[])`);
  await tx.query(sql`
    UPDATE account_mails AS m
       SET attempts = m.attempts + 1, not_before = accord_now() + n.wait * interval '1 millisecond'
      FROM unnest(${again.map(({ row }) => row.id)}::uuid[], ${again.map(({ waitMs }) => waitMs)}::float[])
        AS n (id, wait)
     WHERE m.id = n.id`);
}
