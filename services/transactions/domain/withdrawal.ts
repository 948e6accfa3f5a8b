import type { ConsentStanding } from '#lib/contracts/pages.ts';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody, ReceiptConsent } from '#lib/contracts/receipt-body.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { newUuid, randomId } from '#lib/ids/random-ids.ts';
import { invalidComment, splitComment } from './answers.ts';
import type { Commitment } from './commitment.ts';
import type { Origin } from './context.ts';
import { createdTransaction, type Transaction, type TransactionKind } from './transaction.ts';
import { keyOf } from './values.ts';

/** The newest committed answer to a question. */
export interface StandingAnswer {
  /** Id of the record. */
  id: string;
  transaction: string;
  kind: TransactionKind;
  /** Empty for none. */
  object: string;
  key: string;
  type: string;
  serial: string;
  infoKey: string;
  infoSerial: string;
  value: string[];
  /** The accepted record that this refusal ended. */
  withdraws: string | null;
  committedAt: Date;
}

/** What a request names, with the places in its body; undefined: all that can be withdrawn. */
export interface WithdrawalRequest {
  keys: string[] | undefined;
  comment: string | null;
}

const maxNamed = 200;

/**
 * Reads the body of a request to withdraw.
 * @throws Failure `invalid`, `invalid-answer` for the comment.
 */
export function readWithdrawal(body: unknown): WithdrawalRequest {
  const members = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  const { elements, comment } = members as Record<string, unknown>;
  const sent = splitComment(comment === undefined ? {} : { comment });
  if (!sent) throw invalidComment();
  if (elements === undefined) return { keys: undefined, comment: sent.comment };
  const named = [elements].flat().map(String);
  if (named.length === 0 || named.length > maxNamed)
    throw fail('invalid', 'The body is not valid.', {
      errors: [{ pointer: '/elements', code: 'invalid', detail: 'must have 1 to 200 entries' }],
    });
  return { keys: named.map(keyOf), comment: sent.comment };
}

/** Keys of the questions of this instance in a transaction; those of peers are `<key>@<peer>`. */
export function ownKeys({ layout }: Pick<Transaction, 'layout'>): string[] {
  return layout.elements.filter((key) => !key.includes('@'));
}

/** Whether an answer is a consent that can end: accepted, and no preference. */
function isAccepted({ type, value }: Pick<StandingAnswer, 'type' | 'value'>): boolean {
  return type !== 'preference' && value[0] === 'accepted';
}

/**
 * Whether a person can withdraw the consent to these texts: it could be refused, or consent is a legal basis
 * (GDPR, article 7(3)).
 */
function isWithdrawable({ texts }: Pick<ReceiptConsent, 'texts'>): boolean {
  const { refusable, legalBases } = texts as { refusable?: boolean; legalBases?: string[] };
  return refusable !== false || legalBases?.includes('LEGAL_BASIS_CONSENT') === true;
}

/** A consent to withdraw, and the receipt on which it stands. */
export interface Withdrawn {
  answer: StandingAnswer;
  receipt: ReceiptBody;
  consent: ReceiptConsent;
}

/** The accepted answers whose consents a request could withdraw, before their texts are known. */
export function acceptedOf(
  standing: readonly StandingAnswer[],
  { keys }: WithdrawalRequest,
): StandingAnswer[] {
  return standing.filter(
    (answer) => isAccepted(answer) && (keys ? keys.includes(answer.key) : answer.type === 'processing'),
  );
}

/**
 * Chooses the consents that a request withdraws.
 * @param receipts of the accepted answers, by transaction.
 * @throws Failure `not-withdrawable` if a named answer cannot be withdrawn, with a pointer for each.
 */
export function chooseConsents(
  {
    own,
    standing,
    receipts,
  }: {
    own: readonly string[];
    standing: readonly StandingAnswer[];
    receipts: ReadonlyMap<string, ReceiptBody>;
  },
  request: WithdrawalRequest,
): Withdrawn[] {
  const found = acceptedOf(standing, request).flatMap((answer) => {
    const receipt = receipts.get(answer.transaction);
    const consent = receipt?.consents.find(({ identifier }) => keyOf(identifier) === answer.key);
    return receipt && consent ? [{ answer, receipt, consent }] : [];
  });
  const chosen = found.filter(({ consent }) => isWithdrawable(consent));
  const faults = (request.keys ?? []).flatMap((key, place): Fault[] => {
    const detail = own.includes(key)
      ? refusalOf(
          standing.find((answer) => answer.key === key),
          found.some(({ answer }) => answer.key === key) && !chosen.some(({ answer }) => answer.key === key),
        )
      : 'is not a question of this transaction that this instance keeps';
    return detail ? [{ pointer: `/elements/${place}`, code: 'not-withdrawable', detail }] : [];
  });
  if (faults.length > 0)
    throw fail('not-withdrawable', 'A named answer cannot be withdrawn.', { errors: faults });
  return chosen;
}

function refusalOf(standing: StandingAnswer | undefined, isBound: boolean): string | undefined {
  if (standing?.type === 'preference') return 'is a preference; change it with a child of the transaction';
  return isBound ? 'has another legal basis than consent, and cannot be refused' : undefined;
}

/** The newest withdrawal among the answers that a request names; a repeated request returns it. */
export function earlierWithdrawal(
  standing: readonly StandingAnswer[],
  { keys }: WithdrawalRequest,
): string | undefined {
  return standing
    .filter(({ key, kind }) => kind === 'WITHDRAWAL' && (keys?.includes(key) ?? true))
    .sort((a, b) => b.committedAt.getTime() - a.committedAt.getTime())[0]?.transaction;
}

/** How a withdrawal was made; kept on its records. */
function originOf(principal: Principal): Origin {
  const token = principal.transaction;
  if (token) return token.use === 'receipt' ? 'RECEIPT' : 'WEBFORM';
  return isPrivileged(principal) ? 'OPERATOR' : 'USER';
}

/** When a withdrawal takes effect: later than every answer that it finds, in milliseconds. */
export function withdrawalTime(clock: Date, standing: readonly StandingAnswer[]): Date {
  const times = standing.map(({ committedAt }) => committedAt.getTime());
  return new Date(Math.max(clock.getTime(), ...times) + 1);
}

/** Where, by whom and how consents are withdrawn. */
export interface WithdrawalFacts {
  /** The transaction whose context and layout the withdrawal takes over. */
  source: Transaction;
  /** The transaction at which the request was made; null if it was made for a person. */
  parent: string | null;
  principal: Principal;
  comment: string | null;
  /** {@link withdrawalTime} */
  at: Date;
  instance: { name: string; baseUrl: string };
}

/** Composes the transaction of a withdrawal, as it is when it is created, and its records. */
export function composeWithdrawal(
  withdrawn: readonly Withdrawn[],
  { source, parent, principal, comment, at }: WithdrawalFacts,
): { created: Transaction; commitment: Omit<Commitment, 'receipt'> } {
  const { author: _author, layout: _key, confirmationConfig: _config, ...context } = source.context;
  const keys = withdrawn.map(({ answer }) => answer.key);
  const origin = originOf(principal);
  const author = principal.transaction ? source.subject : principal.name;
  const created = createdTransaction(
    {
      id: randomId(),
      context: {
        ...context,
        layoutData: { type: 'layout', info: source.layout.info, elements: keys },
        origin,
        confirmation: 'NONE',
        sendInvitation: false,
        // Its child undoes it.
        updatable: true,
        cancellable: false,
      },
      layout: { ...source.layout, elements: keys },
      author,
      parent,
      kind: 'WITHDRAWAL',
    },
    at,
  );
  const records = withdrawn.map(({ answer }) => ({
    id: newUuid(),
    key: answer.key,
    type: answer.type,
    serial: answer.serial,
    infoKey: answer.infoKey,
    infoSerial: answer.infoSerial,
    value: ['refused'],
    // The options are `accepted` and `refused`.
    positions: [1],
    expiresAt: null,
  }));
  const commitment = {
    id: created.id,
    version: created.version,
    answersDigest: null,
    submittedAt: at,
    object: source.context.object ?? '',
    origin,
    author,
    comment,
    records,
    noticeAt: 'infinity',
    parts: [],
  };
  return { created, commitment };
}

/** The consent that was given last. */
export function newestOf(withdrawn: readonly Withdrawn[]): Withdrawn {
  return withdrawn.reduce((a, b) => (b.answer.committedAt > a.answer.committedAt ? b : a));
}

/** Composes the receipt of a withdrawal: the texts that were accepted, and the consents that have ended. */
export function withdrawalReceipt(
  withdrawn: readonly Withdrawn[],
  created: Transaction,
  { parent, at, instance }: WithdrawalFacts,
  updateUrl: string | undefined,
): string {
  const { context, author } = created;
  const newest = newestOf(withdrawn).receipt;
  const receipt = {
    receiptId: randomId(),
    kind: 'WITHDRAWAL',
    transaction: created.id,
    subject: created.subject,
    subjectInfos: context.subjectInfos,
    object: context.object,
    language: newest.language,
    jurisdiction: newest.jurisdiction,
    collector: { instance: instance.baseUrl, name: instance.name },
    collectionMethod: context.origin,
    author,
    timestamp: at.toISOString(),
    confirmation: 'NONE',
    information: newest.information,
    consents: withdrawn.map(({ answer, consent, receipt: { receiptId } }) => ({
      ...consent,
      answer: ['refused'],
      withdraws: { record: answer.id, receiptId, given: answer.committedAt.toISOString() },
    })),
    privacyPolicyUrl: newest.privacyPolicyUrl,
    attributes: context.attributes,
    updateUrl,
    parent: parent ?? undefined,
  } satisfies ReceiptBody;
  return JSON.stringify(receipt);
}

/** What has become of the answers on a receipt, for its pages. */
export function standingOf(receipt: ReceiptBody, standing: readonly StandingAnswer[]): ConsentStanding[] {
  return receipt.consents.flatMap((consent): ConsentStanding[] => {
    const { identifier } = consent;
    const answer = standing.find(({ key }) => key === keyOf(identifier));
    if (!answer) return [];
    if (isAccepted(answer)) return isWithdrawable(consent) ? [{ identifier, withdrawn: null }] : [];
    // On its own receipt, a withdrawal needs no note.
    if (answer.withdraws === null || answer.transaction === receipt.transaction) return [];
    return [{ identifier, withdrawn: answer.committedAt.toISOString() }];
  });
}
