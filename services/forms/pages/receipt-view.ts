import { areObjections, isObjection } from '#lib/contracts/element-rules.ts';
import type { ReceiptPage, WithdrawalChoice } from '#lib/contracts/pages.ts';
import type {
  ReceiptBody,
  ReceiptConsent,
  ReceiptPeer,
  ReceiptUnanswered,
} from '#lib/contracts/receipt-body.ts';
import { qrImage } from '#lib/pages/qr-code.ts';
import type { LanguageAttributes, Reader } from '#lib/pages/reader.ts';
import { safeUrl } from '../domain/rich-text.ts';
import {
  answerTexts,
  askerView,
  isOwnText,
  recipientViews,
  standingView,
  validUntilText,
  withdrawAllView,
} from './facts.ts';
import type { Drawn } from './page-model.ts';
import { elementView, informationView } from './receipt-shown.ts';
import type { RichBlocks } from './rich-blocks.ts';

type Page = Drawn<ReceiptPage>;

interface Row {
  label: string;
  values: string[];
  /** The language of values that are texts of the information. */
  attributes?: LanguageAttributes;
  /** Whether to use a fixed-width font: for identifiers. */
  code?: boolean;
}

export function receiptView(page: Page, reader: Reader, rich: RichBlocks) {
  const { receipt, transaction } = page;
  const links = transaction?.links;
  const words = headWords(receipt);
  const consents = [...receipt.consents, ...(receipt.unanswered ?? [])].map((consent) =>
    consentView(consent, reader, rich, page.withdrawal),
  );
  const owners = (receipt.peers ?? []).map((peer) =>
    ownerView(peer, answeredText(receipt, peer, reader), reader, rich),
  );
  return {
    title: reader.t(words.title),
    intro: reader.t(words.intro, {
      collector: askerView(page, reader)?.name ?? receipt.collector.name,
    }),
    main: mainRows(page, reader),
    about: aboutRows(page, reader),
    // The jurisdiction stands among the facts about the receipt.
    information: { ...informationView(shownInformation(receipt), reader, rich), jurisdiction: null },
    consents,
    owners,
    withdrawAll: withdrawAllView(page.withdrawal),
    recipients: recipientViews(transaction?.recipients, reader),
    answered: [...consents, ...owners.flatMap((owner) => owner.consents)],
    updateUrl: safeUrl(receipt.updateUrl),
    qr: receipt.updateUrl ? qrImage(receipt.updateUrl) : null,
    links: { child: links?.child, transaction: links?.subject },
    formats: (links?.receipt ? formats : []).map((mediaType) => ({
      url: `${links?.receipt}&format=${encodeURIComponent(mediaType)}`,
      text: reader.word('receipt.format', mediaType),
    })),
  };
}

/** The messages of title and introduction, by what the receipt proves. */
function headWords({ kind, consents }: ReceiptBody): { title: string; intro: string } {
  if (!kind) return { title: 'receipt.title', intro: 'receipt.intro' };
  return areObjections(consents)
    ? { title: 'receipt.objectionTitle', intro: 'receipt.objectionIntro' }
    : { title: 'receipt.withdrawalTitle', intro: 'receipt.withdrawalIntro' };
}

/** Other formats of a receipt that its page links to. */
const formats = ['application/pdf', 'text/plain', 'application/xml', 'application/json', 'application/jose'];

/** Also for receipts whose information has no language, and whose URL stands outside the information. */
function shownInformation(receipt: ReceiptBody): ReceiptPeer['information'] {
  const { information, privacyPolicyUrl } = receipt;
  const texts = { ...(privacyPolicyUrl && { privacyPolicyUrl }), ...information.texts };
  return { ...information, texts, lang: textsLanguage(receipt) };
}

/** The language of the information's texts. */
function textsLanguage({ information, language }: ReceiptPage['receipt']): string {
  return information.lang ?? language;
}

function mainRows(page: Page, reader: Reader): Row[] {
  const { receipt } = page;
  return rows(
    [
      ['receipt.subject', [receipt.subject]],
      ['receipt.contact', Object.entries(receipt.subjectInfos ?? {}).map(contactText)],
      ['receipt.object', [receipt.object]],
      ['receipt.asker', [askerView(page, reader)?.name], textsLanguage(receipt)],
      ['receipt.collector', [receipt.collector.name, receipt.collector.instance]],
      ['receipt.shownBy', receipt.leader ? [receipt.author, receipt.leader.location] : []],
      ['receipt.date', [reader.dateTime(receipt.timestamp)]],
      ['receipt.confirmation', [confirmationText(receipt, reader)]],
      ['receipt.expires', [expiryText(receipt, reader)]],
    ],
    reader,
  );
}

/**
 * Until when the answers are valid. If there is no expiry, only conditions were answered. Without own answers
 * the receipt says nothing: the validity of answers to peers is on their receipts.
 */
function expiryText(
  { kind, consents, expirationTimestamp }: ReceiptBody,
  reader: Reader,
): string | undefined {
  if (expirationTimestamp) return reader.date(expirationTimestamp);
  return kind || consents.length === 0 ? undefined : reader.t('receipt.expiresNever');
}

/** The value explains itself under the names that the service knows. */
export function contactText([name, value]: [string, string]): string {
  return name === 'emailAddress' || name === 'phoneNumber' ? value : `${name}: ${value}`;
}

/** How and when a code confirmed the answers; nothing without a confirmation. */
function confirmationText({ confirmation, timestamp }: ReceiptBody, reader: Reader): string | undefined {
  if (typeof confirmation === 'string') return undefined;
  const { type, destination = '', confirmedAt = timestamp } = confirmation;
  return reader.t(`confirmation.${type}`, { destination, date: reader.dateTime(confirmedAt) });
}

function aboutRows({ receipt }: ReceiptPage, reader: Reader): Row[] {
  const attributes = Object.entries(receipt.attributes ?? {}).map(([name, value]) => `${name}: ${value}`);
  const plain = rows(
    [
      ['receipt.method', [reader.word('method', receipt.collectionMethod)]],
      ...collectionRows(receipt, reader),
      ['receipt.signals', receipt.signals?.gpc ? [reader.t('receipt.gpc')] : []],
      ['receipt.author', receipt.leader ? [] : [receipt.author]],
      ['receipt.jurisdiction', [receipt.jurisdiction], textsLanguage(receipt)],
      ['receipt.language', [reader.languageName(receipt.language)]],
      ['receipt.attributes', attributes],
      ['receipt.verify', [`${receipt.collector.instance}/verify`]],
    ],
    reader,
  );
  const codes = rows(
    [
      ['receipt.id', [receipt.receiptId]],
      ['receipt.transaction', receipt.transaction === receipt.receiptId ? [] : [receipt.transaction]],
      ['receipt.leader', [receipt.leader?.id]],
      [receipt.kind ? 'receipt.withdrawalOf' : 'receipt.parent', [receipt.parent]],
    ],
    reader,
  );
  return [...plain, ...codes.map((row) => ({ ...row, code: true }))];
}

/** How answers were given that were recorded on behalf of the person. */
function collectionRows({ collection }: ReceiptBody, reader: Reader): [string, (string | undefined)[]][] {
  if (!collection) return [];
  const { way, givenOn, reference, document } = collection;
  return [
    ['receipt.way', [reader.word('way', way)]],
    ['receipt.givenOn', [givenOn && reader.plainDate(givenOn)]],
    ['receipt.reference', [reference]],
    ['receipt.document', [document && `SHA-256 ${document}`]],
  ];
}

/** Omits rows without a value. */
function rows(pairs: [key: string, values: (string | undefined)[], lang?: string][], reader: Reader): Row[] {
  return pairs.flatMap(([key, given, lang]) => {
    const values = given.filter((value) => value !== undefined && value !== '') as string[];
    const attributes = lang ? { attributes: reader.in(lang) } : {};
    return values.length > 0 ? [{ label: reader.t(key), values, ...attributes }] : [];
  });
}

function consentView(
  consent: ReceiptConsent | ReceiptUnanswered,
  reader: Reader,
  rich: RichBlocks,
  withdrawal?: WithdrawalChoice,
) {
  const given = 'answer' in consent ? consent : null;
  return {
    ...elementView(consent, reader, rich),
    codes: withdrawnCodes(given, reader),
    /** null if the answer went to a peer, whose receipt has it. */
    answers: given ? answerTexts(given, reader) : [reader.t('answer.none')],
    notes: given ? answerNotes(given, reader, withdrawal) : [],
    withdrawable: standingView(consent.identifier, reader, withdrawal).withdrawable,
    answerLanguage: given && isOwnText(given) ? reader.in(given.lang) : {},
    /** What is said of an answer that a peer has. */
    owner: null,
  };
}

/** The record and the receipt of the consent that a withdrawal has ended. */
function withdrawnCodes(consent: ReceiptConsent | null, reader: Reader): { label: string; value: string }[] {
  if (!consent?.withdraws) return [];
  const { record, receiptId } = consent.withdraws;
  return [
    { label: reader.t('receipt.withdrawnRecord'), value: record },
    { label: reader.t('receipt.withdrawnReceipt'), value: receiptId },
  ];
}

/** Where the answers to a peer's elements are. */
function answeredText(
  { kind }: ReceiptBody,
  { name: owner, withdrawn }: ReceiptPeer,
  reader: Reader,
): string {
  if (withdrawn) return reader.t('receipt.unsent', { owner, date: reader.dateTime(withdrawn) });
  // The receipt of a withdrawal refers to its page, which shows whether the owner could be told; other
  // receipts refer to the owner's receipt.
  return reader.t(kind ? 'receipt.withdrawnAt' : 'receipt.answeredTo', { owner });
}

/** The elements of a peer, without answers: the peer's receipt has these. */
function ownerView(
  { name, location, information, elements }: ReceiptPeer,
  answered: string,
  reader: Reader,
  rich: RichBlocks,
) {
  return {
    heading: reader.t('form.peer', { owner: name }),
    location,
    information: { ...informationView(information, reader, rich), name },
    consents: elements.map((element) => ({
      ...elementView(element, reader, rich),
      codes: [],
      answers: null,
      notes: [],
      withdrawable: null,
      answerLanguage: {},
      owner: answered,
    })),
  };
}

/** What became of a consent: on the receipt of its withdrawal, and on a page that knows of a later one. */
function answerNotes(
  { identifier, texts, withdraws, withdrawn, expirationTimestamp }: ReceiptConsent,
  reader: Reader,
  withdrawal: WithdrawalChoice | undefined,
): string[] {
  if (withdraws)
    return [
      reader.t(isObjection(texts) ? 'answer.toldOn' : 'answer.agreedOn', {
        date: reader.dateTime(withdraws.given),
      }),
    ];
  if (withdrawn) return [reader.t('answer.withdrawnBefore', { date: reader.dateTime(withdrawn) })];
  const { withdrawnOn } = standingView(identifier, reader, withdrawal);
  return [validUntilText(expirationTimestamp, reader), withdrawnOn].filter((note) => note !== null);
}
