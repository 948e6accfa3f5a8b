import { isObjection } from '#lib/contracts/element-rules.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { MessageKind, MessageRequest, RenderedMessage } from '#lib/contracts/messages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { Failure } from '#lib/errors/fail.ts';
import type { OutgoingMail } from '#lib/mail/mail-transport.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import { readCodeLife } from '../answer/codes-store.ts';
import { maxPeople } from '../choices/ask-link.ts';
import { maskName } from '../choices/choice.ts';
import { storeChoicesLink } from '../choices/links-store.ts';
import { linkMinutes } from '../choices/session.ts';
import type { Message } from '../messages/message.ts';
import { readPeopleOf } from '../person/contacts-sql.ts';
import { receiptPdf } from '../present/receipt-pdf.ts';
import { shownTitle } from '../present/result-page.ts';
import { readReceipt, readReceiptBody } from '../receipts/store.ts';
import type { Part } from '../sent-parts/part.ts';
import { readPartLanguage, readParts } from '../sent-parts/store.ts';
import { receiptExpiry } from '../transaction/access.ts';
import type { ShortCodes } from '../transaction/short-link.ts';
import { storeShortLink } from '../transaction/short-links-store.ts';
import { readTransactionWithReceipt } from '../transaction/store.ts';
import { isFinal, type ReadTransaction, stateAt } from '../transaction/transaction.ts';

interface Dependencies {
  db: Queries;
  forms: FormsOperations;
  shortCodes: ShortCodes;
  instance: Instance;
}

/** A message to be composed. `code`: the six digits. */
export type MessageToCompose = Pick<Message, 'id' | 'kind' | 'channel'> & {
  transaction: string;
  code?: string;
  campaign?: MessageRequest['campaign'];
};

type ComposedMessage = RenderedMessage & { attachments: OutgoingMail['attachments'] };

/**
 * Renders a message in the language of its subject.
 * @returns undefined if it need not be sent: the transaction does not exist, the transaction of an invitation
 * has ended, or every part that the bad news is about has meanwhile been stored after all or was withdrawn.
 */
export async function composeMessage(
  dependencies: Dependencies,
  { id: message, kind, channel, transaction: id, code, campaign }: MessageToCompose,
): Promise<ComposedMessage | undefined> {
  const { db, forms, instance } = dependencies;
  const read = await readTransactionWithReceipt(db, id);
  if (!read || isObsolete(kind, read)) return undefined;
  const { transaction } = read;
  const owners = kind === 'bad-news' ? await failedOwners(db, read) : [];
  // Every failed part was stored after all or was withdrawn.
  if (kind === 'bad-news' && transaction.state === 'COMMITTED' && owners.length === 0) return undefined;
  // While answers are SUBMITTED, the draft of the receipt states the language of the form. A rollback deletes
  // the draft.
  const body = read.receipt ?? (await readReceiptBody(db, id));
  const receipt = body === undefined ? undefined : (JSON.parse(body) as ReceiptBody);
  const answeredIn = receipt?.language ?? (kind === 'bad-news' ? await readPartLanguage(db, id) : undefined);
  const language = answeredIn ?? transaction.context.language;
  const languages = [...(language ? [language] : []), instance.language];
  const content: MessageRequest = {
    kind,
    channel,
    languages,
    information: receipt?.information,
    layout: transaction.layout,
    model: kind === 'notification' ? (transaction.layout.notification ?? null) : null,
    theme: transaction.layout.theme ?? null,
    link: kind === 'code' ? null : await linkOf(dependencies, { id: message, kind }, read),
    code: code ?? null,
    minutes: kind === 'code' ? await readCodeMinutes(db, id) : null,
    until: untilOf(kind, read)?.toISOString() ?? null,
    owners,
    ...(campaign && { campaign }),
    ...(kind === 'withdrawal' && receipt && { withdrawn: withdrawnOn(receipt) }),
  };
  if (kind !== 'notification') return { ...(await forms.renderMessage(content)), attachments: [] };
  const { attachments, isLeftOut } = await attachReceipt(dependencies, read);
  const rendered = await forms.renderMessage({ ...content, ...(isLeftOut && { isReceiptLeftOut: true }) });
  return { ...rendered, attachments };
}

/**
 * Renders the mail with a link to the choices of each person who has an address.
 * @param language of the page on which it was asked for, BCP 47.
 * @returns undefined if nobody has the address any more.
 */
export async function composeChoicesMail(
  dependencies: Dependencies,
  { id, to, language }: Pick<Message, 'id'> & { to: string; language: string | undefined },
): Promise<ComposedMessage | undefined> {
  const { db, forms, instance } = dependencies;
  const people = await readPeopleOf(db, to, maxPeople);
  const links: { name: string; url: string }[] = [];
  for (const person of people)
    links.push({ name: maskName(person.name), url: await storeChoicesLink(dependencies, person, id) });
  const [first] = links;
  if (!first) return undefined;
  const own = people.flatMap(({ defaultLanguage }) => defaultLanguage ?? []);
  const languages = [...(language ? [language] : []), ...own, instance.language];
  const content: MessageRequest = {
    kind: 'choices',
    channel: 'mail',
    languages,
    layout: null,
    model: null,
    theme: null,
    link: first.url,
    ...(links.length > 1 && { links }),
    code: null,
    minutes: linkMinutes,
    until: null,
    owners: [],
  };
  return { ...(await forms.renderMessage(content)), attachments: [] };
}

/** For how long the code of a transaction is still valid, in whole minutes. */
async function readCodeMinutes(db: Queries, transaction: string): Promise<number> {
  const life = await readCodeLife(db, transaction);
  return wholeMinutes(life ? (life.expiresAt.getTime() - life.now.getTime()) / 1000 : 0);
}

/** Messages state the full life of a code if they are composed within so many seconds after it was drawn. */
const composeSeconds = 10;

/**
 * The life of a code as messages state it: in minutes, rounded down with a tolerance of ten seconds, at least
 * one.
 */
export function wholeMinutes(seconds: number): number {
  return Math.max(1, Math.floor((seconds + composeSeconds) / 60));
}

/**
 * The receipt as an attached PDF; no attachment without a receipt, or if there is no PDF of it.
 * @throws Failure `unavailable` if too many PDFs are being rendered; the mail is then composed again.
 */
async function attachReceipt(
  dependencies: Dependencies,
  read: ReadTransaction,
): Promise<{ attachments: OutgoingMail['attachments']; isLeftOut: boolean }> {
  const signed = await readReceipt(dependencies.db, read.transaction.id);
  if (!signed) return { attachments: [], isLeftOut: false };
  const receipt = JSON.parse(signed.body) as ReceiptBody;
  const content = await receiptPdf(
    dependencies.forms,
    read,
    { receipt, jws: signed.jws },
    { asker: 'messages' },
  ).catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'unavailable') throw error;
    return undefined;
  });
  if (!content) return { attachments: [], isLeftOut: true };
  const attachment = { filename: 'receipt.pdf', contentType: 'application/pdf', content };
  return { attachments: [attachment], isLeftOut: false };
}

/** Whether a message leads to a form. */
const invites = (kind: MessageKind) => kind === 'invitation' || kind === 'campaign';

/** Whether a message need not be sent any more: an invitation to a transaction that has ended. */
function isObsolete(kind: MessageKind, { transaction, now }: ReadTransaction): boolean {
  return invites(kind) && isFinal(stateAt(transaction, now));
}

/**
 * An invitation links to the form. Other mails link to the result, with a token that does not allow answers
 * to this transaction, because people other than the subject may read the mails later. The token allows a
 * withdrawal and a child, in which answers can be given.
 */
async function linkOf(
  dependencies: Dependencies,
  { id, kind }: Pick<Message, 'id' | 'kind'>,
  read: ReadTransaction,
): Promise<string> {
  const use = invites(kind) ? 'tx' : 'receipt';
  return (await storeShortLink(dependencies, read, { id, use })).url;
}

function untilOf(kind: MessageKind, { transaction }: ReadTransaction) {
  return invites(kind) ? transaction.expiresAt : receiptExpiry(transaction);
}

/** What the receipt of a withdrawal says that was withdrawn. */
function withdrawnOn({ consents, peers = [] }: ReceiptBody): NonNullable<MessageRequest['withdrawn']> {
  const [objections = [], withdrawn = []] = [true, false].map((objects) =>
    consents.filter(({ texts }) => isObjection(texts) === objects),
  );
  const entries = [
    { peer: null, elements: withdrawn },
    { peer: null, isObjection: true, elements: objections },
    ...peers.map(({ name, elements }) => ({ peer: name, elements })),
  ];
  return entries
    .map(({ elements, ...entry }) => ({ ...entry, elements: elements.map(shownTitle) }))
    .filter(({ elements }) => elements.length > 0);
}

async function failedOwners(
  db: Queries,
  { transaction }: ReadTransaction,
): Promise<MessageRequest['owners']> {
  if (transaction.state !== 'COMMITTED') return [];
  const parts = (await readParts(db, [transaction])).get(transaction.id) ?? [];
  return parts
    .filter(({ withdrawal }) => withdrawal === null)
    .filter(({ state }) => state === 'REFUSED' || state === 'DROPPED')
    .map(({ name, state, reason, shown }: Part) => ({
      name,
      ...(state === 'DROPPED' && reason === 'expired' && { late: true }),
      elements: shown.elements.map(shownTitle),
    }));
}
