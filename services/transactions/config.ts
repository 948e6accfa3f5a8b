import { embedSources, mailSender, mailUrl, senderList, smsUrl } from '#lib/config/address-validators.ts';
import { days } from '#lib/config/validators.ts';

/** The settings of this service (docs/operations.md, "Settings"). */
export const transactionsSpecs = {
  EMBED_ORIGINS: embedSources({ default: 'https: http://localhost:* http://127.0.0.1:*' }),
  /** How many days before answers expire `consent.expiring` is sent, at most. */
  EXPIRY_NOTICE: days({ default: 30 }),
  // For mail and codes, which are not implemented; validated at the start nevertheless.
  MAIL_URL: mailUrl({ default: 'log' }),
  MAIL_FROM: mailSender({ default: undefined }),
  MAIL_SENDERS: senderList({ default: undefined }),
  SMS_URL: smsUrl({ default: 'log' }),
};

/** How often deadlines are looked at; at most 10 s (docs/interface.md). */
export const sweepMs = 5_000;
