import { areObjections, isNotice, isObjection } from '#lib/contracts/element-rules.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ExportPage, ExportPart } from '#lib/contracts/pages.ts';
import type { ReceiptBody, ReceiptConsent } from '#lib/contracts/receipt-body.ts';
import type { LanguageAttributes, Reader } from '#lib/pages/reader.ts';
import { answerTexts, emptyKey, partState, recipientViews } from './facts.ts';
import type { Drawn } from './page-model.ts';
import { contactText, receiptView } from './receipt-view.ts';
import type { RichBlocks } from './rich-blocks.ts';

type Schemas = components['schemas'];
type Transaction = ExportPart['transactions'][number];

/** A line of a cell. */
interface Line {
  text: string;
  attributes?: LanguageAttributes;
  isAside?: boolean;
}
type Cell = Line[];

/** @param words keys of the caption and of the columns. */
function table(reader: Reader, words: [caption: string, ...columns: string[]], rows: Cell[][]) {
  const [caption = '', ...columns] = words.map((word) => reader.t(word));
  return { caption, columns, rows };
}

const plain = (text: string): Cell => [{ text }];

/** The document of an export without its transactions. */
export function exportView(page: Drawn<ExportPage>, reader: Reader) {
  const { subject, instance, count, isCut, peers, audit, hold, unsubscribed, erasures = [] } = page;
  const { t } = reader;
  return {
    title: t('export.title', { instance: instance.name }),
    intro: t('export.intro', { instance: instance.name, date: reader.dateTime(page.at) }),
    cut: isCut ? t('export.cut', { instance: instance.name, count }) : null,
    facts: rows([
      [t('receipt.subject'), subject.name],
      [t('export.email'), subject.emailAddress],
      [t('receipt.language'), subject.defaultLanguage && reader.languageName(subject.defaultLanguage)],
      [t('export.since'), reader.dateTime(new Date(subject.creationTimestamp).toISOString())],
      [t('export.unsubscribed'), unsubscribed && reader.dateTime(unsubscribed)],
      [t('export.reference'), subject.id],
    ]),
    hold: hold ? holdFacts(hold, reader) : null,
    erasures: table(
      reader,
      ['export.erasures', 'export.requested', 'export.state', 'export.due', 'export.ended', 'export.reason'],
      erasures.map((erasure) => erasureRow(erasure, reader)),
    ),
    peersText: t('export.peersText', { instance: instance.name }),
    peers: table(
      reader,
      ['export.peers', 'export.organisation', 'export.address'],
      peers.map(({ name, location }) => [plain(name), plain(location)]),
    ),
    audit: auditTable(audit, reader),
  };
}

/** Who used the data of a person. */
export function auditTable(audit: readonly Schemas['ExportedAction'][], reader: Reader) {
  return table(
    reader,
    ['export.audit', 'export.at', 'export.action', 'export.by'],
    audit.map(({ at, action, by }) => [
      plain(reader.dateTime(at)),
      plain(reader.word('export.action', action)),
      plain(reader.word('export.by', by)),
    ]),
  );
}

function holdFacts({ reason, restrict, since, until }: Schemas['Hold'], reader: Reader) {
  const { t } = reader;
  return rows([
    [t('export.reason'), reason],
    [t('export.holdSince'), reader.dateTime(since)],
    [t('export.holdUntil'), until ? reader.dateTime(until) : t('export.holdOpen')],
    [t('export.restriction'), t(restrict ? 'export.restricted' : 'export.notRestricted')],
  ]);
}

function erasureRow(
  { state, reason, ground, peer, at, created, due, done }: Schemas['ExportedErasure'],
  reader: Reader,
) {
  return [
    [
      { text: reader.dateTime(created) },
      ...[peer ?? at ?? []].flat().map((location) => ({ text: location, isAside: true })),
    ],
    plain(at ? reader.t('choices.peer.erasure.asked') : reader.word('export.erasure', state)),
    plain(reader.date(due)),
    plain(done && !at ? reader.dateTime(done) : '–'),
    [reason, ground].flatMap((text) => text ?? []).map((text) => ({ text })),
  ];
}

/** Transactions of an export. */
export function exportPartView(
  { transactions, ...page }: Drawn<ExportPart>,
  reader: Reader,
  rich: RichBlocks,
) {
  const receiptOf = ({ receipt }: Transaction) =>
    receipt && receiptView({ ...page, page: 'receipt', receipt: shownReceipt(receipt) }, reader, rich);
  return {
    transactions: transactions.map((transaction) => ({
      title: reader.t(titleOf(transaction), {
        date: reader.dateTime(transaction.created),
      }),
      facts: factsOf(transaction, reader),
      tables: tablesOf(transaction, reader),
      receipt: receiptOf(transaction),
    })),
  };
}

/**
 * A receipt without the link that changes the answers, and without an author other than the subject and the
 * peer that showed the form: other authors are employees.
 */
function shownReceipt({ updateUrl: _link, author, ...receipt }: Schemas['Receipt']): ReceiptBody {
  const isShown = receipt.leader !== undefined || author === receipt.subject;
  return { ...(receipt as ReceiptBody), ...(isShown && { author }) };
}

function factsOf(transaction: Transaction, { t, ...reader }: Reader) {
  const { id, kind, state, changed, author, context } = transaction;
  const pairs = (map: Record<string, string> = {}) =>
    Object.entries(map).map(([name, value]) => `${name}: ${value}`);
  return rows([
    [t('receipt.transaction'), id],
    [t('export.state'), reader.word('export.state', state)],
    [t('export.changed'), reader.dateTime(changed)],
    [t('receipt.method'), reader.word('method', context.origin)],
    [t('receipt.author'), author && reader.word('export.author', author)],
    // A withdrawal does not expire.
    [t('export.validity'), kind ? undefined : reader.duration(context.validity)],
    [t('receipt.object'), context.object],
    [t('export.notified'), context.notificationRecipient],
    [t('export.callback'), context.callback],
    [t('receipt.contact'), ...Object.entries(context.subjectInfos ?? {}).map(contactText)],
    [t('receipt.attributes'), ...pairs(context.attributes)],
  ]);
}

function tablesOf(transaction: Transaction, reader: Reader) {
  const { records, recipients, followers, messages } = transaction;
  return [
    table(
      reader,
      ['receipt.answers', 'export.question', 'export.answer', 'export.given', 'receipt.expires'],
      records.map((record) => answerRow(record, transaction, reader)),
    ),
    table(
      reader,
      ['recipients.title', 'export.organisation', 'export.state'],
      recipientViews(recipients, reader).map(({ name, text }) => [plain(name), plain(text)]),
    ),
    table(
      reader,
      ['export.parts', 'export.organisation', 'export.address', 'export.state'],
      followers.map((follower) => {
        const { name: owner, location } = follower;
        const { state, isWithdrawn } = partState(follower);
        const text = reader.t(isWithdrawn ? 'part.withdrawn' : `part.${state}`, { owner });
        return [plain(owner), plain(location), plain(text)];
      }),
    ),
    table(
      reader,
      ['export.messages', 'export.message', 'messages.to', 'export.at', 'export.state'],
      messages.map((message) => messageRow(message, reader)),
    ),
  ];
}

function titleOf({ kind, receipt }: Transaction): string {
  if (kind !== 'WITHDRAWAL') return 'export.answers';
  const { consents = [] } = (receipt ?? {}) as Partial<ReceiptBody>;
  return areObjections(consents) ? 'export.objection' : 'export.withdrawal';
}

function answerRow(
  { element, answers, state, comment, created, expires, imported }: Transaction['records'][number],
  { receipt }: Transaction,
  reader: Reader,
): Cell[] {
  const { consents, collection } = (receipt ?? {}) as Partial<ReceiptBody>;
  const consent: ShownQuestion | undefined =
    consents?.find(({ identifier }) => identifier === element) ?? takenOver(element, imported);
  const givenOn = collection?.givenOn;
  const title = consent?.texts.title ?? consent?.texts.label;
  const attributes = consent ? reader.in(consent.lang) : {};
  const isPreference = element.split('/')[1] === 'preference';
  const isShown = consent !== undefined && isNotice(element, consent.texts) && answers[0] === 'accepted';
  const words = consent?.withdraws ? ['withdrawn'] : isShown ? ['shown'] : answers;
  const chosen = answers.length > 0 ? answers : [reader.t(emptyKey(consent?.texts ?? {}))];
  const asObjection = consent !== undefined && isObjection(consent.texts);
  const inWords = asObjection
    ? answerTexts({ ...consent, answer: answers }, reader)
    : words.map((word) => reader.word('answer', word));
  const given = isPreference ? chosen : inWords;
  return [
    typeof title === 'string' && title !== '' ? [{ text: title, attributes }] : plain(element),
    [
      ...given.map((text) => (isPreference ? { text, attributes } : { text })),
      ...(comment ? [{ text: comment, isAside: true }] : []),
      ...sourceLines(imported, reader).map((text) => ({ text, isAside: true })),
    ],
    [
      { text: reader.dateTime(created) },
      ...(givenOn
        ? [{ text: `${reader.t('receipt.givenOn')} ${reader.plainDate(givenOn)}`, isAside: true }]
        : []),
      ...(state === 'COMMITTED' ? [] : [{ text: reader.word('export.state', state), isAside: true }]),
    ],
    plain(expires ? reader.date(expires) : '–'),
  ];
}

type Imported = Transaction['records'][number]['imported'];
type ShownQuestion = Pick<ReceiptConsent, 'identifier' | 'type' | 'lang' | 'texts' | 'withdraws'>;

/** What a receipt would say of an answer that was taken over. */
function takenOver(identifier: string, imported: Imported): ShownQuestion | undefined {
  if (!imported?.texts) return undefined;
  const { lang = '', texts } = imported;
  const type = identifier.startsWith('element/preference/') ? 'preference' : 'processing';
  return { identifier, lang, texts, type };
}

/** From where an answer was taken over, and the evidence of it; a receipt is named, not written out. */
function sourceLines(imported: Imported, reader: Reader): string[] {
  if (!imported) return [];
  const { source, sourceId, evidence, value = '' } = imported;
  const shown = evidence === 'RECEIPT' ? reader.t('receipt.title') : value;
  return [`${reader.t('method.IMPORTED')}: ${source}, ${sourceId}`, ...(shown ? [shown] : [])];
}

function messageRow(
  { kind, channel, destination, state, created, sent }: Transaction['messages'][number],
  reader: Reader,
) {
  const title = reader.has(`message.${kind}.title`) ? reader.t(`message.${kind}.title`) : kind;
  return [
    [{ text: title }, { text: reader.word('export.channel', channel), isAside: true }],
    plain(destination),
    plain(reader.dateTime(sent ?? created)),
    plain(reader.word('export.sent', state)),
  ];
}

/** Rows of facts; those without a value are left out. */
function rows(pairs: [label: string, ...values: (string | undefined)[]][]) {
  return pairs.flatMap(([label, ...given]) => {
    const values = given.filter((value) => value !== undefined && value !== '') as string[];
    return values.length > 0 ? [{ label, values }] : [];
  });
}
