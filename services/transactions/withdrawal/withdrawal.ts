import { isEndable, isObjection } from '#lib/contracts/element-rules.ts';
import type { ConsentStanding } from '#lib/contracts/pages.ts';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody, ReceiptConsent } from '#lib/contracts/receipt-body.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { newUuid, randomId } from '#lib/ids/random-ids.ts';
import type { Commitment } from '../answer/commitment.ts';
import { referencesOf, type StandingPart } from '../sent-parts/part-withdrawal.ts';
import type { Source } from '../standing/in-force.ts';
import { type StandingAnswer, statedTime } from '../standing/standing-answer.ts';
import type { Collection, Origin } from '../transaction/context.ts';
import { createdTransaction, creatorOf, type Transaction } from '../transaction/transaction.ts';
import { keyOf } from '../transaction/values.ts';
import type { WithdrawalRequest } from './withdrawal-request.ts';

/** What pages show of the newest answer to a question on a receipt. */
export interface ShownStanding extends Pick<StandingAnswer, 'key' | 'type' | 'value' | 'transaction'> {
  /**
   * If the newest answer is an acceptance in another transaction: whether the texts on the receipt of that
   * transaction allow a withdrawal. Otherwise undefined.
   */
  isWithdrawable?: boolean;
  /** RFC 3339: when the consent on the receipt was withdrawn; null if it was not, or is given again. */
  withdrawnAt: string | null;
}

/** Keys of the questions of this instance in a transaction; those of peers are `<key>@<peer>`. */
export function ownKeys({ layout }: Pick<Transaction, 'layout'>): string[] {
  return layout.elements.filter((key) => !key.includes('@'));
}

/** Whether an answer is a consent that can end: accepted, and no preference. */
function isAccepted({ type, value }: Pick<StandingAnswer, 'type' | 'value'>): boolean {
  return type !== 'preference' && value[0] === 'accepted';
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
  { keys }: Pick<WithdrawalRequest, 'keys'>,
): StandingAnswer[] {
  return standing.filter(
    (answer) => isAccepted(answer) && (keys ? keys.includes(answer.key) : answer.type === 'processing'),
  );
}

/**
 * Chooses the consents that a request withdraws, one for each question: the refusal that will be stored ends
 * every earlier acceptance of its question, and names the one in force, if there is one.
 * @param standing sorted: first the answers in force, then the consents that wait.
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
    const consent = receipt && consentOn(receipt, answer.key);
    return receipt && consent ? [{ answer, receipt, consent }] : [];
  });
  const withdrawable = found.filter(({ consent }) => isEndable(consent));
  const chosen = withdrawable.filter(
    ({ answer }, place) => withdrawable.findIndex((first) => first.answer.key === answer.key) === place,
  );
  const faults = (request.keys ?? []).flatMap((key, place): Fault[] => {
    const detail = own.includes(key)
      ? whyNotWithdrawable(
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

function whyNotWithdrawable(standing: StandingAnswer | undefined, isBound: boolean): string | undefined {
  if (standing?.type === 'preference') return 'is a preference; change it with a child of the transaction';
  return isBound ? 'has another legal basis than consent, and cannot be refused' : undefined;
}

/** How a withdrawal was made; kept on its records. */
function originOf(principal: Principal): Origin {
  const token = principal.transaction;
  if (principal.roles.includes('peer')) return 'PEER';
  if (token) return token.use === 'receipt' ? 'RECEIPT' : 'WEBFORM';
  return isPrivileged(principal) ? 'OPERATOR' : 'USER';
}

/** Where, by whom and how consents are withdrawn. */
export interface WithdrawalFacts {
  /** The transaction whose context and layout the withdrawal takes over. */
  source: Transaction;
  /** The answers in force to the questions that are withdrawn, which its refusals replace. */
  inForce: readonly StandingAnswer[];
  /** A receipt on which the texts of the information are shown. */
  shown: ReceiptBody;
  /** The parts whose owners are told. */
  parts: readonly StandingPart[];
  /** The transaction at which the request was made; null if it was made for a person. */
  parent: string | null;
  principal: Principal;
  comment: string | null;
  collection: Collection | undefined;
  /** When it takes effect. */
  at: Date;
  /**
   * When the person withdrew at the peer that orders this withdrawal. Undefined if no peer orders it; then
   * `at` is used.
   */
  givenAt: Date | undefined;
  instance: { name: string; baseUrl: string };
  /** The peer that orders it, by its base URL; null if none does. */
  orderedBy: Source;
}

/** Composes the transaction of a withdrawal, as it is when it is created, and its records. */
export function composeWithdrawal(
  withdrawn: readonly Withdrawn[],
  facts: WithdrawalFacts,
): { created: Transaction; commitment: Omit<Commitment, 'receipt'> } {
  const {
    source,
    inForce,
    parts,
    parent,
    principal,
    comment,
    collection,
    at,
    givenAt = at,
    orderedBy,
  } = facts;
  // The rest of the context is kept for children of the withdrawal, also `confirmation`.
  const { author: _author, layout: _key, collection: _given, ...context } = source.context;
  const keys = [...withdrawn.map(({ answer }) => answer.key), ...referencesOf(parts)];
  const origin = originOf(principal);
  const author = principal.transaction ? source.subject : principal.name;
  const created = createdTransaction(
    {
      id: randomId(),
      context: {
        ...context,
        layoutData: { type: 'layout', info: source.layout.info, elements: keys },
        origin,
        ...(collection && { collection }),
        sendInvitation: false,
        // Its child undoes it.
        updatable: true,
        cancellable: false,
      },
      layout: { ...source.layout, elements: keys },
      author,
      parent,
      createdBy: principal.transaction ? source.createdBy : creatorOf(principal),
      isAddressKnown: source.isAddressKnown,
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
    isInForce: true,
    ends: inForce.find((each) => each.key === answer.key)?.id ?? null,
    withdraws: answer.id,
  }));
  const commitment = {
    id: created.id,
    version: created.version,
    subject: created.subject,
    // The person is locked.
    seen: null,
    source: orderedBy,
    answersDigest: null,
    submittedAt: at,
    givenAt,
    object: source.context.object ?? '',
    origin,
    author,
    comment,
    records,
    validUntil: null,
    noticeAt: 'infinity',
    parts: [],
  };
  return { created, commitment };
}

/** Composes the receipt of a withdrawal: the texts that were accepted, and the consents that have ended. */
export function withdrawalReceipt(
  withdrawn: readonly Withdrawn[],
  created: Transaction,
  { shown, parts, parent, at, instance }: WithdrawalFacts,
  updateUrl: string | undefined,
): string {
  const { context, author } = created;
  const peers = parts.map(({ name, location, shown: texts }) => ({ name, location, ...texts }));
  const receipt = {
    receiptId: created.id,
    kind: 'WITHDRAWAL',
    transaction: created.id,
    subject: created.subject,
    subjectInfos: context.subjectInfos,
    object: context.object,
    language: shown.language,
    jurisdiction: shown.jurisdiction,
    collector: { instance: instance.baseUrl, name: instance.name },
    collectionMethod: context.origin,
    author,
    timestamp: at.toISOString(),
    confirmation: 'NONE',
    information: shown.information,
    // A withdrawal does not expire.
    consents: withdrawn.map(
      ({ answer, consent: { expirationTimestamp: _accepted, ...consent }, receipt: { receiptId } }) => ({
        ...consent,
        answer: ['refused'],
        withdraws: { record: answer.id, receiptId, given: statedTime(answer).toISOString() },
      }),
    ),
    peers: peers.length > 0 ? peers : undefined,
    privacyPolicyUrl: shown.privacyPolicyUrl,
    collection: context.collection,
    attributes: context.attributes,
    updateUrl,
    parent: parent ?? undefined,
  } satisfies ReceiptBody;
  return JSON.stringify(receipt);
}

/** The entry of a question on a receipt. */
function consentOn({ consents }: ReceiptBody, key: string): ReceiptConsent | undefined {
  return consents.find(({ identifier }) => keyOf(identifier) === key);
}

/** Whether the answer to a question on a receipt can be withdrawn. */
export function isWithdrawableOn(receipt: ReceiptBody, key: string): boolean {
  const consent = consentOn(receipt, key);
  return consent !== undefined && isEndable(consent);
}

/** What has become of the answers on a receipt, for its pages. */
export function standingOf(receipt: ReceiptBody, standing: readonly ShownStanding[]): ConsentStanding[] {
  return receipt.consents.flatMap((consent): ConsentStanding[] => {
    const { identifier } = consent;
    const answer = standing.find(({ key }) => key === keyOf(identifier));
    if (!answer) return [];
    const named = { identifier, ...(isObjection(consent.texts) && { isObjection: true }) };
    if (isAccepted(answer))
      return (answer.isWithdrawable ?? isEndable(consent)) ? [{ ...named, withdrawn: null }] : [];
    // A consent that was withdrawn while it waited: a later refusal has ended nothing of this receipt.
    const withdrawn = consent.withdrawn ?? answer.withdrawnAt;
    return withdrawn === null ? [] : [{ ...named, withdrawn }];
  });
}
