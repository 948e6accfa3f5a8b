import { recordAction } from '#lib/audit/record-action.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Message } from '../messages/message.ts';
import type { Messaging } from '../messages/queue.ts';
import { readSubject } from '../person/store.ts';
import { noSuchTransaction, requireOpen } from '../transaction/access.ts';
import { mailDestination } from '../transaction/destination.ts';
import { readTransaction } from '../transaction/store.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { creatorOf, isAwaitingCode } from '../transaction/transaction.ts';

/**
 * Mails the URL of an open transaction to its subject.
 * @throws Failure `not-found`, `wrong-state`, `expired`, `not-available`, `invalid` without a valid address,
 * `too-many-requests`.
 */
export async function inviteSubject(
  { db, instance, messaging }: { db: Database; instance: { baseUrl: string }; messaging: Messaging },
  { id, principal }: { id: string; principal: Principal },
): Promise<Message> {
  const read = await readTransaction(db, id);
  if (!read) throw noSuchTransaction();
  if (!isAwaitingCode(read)) requireOpen(read, instance.baseUrl);
  if (!messaging.channels.mail)
    throw fail('not-available', 'Mail is not configured on this instance (MAIL_URL).');
  return db.withTransaction(async (tx) => {
    const message = await queueInvitation(tx, messaging, read.transaction, creatorOf(principal));
    await recordAction(tx, { action: 'invitation.sent', target: `transaction/${id}` });
    return message;
  });
}

/**
 * Queues the invitation to an open transaction, to its address or else to the subject's. Only the
 * organisation invites.
 * @param causedBy who invites (`creatorOf`).
 * @throws Failure `invalid` without a valid address, `not-found` if the transaction was erased,
 * `too-many-requests`.
 */
export async function queueInvitation(
  tx: Queries,
  messaging: Messaging,
  { id, subject, context }: Pick<Transaction, 'id' | 'subject' | 'context'>,
  causedBy: string,
): Promise<Message> {
  const address = context.subjectInfos?.emailAddress ?? (await readSubject(tx, subject))?.emailAddress;
  const destination = mailDestination(address ?? '');
  if (!destination)
    throw fail(
      'invalid',
      'Neither the transaction (subjectInfos.emailAddress) nor its subject has a valid e-mail address.',
    );
  const message = { transaction: id, kind: 'invitation', destination, causedBy } as const;
  const queued = await messaging.queue(tx, message, 'refuse');
  if (!queued) throw noSuchTransaction();
  return queued;
}
