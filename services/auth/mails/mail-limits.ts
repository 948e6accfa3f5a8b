import type { CountedMails } from '../queries/account-mails.ts';

/** Mails to one mailbox in a day, and to all in an hour (docs/messages.md, "Links of accounts"). */
const accountMailLimits = { mailbox: 10, hour: 300 } as const;

/** Why a mail is not sent; null if it is. */
export type MailRefusal = 'mailbox' | 'hour' | null;

/**
 * Strangers can only ask for links of forgotten passwords: these may use half of the hour, so that
 * invitations can still be sent.
 */
export function whyNotSent({ toMailbox, ofHour }: CountedMails, { isByStranger }: { isByStranger: boolean }) {
  const { mailbox, hour } = accountMailLimits;
  const refusal: MailRefusal =
    toMailbox >= mailbox ? 'mailbox' : ofHour >= (isByStranger ? hour / 2 : hour) ? 'hour' : null;
  return refusal;
}
