import type { MessageChannel, MessageKind } from '#lib/contracts/messages.ts';
import type { Queries } from '#lib/db/database.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import { readProvenMail } from '../person/contacts-sql.ts';
import type { Channels } from '../transaction/context.ts';
import {
  codeDestination,
  type Destination,
  mailDestination,
  notificationAddress,
} from '../transaction/destination.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { DestinationDigests, Message } from './message.ts';

/** Queues messages in the database transaction that causes them (`createMessaging`). */
export interface Messaging {
  channels: Channels;
  /** Seals and opens codes that are shown. */
  box: SecretBox;
  addressOf: DestinationDigests['addressOf'];
  /**
   * Counts the last hour once for a few messages of a campaign.
   * @returns for each further message: for how many seconds the limits forbid it; 0: it may be sent
   * now, and counts.
   */
  openHour(tx: Queries, channel: MessageChannel): Promise<(destination: Destination) => Promise<number>>;
  /**
   * Queues a message; it is sent after the COMMIT (docs/messages.md).
   * @param whenLimited above a limit, `refuse` throws. With `record` the message waits above an hourly limit,
   * and is stored as failed above another one; with `drop`, there is none then.
   * @returns undefined if there is no message: dropped, or the transaction has been erased meanwhile.
   * @throws Failure `too-many-requests` with Retry-After.
   */
  queue(
    tx: Queries,
    request: MessageRequest,
    whenLimited?: 'refuse' | 'record' | 'drop',
  ): Promise<Message | undefined>;
}

export interface MessageRequest {
  /** Null for `choices`. */
  transaction: string | null;
  kind: MessageKind;
  destination: Destination;
  /** Who causes the message (`creatorOf`); null: not known. */
  causedBy: string | null;
  from?: string | undefined;
  code?: { number: number; text: string };
  /** Of a message about no transaction, BCP 47. */
  language?: string | undefined;
}

/**
 * Queues the message that carries the code of a transaction. A FORM_CODE is shown and never sent.
 * @throws Failure `too-many-requests` with Retry-After.
 */
export async function queueCode(
  tx: Queries,
  messaging: Messaging,
  { id, context, createdBy }: Pick<Transaction, 'id' | 'context' | 'createdBy'>,
  code: { number: number; text: string },
): Promise<void> {
  const destination = codeDestination(context);
  if (!destination) return;
  const { senderEmail, senderPhone } = context.confirmationConfig ?? {};
  const from = destination.channel === 'mail' ? senderEmail : senderPhone;
  const message = { transaction: id, kind: 'code', destination, causedBy: createdBy, from, code } as const;
  await messaging.queue(tx, message, 'refuse');
}

/**
 * Whether the commit of a transaction may queue a notification: mail is configured, and the layout names a
 * model for it.
 */
export function isNotified({ channels }: Messaging, { layout }: Pick<Transaction, 'layout'>) {
  return channels.mail !== null && layout.notification !== undefined;
}

/**
 * Queues the notification of a committed transaction, if mail is configured, the layout names a model and
 * there is a valid address.
 */
export async function queueNotification(
  tx: Queries,
  messaging: Messaging,
  transaction: Pick<Transaction, 'id' | 'context' | 'layout' | 'createdBy' | 'isAddressKnown'>,
): Promise<void> {
  const destination = notificationAddress(transaction);
  if (!destination || !isNotified(messaging, transaction)) return;
  const { id, createdBy } = transaction;
  await messaging.queue(tx, {
    transaction: id,
    kind: 'notification',
    destination,
    causedBy: createdBy,
  });
}

/**
 * Queues the mail about a withdrawal that staff made, to the address of the transaction, or else to that by
 * which the organisation knows the person. Without a valid one there is no mail.
 */
export async function queueWithdrawalNews(
  tx: Queries,
  messaging: Messaging,
  withdrawal: Pick<Transaction, 'id' | 'subject' | 'context' | 'createdBy' | 'isAddressKnown'>,
): Promise<void> {
  if (!messaging.channels.mail) return;
  const known = async () => mailDestination((await readProvenMail(tx, withdrawal.subject)) ?? '');
  const destination = notificationAddress(withdrawal) ?? (await known());
  if (!destination) return;
  const { id: transaction, createdBy: causedBy } = withdrawal;
  await messaging.queue(tx, { transaction, kind: 'withdrawal', destination, causedBy });
}

/**
 * Queues the mails about answers that a peer did not store or that were rolled back, in the order of their
 * addresses, which are locked one after the other. Without a valid address there is no mail.
 * @param ended `isWithdrawn`: whether the person has withdrawn a part of what was rolled back; then there is
 * no mail.
 */
export async function queueBadNews(
  tx: Queries,
  messaging: Messaging,
  ended: readonly (Pick<Transaction, 'id' | 'context' | 'createdBy' | 'isAddressKnown'> & {
    isWithdrawn?: boolean;
  })[],
): Promise<void> {
  if (!messaging.channels.mail) return;
  const mails = ended.flatMap(({ isWithdrawn, ...transaction }) => {
    const destination = notificationAddress(transaction);
    if (!destination || isWithdrawn) return [];
    return [{ ...transaction, destination, place: messaging.addressOf(destination) }];
  });
  for (const { id, destination, createdBy } of mails.toSorted((a, b) => Buffer.compare(a.place, b.place)))
    await messaging.queue(tx, {
      transaction: id,
      kind: 'bad-news',
      destination,
      causedBy: createdBy,
    });
}
