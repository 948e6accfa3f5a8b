import type { MessageChannel } from '#lib/contracts/messages.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { mailboxOf } from '#lib/mail/mailbox.ts';
import {
  maskEmailAddress,
  maskPhoneNumber,
  parseEmailAddress,
  parsePhoneNumber,
  phonePrefix,
} from './contact.ts';
import type { ConsentContext } from './context.ts';
import type { Transaction } from './transaction.ts';
import { isFault } from './values.ts';

/** Where a message goes: its channel and address, the address as it is shown, and the country. */
export interface Destination {
  channel: MessageChannel;
  to: string;
  masked: string;
  /** Country calling code; null for mail. */
  prefix: string | null;
}

/** @returns undefined if the text is no e-mail address. */
export function mailDestination(text: string): Destination | undefined {
  const to = parseEmailAddress({ value: text, pointer: '' });
  if (isFault(to)) return undefined;
  return { channel: 'mail', to, masked: maskEmailAddress(to), prefix: null };
}

/** @returns undefined if the text is no telephone number. */
export function smsDestination(text: string): Destination | undefined {
  const to = parsePhoneNumber({ value: text, pointer: '' });
  if (isFault(to)) return undefined;
  return { channel: 'sms', to, masked: maskPhoneNumber(to), prefix: phonePrefix(to) };
}

/** Where the code of a context is sent; undefined for FORM_CODE and without a confirmation. */
export function codeDestination({
  confirmation,
  subjectInfos = {},
}: ConsentContext): Destination | undefined {
  if (confirmation === 'EMAIL_CODE') return mailDestination(subjectInfos.emailAddress ?? '');
  return confirmation === 'SMS_CODE' ? smsDestination(subjectInfos.phoneNumber ?? '') : undefined;
}

/**
 * Where the notification, bad news and news of a withdrawal are sent; undefined without a valid address to
 * which mails may be sent.
 */
export function notificationAddress({
  context: { subjectInfos, notificationRecipient },
  isAddressKnown,
}: Pick<Transaction, 'context' | 'isAddressKnown'>): Destination | undefined {
  if (!isAddressKnown) return undefined;
  return mailDestination(subjectInfos?.emailAddress ?? notificationRecipient ?? '');
}

/** Whether an account is known to have an address: the issuer has verified it. */
export function isKnownAddress(
  { channel, to }: Destination,
  { emailAddress, phoneNumber }: Pick<Principal, 'emailAddress' | 'phoneNumber'>,
): boolean {
  if (channel === 'sms') return phoneNumber !== undefined && smsDestination(phoneNumber)?.to === to;
  const known = emailAddress === undefined ? undefined : mailDestination(emailAddress);
  return known !== undefined && mailboxOf(known.to) === mailboxOf(to);
}
