import { embedSources, phoneList, phoneSender, senderList, smsUrl } from '#lib/config/address-validators.ts';
import { mailSpecs } from '#lib/config/specs.ts';
import { days, secondsOrDuration, wholeNumber } from '#lib/config/validators.ts';

/** The settings of this service (docs/operations.md, "Settings"). */
export const transactionsSpecs = {
  EMBED_ORIGINS: embedSources({ default: 'https: http://localhost:* http://127.0.0.1:*' }),
  /** The longest time from `consent.expiring` to the expiry of the answers, in days. */
  EXPIRY_NOTICE: days({ default: 30 }),
  ...mailSpecs,
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
  /** Mails in an hour, and messages that one account, key or peer causes in an hour. */
  MAIL_HOURLY_LIMIT: wholeNumber({ default: 5_000 }),
  CREATOR_HOURLY_LIMIT: wholeNumber({ default: 2_500 }),
  /** Text messages to one country, and to all together, in an hour. */
  SMS_PREFIX_LIMIT: wholeNumber({ default: 60 }),
  SMS_HOURLY_LIMIT: wholeNumber({ default: undefined }),
};

/** Interval of the sweeper of deadlines, which stores final states within 10 s (README.md). */
export const sweepMs = 5_000;
