import type { JWK } from 'jose';
import { isNotice } from '#lib/contracts/element-rules.ts';
import type { CheckedAnswer, DescribedElement, DescribedInformation } from '#lib/contracts/forms.ts';
import { createCompactJws, createEs256 } from '#lib/jose/jws.ts';
import { sha256Canonical } from './answers.ts';
import type { ShownPart, ShownTexts } from './part.ts';
import type { Transaction } from './transaction.ts';

/** The one truth of what was asked and answered in a transaction (docs/interface.md, "Receipts"), as it is signed and stored. */
export type Receipt = Readonly<Record<string, unknown>> & {
  receiptId: string;
  transaction: string;
  timestamp: string;
  language: string;
  consents?: readonly Pick<ShownTexts, 'identifier' | 'texts'>[];
  peers?: readonly ReceiptPeer[];
};

/** What a peer asked; the answers to it are in the peer's own receipt. */
export interface ReceiptPeer extends ShownPart {
  name: string;
  location: string;
}

interface ReceiptFacts {
  receiptId: string;
  transaction: Pick<Transaction, 'id' | 'subject' | 'context' | 'parent' | 'leader'>;
  author: string;
  instance: { name: string; baseUrl: string };
  language: string;
  information: DescribedInformation;
  answers: readonly CheckedAnswer[];
  /** Asked, and left without an answer. */
  unanswered: readonly DescribedElement[];
  peers: readonly ReceiptPeer[];
  committedAt: Date;
  expiresAt: Date | null;
  updateUrl: string | undefined;
}

/** Composes the body of a receipt; members without a value are left out. */
export function composeReceipt(facts: ReceiptFacts): Receipt {
  const { transaction, instance, information } = facts;
  const { context } = transaction;
  return {
    receiptId: facts.receiptId,
    transaction: transaction.id,
    subject: transaction.subject,
    subjectInfos: context.subjectInfos,
    object: context.object,
    language: facts.language,
    jurisdiction: information.content.jurisdiction,
    collector: { instance: instance.baseUrl, name: instance.name },
    collectionMethod: context.origin,
    leader: transaction.leader ?? undefined,
    author: facts.author,
    timestamp: facts.committedAt.toISOString(),
    expirationTimestamp: facts.expiresAt?.toISOString(),
    confirmation: context.confirmation,
    information: shownTexts(information),
    consents: facts.answers.map((answer) => composeConsent(answer, instance.name)),
    unanswered:
      facts.unanswered.length > 0
        ? facts.unanswered.map((element) => composeUnanswered(element, instance.name))
        : undefined,
    peers: facts.peers.length > 0 ? facts.peers : undefined,
    privacyPolicyUrl: information.content.privacyPolicyUrl,
    attributes: context.attributes,
    updateUrl: facts.updateUrl,
    parent: transaction.parent ?? undefined,
  };
}

/** A receipt that was composed when the answers were submitted, as it is when they come into force. */
export function completeReceipt(
  draft: string,
  facts: { committedAt: Date; expiresAt: Date; updateUrl: string | undefined },
): Receipt {
  const { expirationTimestamp, ...receipt } = JSON.parse(draft) as Receipt;
  return {
    ...receipt,
    timestamp: facts.committedAt.toISOString(),
    expirationTimestamp: expirationTimestamp === undefined ? undefined : facts.expiresAt.toISOString(),
    updateUrl: facts.updateUrl,
  } as Receipt;
}

function composeConsent(answer: CheckedAnswer, owner: string) {
  return {
    identifier: answer.identifier,
    type: answer.type,
    lang: answer.content.lang,
    ...textsShown(answer.content),
    options: answer.options ?? [],
    answer: answer.value,
    owner,
  };
}

function composeUnanswered({ identifier, entry, content, answers }: DescribedElement, owner: string) {
  return {
    ...{ identifier, type: entry.type, lang: content.lang },
    ...textsShown(content),
    ...{ options: answers ?? [], owner },
  };
}

/** Identifiers of the notices on a receipt, peers' too. */
export function noticesOn({ consents, peers }: Receipt): string[] {
  const shown = [...(consents ?? []), ...(peers ?? []).flatMap(({ elements }) => elements)];
  return shown.flatMap(({ identifier, texts }) => (isNotice(identifier, texts) ? identifier : []));
}

/** What was shown of an item, for a receipt. */
export function shownTexts({
  identifier,
  content,
}: {
  identifier: string;
  content: { lang: string };
}): ShownTexts {
  return { identifier, lang: content.lang, ...textsShown(content) };
}

/** Contents of activated versions never change and are shared, so each is digested once. */
const digested = new WeakMap<object, { texts: Record<string, unknown>; sha256: string }>();

/** The texts that the page showed and their digest, hex over canonical JSON (docs/interface.md); the language is told beside them. */
function textsShown(content: { lang: string }): { texts: Record<string, unknown>; sha256: string } {
  const known = digested.get(content);
  if (known) return known;
  const { lang: _lang, ...texts } = content;
  const shown = { texts, sha256: sha256Canonical(texts).toString('hex') };
  digested.set(content, shown);
  return shown;
}

/** Signs a receipt's body as it is stored. @returns a compact JWS. */
export type ReceiptSigner = (body: string) => string;

/** Receipts are signed with the instance's key, whose public part stands in `/.well-known/accord` (docs/interface.md, "Receipts"). */
export function createReceiptSigner(signingKey: JWK & { kid: string }): ReceiptSigner {
  const header = {
    alg: 'ES256',
    kid: signingKey.kid,
    typ: 'accord-consent-receipt+jws',
    cty: 'application/json',
  };
  return createCompactJws(header, createEs256(signingKey));
}
