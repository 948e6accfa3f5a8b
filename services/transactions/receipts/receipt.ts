import type { JWK } from 'jose';
import type { ValidCheck } from '#lib/contracts/forms.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { createCompactJws, createEs256 } from '#lib/jose/jws.ts';
import { latestExpiry } from '#lib/text/answer-validity.ts';
import { codeDestination } from '../transaction/destination.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { keyOf, sha256Canonical } from '../transaction/values.ts';

/** The body of a receipt, as it is signed and stored (docs/interface.md, "Receipts"). */
export type Receipt = Readonly<Record<string, unknown>> & {
  receiptId: string;
  transaction: string;
  timestamp: string;
  language: string;
  consents?: readonly (Pick<ShownTexts, 'identifier' | 'texts'> & { expirationTimestamp?: string })[];
  peers?: readonly ReceiptPeer[];
};

/** The elements of a peer; their answers are on the peer's own receipt. */
export interface ReceiptPeer extends ShownPart {
  name: string;
  location: string;
}

interface ReceiptFacts {
  transaction: Pick<Transaction, 'id' | 'subject' | 'context' | 'parent' | 'leader'>;
  check: ValidCheck;
  author: string;
  /** How the answers came. */
  origin: string;
  instance: { name: string; baseUrl: string };
  peers: readonly ReceiptPeer[];
  committedAt: Date;
  /** When answers were withdrawn after they were given, by key. */
  withdrawn: Readonly<Record<string, string>>;
  /** Whether the form was opened, or the answers were sent, with Global Privacy Control. */
  gpc: boolean;
  /** When each answer expires, in the order of the answers; null: never. */
  expiries: readonly (Date | null)[];
  updateUrl: string | undefined;
}

/** Composes the body of a receipt; members without a value are left out. */
export function composeReceipt(facts: ReceiptFacts): Receipt {
  const { transaction, check, instance, peers } = facts;
  const { context } = transaction;
  const { info, answers, unanswered } = check;
  const expiresAt = latestExpiry(facts.expiries);
  return {
    receiptId: transaction.id,
    transaction: transaction.id,
    subject: transaction.subject,
    subjectInfos: context.subjectInfos,
    object: context.object,
    language: check.language,
    jurisdiction: info.content.jurisdiction,
    collector: { instance: instance.baseUrl, name: instance.name },
    collectionMethod: facts.origin,
    leader: transaction.leader ?? undefined,
    author: facts.author,
    timestamp: facts.committedAt.toISOString(),
    expirationTimestamp: expiresAt?.toISOString(),
    confirmation: confirmationOn(context),
    signals: facts.gpc ? { gpc: true } : undefined,
    information: shownTexts(info),
    consents: answers.map((answer, place) => {
      const item = composeItem(answer, answer.type, answer.options);
      const consent = { ...item, answer: answer.value, owner: instance.name };
      const expiring = noteExpiry(consent, facts.expiries[place] ?? null, expiresAt);
      return noteWithdrawal(expiring, facts.withdrawn[answer.key]);
    }),
    unanswered:
      unanswered.length > 0
        ? unanswered.map((element) => ({
            ...composeItem(element, element.entry.type, element.answers),
            owner: instance.name,
          }))
        : undefined,
    peers: peers.length > 0 ? peers : undefined,
    privacyPolicyUrl: info.content.privacyPolicyUrl,
    attributes: context.attributes,
    collection: context.collection,
    updateUrl: facts.updateUrl,
    parent: transaction.parent ?? undefined,
  };
}

/** How the answers are confirmed; `completeReceipt` adds the time. */
function confirmationOn(context: ReceiptFacts['transaction']['context']): ReceiptBody['confirmation'] {
  if (context.confirmation === 'NONE') return 'NONE';
  return { type: context.confirmation, destination: codeDestination(context)?.masked };
}

/** Completes the draft of a receipt when the submitted answers are committed. */
export function completeReceipt(
  draft: string,
  facts: {
    committedAt: Date;
    confirmedAt: Date | null;
    /** When each answer expires, by identifier; null: never. */
    expiries: ReadonlyMap<string, Date | null>;
    updateUrl: string | undefined;
    /** When answers were withdrawn after they were given: by key, or by base URL of their owner. */
    withdrawn: Readonly<Record<string, string>>;
  },
): Receipt {
  const { confirmation, ...receipt } = JSON.parse(draft) as Receipt & ReceiptBody;
  const { confirmedAt, withdrawn, expiries } = facts;
  const expiresAt = latestExpiry([...expiries.values()]);
  return {
    ...receipt,
    confirmation:
      typeof confirmation === 'object' && confirmedAt
        ? { ...confirmation, confirmedAt: confirmedAt.toISOString() }
        : confirmation,
    consents: receipt.consents?.map(({ expirationTimestamp: _draft, ...each }) => {
      const expiring = noteExpiry(each, expiries.get(each.identifier) ?? null, expiresAt);
      return noteWithdrawal(expiring, withdrawn[keyOf(each.identifier)]);
    }),
    peers: receipt.peers?.map((each) => noteWithdrawal(each, withdrawn[each.location])),
    timestamp: facts.committedAt.toISOString(),
    expirationTimestamp: expiresAt?.toISOString(),
    updateUrl: facts.updateUrl,
  } as Receipt;
}

/** States on an answer when it expires, if that is before the last answer on the receipt expires. */
function noteExpiry<Answered extends object>(
  answered: Answered,
  at: Date | null,
  last: Date | null,
): Answered & { expirationTimestamp?: string } {
  const isEarlier = at !== null && Number(at) !== Number(last);
  return isEarlier ? { ...answered, expirationTimestamp: at.toISOString() } : answered;
}

function noteWithdrawal<Answered extends object>(
  answered: Answered,
  at: string | undefined,
): Answered & { withdrawn?: string } {
  return at === undefined ? answered : { ...answered, withdrawn: new Date(at).toISOString() };
}

/** An element as the receipt records it, without the answer. */
export function composeItem(
  { identifier, content }: Item,
  type: string,
  options: readonly string[] | null = null,
) {
  return { identifier, type, lang: content.lang, ...digestTexts(content), options: options ?? [] };
}

interface Item {
  identifier: string;
  content: { lang: string };
}

/** The texts of an item as the receipt records them. */
export function shownTexts({ identifier, content }: Item): ShownTexts {
  return { identifier, lang: content.lang, ...digestTexts(content) };
}

/** Cached by content object: the content of an activated version never changes. */
const digested = new WeakMap<object, { texts: Record<string, unknown>; sha256: string }>();

/** The texts without `lang`, and their digest (docs/interface.md, "Receipts"). */
function digestTexts(content: { lang: string }): { texts: Record<string, unknown>; sha256: string } {
  const known = digested.get(content);
  if (known) return known;
  const { lang: _lang, ...texts } = content;
  const shown = { texts, sha256: sha256Canonical(texts).toString('hex') };
  digested.set(content, shown);
  return shown;
}

/** `body` is the exact text that was signed; `jws` contains it too. */
export interface SignedReceipt {
  body: string;
  jws: string;
}

/** Signs a receipt's body as it is stored. @returns a compact JWS. */
export type ReceiptSigner = (body: string) => string;

/** @param signingKey the instance's private key; `/.well-known/accord` publishes the public key. */
export function createReceiptSigner(signingKey: JWK & { kid: string }): ReceiptSigner {
  const header = {
    alg: 'ES256',
    kid: signingKey.kid,
    typ: 'accord-consent-receipt+jws',
    cty: 'application/json',
  };
  return createCompactJws(header, createEs256(signingKey));
}

/** Texts as they were shown, without an answer. */
export interface ShownTexts {
  identifier: string;
  lang: string;
  texts: Record<string, unknown>;
  /** Hexadecimal, over the canonical JSON of the texts. */
  sha256: string;
}

/** The texts of a peer's elements, as receipts and pages show them. */
export interface ShownPart {
  information: ShownTexts;
  elements: ShownTexts[];
}
