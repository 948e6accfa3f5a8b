import { createHmac, createSecretKey, hash, hkdfSync } from 'node:crypto';
import type { MessageChannel, MessageKind } from '#lib/contracts/messages.ts';
import { listedBackoff } from '#lib/deliveries/backoff.ts';
import {
  mailDomain,
  maskEmailAddress,
  maskPhoneNumber,
  parseEmailAddress,
  parsePhoneNumber,
  phonePrefix,
} from './contact.ts';
import type { ConsentContext } from './context.ts';
import { isFault } from './values.ts';

/** EXPIRED: not sent, because the transaction or its code had ended (docs/messages.md). */
export type MessageState = 'PENDING' | 'SENT' | 'FAILED' | 'EXPIRED';

/** A message to the subject of a transaction, as callers of the API see it. */
export interface Message {
  id: string;
  kind: MessageKind;
  channel: MessageChannel;
  /** The masked address. */
  destination: string;
  state: MessageState;
  /** Attempts that failed. */
  attempts: number;
  /** Class of the last failure. */
  error: string | null;
  createdAt: Date;
  sentAt: Date | null;
}

/** The members of a message that are encrypted until it has ended. */
export interface MessageSecrets {
  /** Address or telephone number. */
  to: string;
  /** Sender that the context names. */
  from?: string;
  code?: string;
}

/** Where messages of a channel go and what identifies the address. */
export interface Destination {
  channel: MessageChannel;
  to: string;
  masked: string;
  /** Queue of the delivery engine ({@link mailQueue}). */
  queue: string;
  /** Country calling code; null for mail. */
  prefix: string | null;
}

/** @returns undefined if the text is no e-mail address. */
export function mailDestination(text: string): Destination | undefined {
  const to = parseEmailAddress({ value: text, pointer: '' });
  if (isFault(to)) return undefined;
  return { channel: 'mail', to, masked: maskEmailAddress(to), queue: mailQueue(to), prefix: null };
}

const mailQueues = 1024;

/** Mail domains share a fixed number of queues, so that a slow domain delays at most a few others. */
function mailQueue(address: string): string {
  return `mail ${hash('sha256', mailDomain(address), 'buffer').readUInt32BE() % mailQueues}`;
}

/** @returns undefined if the text is no telephone number. */
function smsDestination(text: string): Destination | undefined {
  const to = parsePhoneNumber({ value: text, pointer: '' });
  if (isFault(to)) return undefined;
  return { channel: 'sms', to, masked: maskPhoneNumber(to), queue: 'sms', prefix: phonePrefix(to) };
}

/** Where the code of a context is sent; undefined for FORM_CODE and without a confirmation. */
export function codeDestination({
  confirmation,
  subjectInfos = {},
}: ConsentContext): Destination | undefined {
  if (confirmation === 'EMAIL_CODE') return mailDestination(subjectInfos.emailAddress ?? '');
  return confirmation === 'SMS_CODE' ? smsDestination(subjectInfos.phoneNumber ?? '') : undefined;
}

/** Where the notification and bad news are sent; undefined without a valid address. */
export function notificationAddress({
  subjectInfos,
  notificationRecipient,
}: ConsentContext): Destination | undefined {
  return mailDestination(subjectInfos?.emailAddress ?? notificationRecipient ?? '');
}

/**
 * A keyed digest of an address, by which its messages are counted.
 * @param secrets of transaction tokens; the first derives the key.
 */
export function createAddressDigest(secrets: readonly Uint8Array[]): (destination: Destination) => Buffer {
  const [secret] = secrets;
  if (!secret) throw new Error('digests of addresses need a secret');
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'accord message addresses', 32)));
  return ({ channel, to }) => createHmac('sha256', key).update(`${channel} ${to.toLowerCase()}`).digest();
}

const minute = 60_000;
const hour = 60 * minute;
const codeBackoff = listedBackoff({ waitsMs: [2_000, 5_000, 15_000, minute], jitter: 0.2 });
const otherBackoff = listedBackoff({
  waitsMs: [5_000, 30_000, 2 * minute, 10 * minute, hour, 3 * hour, 6 * hour, 12 * hour],
  jitter: 0.2,
});

/** The wait before the next attempt. The waits for a code are shorter, because the code expires soon. */
export function messageBackoff(attempts: number, random: number, { kind }: Pick<Message, 'kind'>) {
  return (kind === 'code' ? codeBackoff : otherBackoff)(attempts, random);
}
