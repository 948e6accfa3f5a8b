import { recordAction } from '#lib/audit/record-action.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import type { Message } from '../messages/message.ts';
import type { Messaging } from '../messages/queue.ts';
import { readSubject } from '../person/store.ts';
import { noSuchTransaction, requireOpen } from '../transaction/access.ts';
import { type InvitationChannel, invitationChannels } from '../transaction/context.ts';
import { type Destination, mailDestination, smsDestination } from '../transaction/destination.ts';
import { readKnownNumber } from '../transaction/newest-contact.ts';
import { readTransaction } from '../transaction/store.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { creatorOf, isAwaitingCode } from '../transaction/transaction.ts';
import { invalid } from '../transaction/values.ts';

/** How an invitation is sent. */
export interface Invitation {
  channel: InvitationChannel;
  /** Where a text message goes, as it was sent; absent: to the known number. */
  phoneNumber?: string;
}

/**
 * Reads the body of a request to invite. Other members, and bodies that are not objects, are ignored, because
 * existing clients send them.
 * @throws Failure `invalid` for another channel, or a number that is not a text, or too long.
 */
export function readInvitation(body: unknown): Invitation {
  const { channel: given, phoneNumber } = (body ?? {}) as Record<string, unknown>;
  const channel = given ? invitationChannels.find((name) => name === given) : 'EMAIL';
  if (!channel) throw refuse(invalid('/channel', `must be one of ${invitationChannels.join(', ')}`));
  if (channel === 'EMAIL' || !phoneNumber) return { channel };
  // The contract's check leaves out this body.
  if (typeof phoneNumber !== 'string' || phoneNumber.length > maxNumberLength) throw refuse(notNumber);
  return { channel, phoneNumber };
}

/** As in openapi.yaml, `InvitationInput`; UTF-16 units. */
const maxNumberLength = 100;

const refuse = (fault: Fault, detail = 'The invitation is not valid.') =>
  fail('invalid', detail, { errors: [fault] });

const notNumber = invalid(
  '/phoneNumber',
  'must be a telephone number with its country code, such as +33 6 39 98 00 01',
);

const noNumber =
  'Neither the transaction (subjectInfos.phoneNumber) nor its subject has a valid telephone number.';

/**
 * Sends the URL of an open transaction to its subject.
 * @throws Failure `not-found`, `wrong-state`, `expired`, `not-available`, `invalid` without a valid address
 * or number, `too-many-requests`.
 */
export async function inviteSubject(
  { db, instance, messaging }: { db: Database; instance: { baseUrl: string }; messaging: Messaging },
  { id, principal, invitation }: { id: string; principal: Principal; invitation: Invitation },
): Promise<Message> {
  const read = await readTransaction(db, id);
  if (!read) throw noSuchTransaction();
  if (!isAwaitingCode(read)) requireOpen(read, instance.baseUrl);
  requireChannel(messaging, invitation);
  return db.withTransaction(async (tx) => {
    const message = await queueInvitation(tx, messaging, read.transaction, {
      ...invitation,
      causedBy: creatorOf(principal),
    });
    await recordAction(tx, { action: 'invitation.sent', target: `transaction/${id}` });
    return message;
  });
}

/**
 * Queues the invitation to an open transaction, to its address or number, or else to the subject's. Only the
 * organisation invites.
 * @param how.causedBy who invites (`creatorOf`).
 * @throws Failure `invalid` without a valid address or number, `not-found` if the transaction was erased,
 * `too-many-requests`.
 */
export async function queueInvitation(
  tx: Queries,
  messaging: Messaging,
  transaction: Pick<Transaction, 'id' | 'subject' | 'context'>,
  { causedBy, ...invitation }: Invitation & { causedBy: string },
): Promise<Message> {
  const destinationOf = invitation.channel === 'SMS' ? numberFor : addressFor;
  const destination = await destinationOf(tx, transaction, invitation);
  const message = { transaction: transaction.id, kind: 'invitation', destination, causedBy } as const;
  const queued = await messaging.queue(tx, message, 'refuse');
  if (!queued) throw noSuchTransaction();
  return queued;
}

function requireChannel({ channels }: Messaging, { channel }: Invitation): void {
  if (channel === 'EMAIL' && !channels.mail)
    throw fail('not-available', 'Mail is not configured on this instance (MAIL_URL).');
  if (channel === 'EMAIL' || channels.sms) return;
  const detail = 'needs SMS, which is not configured (SMS_URL)';
  throw fail('not-available', 'SMS is not configured on this instance (SMS_URL).', {
    errors: [{ pointer: '/channel', code: 'not-available', detail }],
  });
}

type Invited = Pick<Transaction, 'subject' | 'context'>;

async function addressFor(tx: Queries, { subject, context }: Invited): Promise<Destination> {
  const address = context.subjectInfos?.emailAddress ?? (await readSubject(tx, subject))?.emailAddress;
  const destination = mailDestination(address ?? '');
  if (destination) return destination;
  throw fail(
    'invalid',
    'Neither the transaction (subjectInfos.emailAddress) nor its subject has a valid e-mail address.',
  );
}

async function numberFor(
  tx: Queries,
  { subject, context }: Invited,
  { phoneNumber }: Invitation,
): Promise<Destination> {
  const number =
    phoneNumber ?? context.subjectInfos?.phoneNumber ?? (await readKnownNumber(tx, subject)) ?? '';
  const destination = smsDestination(number);
  if (destination) return destination;
  throw refuse(notNumber, phoneNumber === undefined ? noNumber : undefined);
}
