import qrcode from 'qrcode';
import { isNotice } from '#lib/contracts/element-rules.ts';
import type { ReceiptPage, WithdrawalChoice } from '#lib/contracts/pages.ts';
import type {
  ReceiptBody,
  ReceiptConsent,
  ReceiptPeer,
  ReceiptUnanswered,
} from '#lib/contracts/receipt-body.ts';
import type { LanguageAttributes, Reader } from '#lib/pages/reader.ts';
import { safeUrl } from '../domain/rich-text.ts';
import {
  askerView,
  controllerView,
  processingFacts,
  recipientViews,
  standingView,
  withdrawAllView,
} from './facts.ts';
import type { RichText } from './rich-text-tree.ts';

interface Row {
  label: string;
  values: string[];
  /** The language of values that are texts of the information. */
  attributes?: LanguageAttributes;
  /** Whether to use a fixed-width font: for identifiers. */
  code?: boolean;
}

export function receiptView(page: ReceiptPage, reader: Reader, rich: RichText) {
  const { receipt } = page;
  const texts = receipt.information.texts;
  const lang = textsLanguage(receipt);
  const consents = [...receipt.consents, ...(receipt.unanswered ?? [])].map((consent) =>
    consentView(consent, null, reader, rich, page.withdrawal),
  );
  const owners = (receipt.peers ?? []).map((peer) =>
    ownerView(peer, answeredText(receipt, peer, reader), reader, rich),
  );
  return {
    title: reader.t(receipt.kind ? 'receipt.withdrawalTitle' : 'receipt.title'),
    intro: reader.t(receipt.kind ? 'receipt.withdrawalIntro' : 'receipt.intro', {
      collector: askerView(page, reader)?.name ?? receipt.collector.name,
    }),
    main: mainRows(page, reader),
    about: aboutRows(page, reader),
    information: {
      title: text(texts.title),
      attributes: reader.in(lang),
      header: richIn(texts.header, rich, 3),
      footer: richIn(texts.footer, rich, 3),
      scope: texts.scopeVisible === true ? text(texts.scope) : null,
      controller: shownController(texts, false),
      identifier: receipt.information.identifier,
      sha256: receipt.information.sha256,
    },
    consents,
    owners,
    withdrawAll: withdrawAllView(page.withdrawal),
    isWithdrawal: receipt.kind !== undefined,
    recipients: recipientViews(page.recipients, reader),
    answered: [...consents, ...owners.flatMap((owner) => owner.consents)],
    privacyPolicy: safeUrl(receipt.privacyPolicyUrl),
    updateUrl: safeUrl(receipt.updateUrl),
    qr: receipt.updateUrl ? qrImage(receipt.updateUrl) : null,
    formats: page.links.formats.map(({ mediaType, url }) => ({
      url,
      text: reader.word('receipt.format', mediaType),
    })),
  };
}

/** The language of the information's texts. */
function textsLanguage({ information, language }: ReceiptPage['receipt']): string {
  return information.lang ?? language;
}

function mainRows(page: ReceiptPage, reader: Reader): Row[] {
  const { receipt } = page;
  return rows(
    [
      ['receipt.subject', [receipt.subject]],
      ['receipt.contact', Object.values(receipt.subjectInfos ?? {})],
      ['receipt.object', [receipt.object]],
      ['receipt.asker', [askerView(page, reader)?.name], textsLanguage(receipt)],
      ['receipt.collector', [receipt.collector.name]],
      ['receipt.shownBy', receipt.leader ? [receipt.author, receipt.leader.location] : []],
      ['receipt.date', [reader.dateTime(receipt.timestamp)]],
      ['receipt.confirmation', [confirmationText(receipt, reader)]],
      [
        'receipt.expires',
        [
          receipt.expirationTimestamp
            ? reader.date(receipt.expirationTimestamp)
            : receipt.kind
              ? undefined
              : reader.t('receipt.expiresNever'),
        ],
      ],
    ],
    reader,
  );
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
      ['receipt.signals', receipt.signals?.gpc ? [reader.t('receipt.gpc')] : []],
      ['receipt.author', receipt.leader ? [] : [receipt.author]],
      ['receipt.jurisdiction', [receipt.jurisdiction], textsLanguage(receipt)],
      ['receipt.language', [reader.languageName(receipt.language)]],
      ['receipt.attributes', attributes],
    ],
    reader,
  );
  const codes = rows(
    [
      ['receipt.id', [receipt.receiptId]],
      ['receipt.transaction', [receipt.transaction]],
      ['receipt.leader', [receipt.leader?.id]],
      [receipt.kind ? 'receipt.withdrawalOf' : 'receipt.parent', [receipt.parent]],
    ],
    reader,
  );
  return [...plain, ...codes.map((row) => ({ ...row, code: true }))];
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
  answeredTo: string | null,
  reader: Reader,
  rich: RichText,
  withdrawal?: WithdrawalChoice,
) {
  const { identifier, sha256, type, texts } = consent;
  const attributes = reader.in(consent.lang);
  const isPreference = type === 'preference';
  const offered = isNotice(identifier, texts) ? [] : consent.options;
  const options = isPreference
    ? consent.options
    : offered.map((option) => reader.t(option === 'accepted' ? 'processing.accept' : 'processing.refuse'));
  return {
    title: text(texts.title) ?? text(texts.label) ?? identifier,
    attributes,
    identifier,
    sha256,
    description: text(texts.usage) ?? text(texts.description),
    facts: type === 'processing' ? processingFacts(processingTexts(consent), reader) : null,
    controller: shownController(texts, true),
    body: type === 'conditions' ? richIn(texts.body, rich, 4) : [],
    options: options.join(' · '),
    optionsLanguage: isPreference ? attributes : {},
    /** null if the answer went to a peer, whose receipt has it. */
    answers: answeredTo === null ? answerTexts(consent, reader) : null,
    notes: 'answer' in consent ? answerNotes(consent, reader, withdrawal) : [],
    withdrawable: standingView(identifier, reader, withdrawal).withdrawable,
    answerLanguage: isPreference && 'answer' in consent && consent.answer.length > 0 ? attributes : {},
    /** What is said of an answer that a peer has. */
    owner: answeredTo,
  };
}

/** The controller if the page of the form showed it. */
function shownController(texts: Record<string, unknown>, visibleByDefault: boolean) {
  const visible = texts.dataControllerVisible ?? visibleByDefault;
  return visible === true ? controllerView(record(texts.dataController)) : null;
}

/** Where the answers to a peer's elements are. */
function answeredText(
  { kind }: ReceiptBody,
  { name: owner, withdrawn }: ReceiptPeer,
  reader: Reader,
): string {
  if (withdrawn) return reader.t('receipt.unsent', { owner, date: reader.dateTime(withdrawn) });
  // The owner has the answers, and is told of their withdrawal.
  return reader.t(kind ? 'receipt.withdrawnAt' : 'receipt.answeredTo', { owner });
}

/** The elements of a peer, without answers: the peer's receipt has these. */
function ownerView(
  { name, information, elements }: ReceiptPeer,
  answered: string,
  reader: Reader,
  rich: RichText,
) {
  const { identifier, sha256, texts, lang } = information;
  return {
    title: text(texts.title) ?? name,
    attributes: reader.in(lang),
    header: richIn(texts.header, rich, 4),
    footer: richIn(texts.footer, rich, 4),
    controller: shownController(texts, false),
    heading: reader.t('form.peer', { owner: name }),
    identifier,
    sha256,
    consents: elements.map((element) => {
      const type = (element.identifier.split('/')[1] ?? '') as ReceiptConsent['type'];
      return consentView({ ...element, type, options: [], owner: name }, answered, reader, rich);
    }),
  };
}

function answerTexts(consent: ReceiptConsent | ReceiptUnanswered, reader: Reader): string[] {
  if (!('answer' in consent)) return [reader.t('answer.none')];
  const { type, identifier, texts, answer, withdraws } = consent;
  if (withdraws) return [reader.t('answer.withdrawn')];
  if (type === 'preference') return answer.length > 0 ? answer : [reader.t('preference.none')];
  if (isNotice(identifier, texts)) return [reader.t('answer.shown')];
  return [reader.t(answer[0] === 'accepted' ? 'answer.accepted' : 'answer.refused')];
}

/** What became of a consent: on the receipt of its withdrawal, and on a page that knows of a later one. */
function answerNotes(
  { identifier, withdraws, withdrawn }: ReceiptConsent,
  reader: Reader,
  withdrawal: WithdrawalChoice | undefined,
): string[] {
  if (withdraws) return [reader.t('answer.agreedOn', { date: reader.dateTime(withdraws.given) })];
  if (withdrawn) return [reader.t('answer.withdrawnBefore', { date: reader.dateTime(withdrawn) })];
  return [standingView(identifier, reader, withdrawal).withdrawnOn ?? []].flat();
}

/** The texts of a processing as stored in a receipt, where members may be missing. */
function processingTexts({ texts, lang }: ReceiptUnanswered): Parameters<typeof processingFacts>[0] {
  return {
    ...(texts as object),
    lang,
    title: text(texts.title) ?? '',
    data: text(texts.data) ?? '',
    usage: text(texts.usage) ?? '',
    retention: record(texts.retention) ?? {},
  };
}

function richIn(value: unknown, rich: RichText, topHeading: number) {
  return rich(text(value) ?? undefined, topHeading);
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function record(value: unknown): Record<string, never> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, never>) : null;
}

/** Width of the white margin of a QR code, in modules (ISO/IEC 18004). */
const quietZone = 4;

/** A QR code as one SVG path in units of modules; null if the text is too long. */
function qrImage(text: string): { size: number; path: string } | null {
  try {
    const { modules } = qrcode.create(text, { errorCorrectionLevel: 'L' });
    const isDark = (row: number, column: number) => Boolean(modules.get(row, column));
    return { size: modules.size + 2 * quietZone, path: modulesPath(modules.size, isDark) };
  } catch {
    return null;
  }
}

/** One rectangle for each horizontal run of dark modules. */
function modulesPath(size: number, isDark: (row: number, column: number) => boolean): string {
  const runs: string[] = [];
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const start = column;
      while (column < size && isDark(row, column)) column++;
      if (column > start)
        runs.push(`M${start + quietZone} ${row + quietZone}h${column - start}v1h-${column - start}z`);
    }
  }
  return runs.join('');
}
