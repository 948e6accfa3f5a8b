import {
  embedSources,
  mailSender,
  mailUrl,
  pemFile,
  phoneList,
  phoneSender,
  senderList,
  smsUrl,
} from '#lib/config/address-validators.ts';
import type { Settings } from '#lib/config/settings.ts';
import { calendarPeriod, days, secondsOrDuration, wholeNumber } from '#lib/config/validators.ts';
import type { Transports } from './jobs/message-deliveries.ts';
import type { DemoMailbox } from './transports/demo.ts';
import { createMailTransport } from './transports/mail.ts';
import { createSmsTransport } from './transports/sms.ts';

/** The settings of this service (docs/operations.md, "Settings"). */
export const transactionsSpecs = {
  EMBED_ORIGINS: embedSources({ default: 'https: http://localhost:* http://127.0.0.1:*' }),
  /** The longest time from `consent.expiring` to the expiry of the answers, in days. */
  EXPIRY_NOTICE: days({ default: 30 }),
  /** Age at which backups of the database are deleted (docs/erasure.md). */
  BACKUP_RETENTION: calendarPeriod({ default: 'P35D' }),
  /** Ages at which data are erased: answers that are over, and transactions without answers in force. */
  RECORD_RETENTION: calendarPeriod({ default: undefined }),
  ABANDONED_RETENTION: calendarPeriod({ default: 'P90D' }),
  MAIL_URL: mailUrl({ default: undefined }),
  MAIL_CA: pemFile({ default: undefined }),
  MAIL_FROM: mailSender({ default: undefined }),
  MAIL_SENDERS: senderList({ default: undefined }),
  SMS_URL: smsUrl({ default: undefined }),
  SMS_FROM: phoneSender({ default: undefined }),
  SMS_SENDERS: phoneList({ default: undefined }),
  /** Life of a code, and the wait before another code can be requested; in seconds. */
  CODE_TTL: secondsOrDuration({ default: 600 }),
  CODE_RESEND_AFTER: secondsOrDuration({ default: 30 }),
  /** Codes, and messages of all kinds, for one address in 24 hours. */
  CODE_DAILY_LIMIT: wholeNumber({ default: 10 }),
  MESSAGE_DAILY_LIMIT: wholeNumber({ default: 20 }),
  /** Text messages to one country in an hour. */
  SMS_PREFIX_LIMIT: wholeNumber({ default: 60 }),
};

type Read = Settings<typeof transactionsSpecs>;

/**
 * The transports of messages and the senders that a context may name.
 * @param mailbox of a demonstration: it keeps the messages of a channel that has no setting.
 */
export function createTransports(
  read: Read,
  { host, mailbox }: { host: string; mailbox: DemoMailbox | null },
): { transports: Transports; senders: { mail: readonly string[]; sms: readonly string[] } } {
  const { MAIL_URL, MAIL_CA, MAIL_FROM = `no-reply@${host}`, MAIL_SENDERS, SMS_URL, SMS_FROM } = read;
  const mail = MAIL_URL ? createMailTransport({ url: MAIL_URL, ca: MAIL_CA, host }) : mailbox?.mail;
  const sms = SMS_URL ? createSmsTransport({ url: SMS_URL }) : mailbox?.sms;
  return {
    transports: {
      mail: mail ? { transport: mail, from: MAIL_FROM } : null,
      sms: sms ? { transport: sms, from: SMS_FROM ?? null } : null,
    },
    senders: { mail: mailSenders(MAIL_FROM, MAIL_SENDERS), sms: smsSenders(read) },
  };
}

function isAddress(sender: string): boolean {
  return sender.includes('@');
}

function mailSenders(from: string, listed: readonly string[] = []): string[] {
  const addresses = listed.filter(isAddress);
  return (addresses.length > 0 ? addresses : [from]).flatMap((sender) => [sender, addressOf(sender)]);
}

/** MAIL_SENDERS may list telephone numbers, as in earlier releases. */
function smsSenders({ SMS_FROM, SMS_SENDERS, MAIL_SENDERS = [] }: Read): string[] {
  const listed = SMS_SENDERS ?? (SMS_FROM === undefined ? [] : [SMS_FROM]);
  return [...listed, ...MAIL_SENDERS.filter((sender) => !isAddress(sender))];
}

/** The address in `Name <address>`. */
function addressOf(sender: string): string {
  return /<([^<>]+)>$/.exec(sender)?.[1] ?? sender;
}

/** Interval of the sweeper of deadlines, which stores final states within 10 s (README.md). */
export const sweepMs = 5_000;
