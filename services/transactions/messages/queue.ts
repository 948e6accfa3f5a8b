import { LRUCache } from 'lru-cache';
import type { MessageKind } from '#lib/contracts/messages.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Failure, fail } from '#lib/errors/fail.ts';

import { newUuid } from '#lib/ids/random-ids.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { MessageMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { readSubject } from '../person/store.ts';
import { noSuchTransaction } from '../transaction/access.ts';
import type { Channels } from '../transaction/context.ts';
import {
  codeDestination,
  type Destination,
  mailDestination,
  notificationAddress,
} from '../transaction/destination.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { countHourly, countRecentMessages } from './counts.ts';
import {
  type HourlyLimit,
  hourlyRoom,
  type MessageLimits,
  type ReachedLimit,
  reachedHourly,
  reachedLimit,
} from './limits.ts';
import type { DestinationDigests, Message, MessageSecrets } from './message.ts';
import { insertMessage, isErased } from './store.ts';

/** Dependencies of the functions that queue messages. */
export interface Messaging {
  channels: Channels;
  limits: MessageLimits;
  box: SecretBox;
  digests: DestinationDigests;
  /** Counts and logs a message that is stored as failed because of a limit. */
  reportLimited: (message: Pick<Message, 'id' | 'kind' | 'channel'>) => void;
  /** Counts and logs that an hourly limit of mails or of a creator is reached. */
  reportHourly: (reached: HourlyLimit) => void;
}

const hourMs = 3_600_000;

/** Counts each message that an hourly limit refuses or lets wait, and logs the first of an hour. */
export function createHourlyReport({
  log,
  metrics,
}: {
  log: Logger;
  metrics: Pick<MessageMetrics, 'countLimited'> | undefined;
}): Messaging['reportHourly'] {
  const logged = new LRUCache<string, true>({ max: 1_000, ttl: hourMs });
  return ({ limit, causedBy }) => {
    metrics?.countLimited(limit);
    const key = causedBy ?? '';
    if (logged.has(key)) return;
    logged.set(key, true);
    log.warn('hourly limit of messages reached; further ones are refused or wait', {
      code: limit,
      ...(causedBy !== null && { id: causedBy }),
    });
  };
}

interface MessageRequest {
  transaction: string;
  kind: MessageKind;
  destination: Destination;
  /** Who causes the message (`creatorOf`); null: not known. */
  causedBy: string | null;
  from?: string | undefined;
  code?: { number: number; text: string };
}

/**
 * Queues a message in the database transaction that causes the message; it is sent after the COMMIT
 * (docs/messages.md).
 * @param whenLimited above a limit, `refuse` throws. With `record`, above an hourly limit the message waits;
 * above another one it is stored as failed.
 * @returns undefined if the transaction has been erased meanwhile; then there is no message.
 * @throws Failure `too-many-requests` with Retry-After.
 */
async function queueMessage(
  tx: Queries,
  { box, limits, digests, reportLimited, reportHourly }: Messaging,
  { transaction, kind, destination, causedBy, from, code }: MessageRequest,
  whenLimited: 'refuse' | 'record' = 'record',
): Promise<Message | undefined> {
  if (await isErased(tx, transaction)) return undefined;
  const id = newUuid();
  const address = digests.addressOf(destination);
  const recent = await countRecentMessages(tx, { address, prefix: destination.prefix, causedBy });
  const limit = reachedLimit(recent, { kind, hasPrefix: destination.prefix !== null }, limits);
  if (limit && whenLimited === 'refuse') throw tooMany(limit);
  const about = { kind, causedBy, room: hourlyRoom({ kind, channel: destination.channel }, limits) };
  const hourly = limit
    ? undefined
    : reachedHourly(await countHourly(tx, { ...about, isExact: whenLimited === 'refuse' }), about);
  if (hourly?.isReached) reportHourly(hourly);
  if (hourly && whenLimited === 'refuse') throw tooMany(hourly);
  const secrets: MessageSecrets = {
    to: destination.to,
    ...(from && { from }),
    ...(code && { code: code.text }),
  };
  // A rollback afterwards is rare; the count is then too high by one.
  if (limit) reportLimited({ id, kind, channel: destination.channel });
  return insertMessage(tx, {
    id,
    transaction,
    kind,
    destination,
    queue: digests.queueOf(destination, kind),
    address,
    causedBy,
    code: code?.number ?? null,
    sealed: limit ? null : box.seal(id, JSON.stringify(secrets)),
    error: limit ? 'limit' : null,
    waits: hourly !== undefined,
  });
}

function tooMany({ detail, waitSeconds }: ReachedLimit): Failure {
  return fail('too-many-requests', detail, {
    headers: { 'Retry-After': String(waitSeconds) },
    errors: [{ pointer: '', code: 'limit', detail }],
  });
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
  await queueMessage(tx, messaging, message, 'refuse');
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
  const queued = await queueMessage(tx, messaging, message, 'refuse');
  if (!queued) throw noSuchTransaction();
  return queued;
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
  await queueMessage(tx, messaging, {
    transaction: id,
    kind: 'notification',
    destination,
    causedBy: createdBy,
  });
}

/** Queues the mail about consents that somebody else withdrew. Without a valid address there is no mail. */
export async function queueWithdrawalNews(
  tx: Queries,
  messaging: Messaging,
  withdrawal: Pick<Transaction, 'id' | 'context' | 'createdBy' | 'isAddressKnown'>,
): Promise<void> {
  const destination = notificationAddress(withdrawal);
  if (!destination || !messaging.channels.mail) return;
  const { id: transaction, createdBy: causedBy } = withdrawal;
  await queueMessage(tx, messaging, { transaction, kind: 'withdrawal', destination, causedBy });
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
    return [{ ...transaction, destination, place: messaging.digests.addressOf(destination) }];
  });
  for (const { id, destination, createdBy } of mails.toSorted((a, b) => Buffer.compare(a.place, b.place)))
    await queueMessage(tx, messaging, {
      transaction: id,
      kind: 'bad-news',
      destination,
      causedBy: createdBy,
    });
}
