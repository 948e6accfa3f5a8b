import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import type { MessageChannel, MessageKind } from '#lib/contracts/messages.ts';
import { exponentialBackoff, listedBackoff } from '#lib/deliveries/backoff.ts';
import { mailboxOf, mailDomain } from '#lib/mail/mailbox.ts';
import type { Destination } from '../transaction/destination.ts';

/**
 * EXPIRED: the message is obsolete: the transaction of an invitation or a code has ended, the code was used,
 * replaced or has expired, or every part that bad news is about has been stored after all or was withdrawn
 * (docs/messages.md).
 */
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
  /** Of a message about no transaction, BCP 47. */
  language?: string;
}

/** Keyed digests of destinations: a domain alone can identify a person, so no column holds it as text. */
export interface DestinationDigests {
  /** Digest of the address, by which its messages are counted; equal for all spellings of the domain. */
  addressOf: (destination: Destination) => Buffer;
  /**
   * Queue of the delivery engine. Every mail domain has its own, named by a keyed hash, so that a slow domain
   * delays no other. The SMS gateway has one. Codes, for which people wait, have their own queues, so that
   * they wait for no invitations and notifications.
   */
  queueOf: (destination: Destination, kind?: MessageKind) => string;
}

/** @param secrets of transaction tokens; the first derives the key. */
export function createDestinationDigests(secrets: readonly Uint8Array[]): DestinationDigests {
  const [secret] = secrets;
  if (!secret) throw new Error('digests of destinations need a secret');
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'accord message addresses', 32)));
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  return {
    addressOf: ({ channel, to }) => digest(`${channel} ${channel === 'mail' ? mailboxOf(to) : to}`),
    queueOf({ channel, to }, kind) {
      const server =
        channel === 'sms' ? 'sms' : `domain ${digest(`domain ${mailDomain(to)}`).toString('base64url')}`;
      return kind === 'code' ? `${server} codes` : server;
    },
  };
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

/** Failures of the mail server or the gateway itself. */
const outages = /^(?:auth|connection|dns|tls|timeout|not-configured|smtp-421|http-\d+)$/;

const outageWait = exponentialBackoff({ minMs: 250, maxMs: 30_000 });

/**
 * The wait of a queue whose server is away. Without it, every message would be attempted again and again, and
 * wait for up to 12 hours after the server's return.
 * @param failures in a row, of the queue.
 */
export function outageBackoff(
  failures: number,
  random: number,
  { error, isAway }: { error: string | null; isAway?: boolean },
): number {
  return isAway || (error !== null && outages.test(error)) ? outageWait(failures, random) : 0;
}
