import { isNotice, isObjection } from '#lib/contracts/element-rules.ts';
import type { ReceiptBody, ReceiptConsent } from '#lib/contracts/receipt-body.ts';
import { recordStatus, type StatusFacts } from '#lib/contracts/record-status.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import type { Notice } from '../sent-parts/notice.ts';
import { maskEmailAddress } from '../transaction/contact.ts';
import { isWithdrawableOn } from '../withdrawal/withdrawal.ts';

/** The answer of a person that is in force to a question, as it is stored. */
export interface StoredChoice extends StatusFacts {
  transaction: string;
  object: string;
  type: string;
  value: string[];
  withdraws: string | null;
  givenAt: Date;
  /** Of the transaction, for a link to its receipt. */
  epoch: number;
  validUntil: Date | null;
  /** The system from which it was taken over; null for none. */
  importedFrom: string | null;
  /** Earlier answers, newest first. */
  history: { value: string[]; givenAt: string; withdraws: string | null }[];
}

/** Why an answer counts, or does not. */
export type ChoiceReason = 'GIVEN' | 'REFUSED' | 'WITHDRAWN' | 'EXPIRED' | 'NOT_ACTIVE';

/** An answer with what the person saw, and what can be done about it. */
export interface Choice extends StoredChoice {
  identifier: string;
  /** As it is on the receipt; undefined without one. */
  consent: ReceiptConsent | undefined;
  status: ReturnType<typeof recordStatus>[0];
  reason: ChoiceReason;
  /** Who else gets the data, by the texts, and who was told of the withdrawal. */
  recipients: { name: string; state?: Notice['state']; since?: Date }[];
  isWithdrawable: boolean;
  /** Whether the question can be asked again. */
  isChangeable: boolean;
}

interface Facts {
  receipt: ReceiptBody | undefined;
  notices: readonly Notice[];
  active: ActiveVersions;
  now: Date;
}

export function composeChoice(stored: StoredChoice, { receipt, notices, active, now }: Facts): Choice {
  const { type, key, serial, value } = stored;
  const identifier = `element/${type}/${key}/${serial}`;
  const consent = receipt?.consents.find((each) => each.identifier === identifier);
  const [status] = recordStatus(stored, active, now);
  const isAccepted = type !== 'preference' && value[0] === 'accepted';
  return {
    ...stored,
    identifier,
    consent,
    status,
    reason: reasonOf(stored, status, consent?.texts ?? {}),
    recipients: [
      ...namedIn(consent?.texts.thirdParties).map((name) => ({ name })),
      ...notices.map(({ name, state, since }) => ({ name, state, since })),
    ],
    isWithdrawable: isAccepted && receipt !== undefined && isWithdrawableOn(receipt, key),
    isChangeable: isAsked(active, key) && !isNotice(identifier, consent?.texts ?? {}),
  };
}

function isAsked(active: ActiveVersions, key: string): boolean {
  const version = active[key];
  return version !== undefined && !version.deleted && version.major !== undefined && version.major !== null;
}

function reasonOf(
  { type, value, withdraws }: StoredChoice,
  status: Choice['status'],
  texts: object,
): ChoiceReason {
  if (type !== 'preference' && value[0] === 'refused')
    return withdraws && !isObjection(texts) ? 'WITHDRAWN' : 'REFUSED';
  if (status === 'EXPIRED') return 'EXPIRED';
  return status === 'VALID' ? 'GIVEN' : 'NOT_ACTIVE';
}

/** Names of third parties, as the texts of a processing state them. */
function namedIn(thirdParties: unknown): string[] {
  if (!Array.isArray(thirdParties)) return [];
  return (thirdParties as { name?: unknown }[]).flatMap(({ name }) =>
    typeof name === 'string' ? [name] : [],
  );
}

/**
 * The name of a person in a mail to somebody who may be another of several: enough to tell one's own, and no
 * more.
 */
export function maskName(name: string): string {
  if (name.includes('@')) return maskEmailAddress(name);
  const letters = Array.from(new Intl.Segmenter().segment(name), ({ segment }) => segment);
  const shown = letters.length > 4 ? letters.slice(-2) : [];
  return `${letters[0] ?? ''}…${shown.join('')}`;
}
