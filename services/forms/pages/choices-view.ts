import { isObjection } from '#lib/contracts/element-rules.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ChoicesEntryPage, ChoicesPage } from '#lib/contracts/pages.ts';
import type { ReceiptConsent } from '#lib/contracts/receipt-body.ts';
import type { LanguageAttributes, Reader } from '#lib/pages/reader.ts';
import { safeUrl } from '../domain/rich-text.ts';
import { auditTable } from './export-view.ts';
import { answerTexts, isOwnText, recipientText } from './facts.ts';
import { offeredLanguages } from './language-links.ts';
import type { Drawn } from './page-model.ts';

type Choice = components['schemas']['Choice'];

type Sent = ChoicesPage['peers'][number]['sent'];

/** A button that posts fields. */
interface Act {
  url: string;
  fields: [name: string, value: string][];
}

/** The page of everything that a person has said: each answer with what can be done about it. */
export function choicesView(page: Drawn<ChoicesPage>, reader: Reader) {
  const { own, shown, links, done, instance, returnUrl } = page;
  const { t } = reader;
  const choices = own.choices.map((choice, place) => choiceView(choice, shown[place] ?? null, page, reader));
  const withdrawable = own.choices.filter(
    (choice, place) => choice.withdrawable && !isObjection(shown[place]?.texts ?? {}),
  );
  return {
    languages: offeredLanguages(page, reader),
    title: t('choices.title'),
    intro: page.isWhole
      ? t('choices.intro', { instance: instance.name })
      : t('choices.part', { instance: instance.name }),
    done: done && t(`choices.done.${done}`),
    none: choices.length === 0 ? t('choices.none', { instance: instance.name }) : null,
    choices,
    withdrawAll: links && withdrawable.length > 1 ? actOfAll(links.withdraw, withdrawable) : null,
    peers: page.peers.map((peer) => peerView(peer, page, reader)),
    withdrawPeers: withdrawPeers(page),
    leaders: page.leaders.map(({ name, location, page: url }) => ({
      name,
      location,
      there: thereAt(url, name, reader),
    })),
    data: page.isWhole ? dataView(page, reader) : null,
    end: links?.end ?? null,
    back: returnUrl && safeUrl(returnUrl)?.startsWith('http') ? backTo(returnUrl, reader) : null,
    inFrame: page.inFrame,
  };
}

function backTo(url: string, reader: Reader) {
  return { url, text: reader.t('final.callback', { host: new URL(url).host }) };
}

function choiceView(choice: Choice, consent: ReceiptConsent | null, { links }: ChoicesPage, reader: Reader) {
  const { t } = reader;
  const { reason, given, expires, recipients, object, history, receipt } = choice;
  const attributes = choice.language ? reader.in(choice.language) : ({} as LanguageAttributes);
  const isOver = reason === 'EXPIRED' || reason === 'NOT_ACTIVE';
  const objects = isObjection(consent?.texts ?? {});
  const inWords = (answer: string[], isWithdrawn: boolean) =>
    wordsOf({ ...choice, answers: answer }, isWithdrawn && !objects ? null : consent, reader);
  return {
    title: choice.title,
    attributes,
    object: object ?? null,
    answer: inWords(choice.answers, reason === 'WITHDRAWN'),
    mark: markOf(choice),
    note: isOver ? t(`choices.note.${reason}`) : null,
    facts: [
      fact(t('choices.usage'), choice.usage, attributes),
      fact(t('processing.data'), choice.data, attributes),
      fact(t(reason === 'WITHDRAWN' ? 'choices.withdrawnOn' : 'choices.since'), reader.date(given)),
      fact(t('method.IMPORTED'), choice.imported),
      fact(t(reason === 'EXPIRED' ? 'choices.endedOn' : 'receipt.expires'), expires && reader.date(expires)),
    ].flatMap((row) => row ?? []),
    recipients: recipients.map(({ name, state, since }) => ({
      name,
      text: state && since ? recipientText({ state, since }, reader) : null,
    })),
    receipt: receipt ?? null,
    change: links && choice.changeable && !isOver ? actOf(links.change, choice) : null,
    renew: links && isRenewable(choice, objects) ? renewal(links.change, choice) : null,
    withdraw: links && choice.withdrawable ? actOf(links.withdraw, choice) : null,
    withdrawText: t(objects ? 'objection.object' : 'withdraw.button'),
    history: history.map((earlier) => ({
      date: reader.date(earlier.given),
      answer: inWords(earlier.answers, earlier.withdraws === true),
    })),
    historyTitle: t('choices.history', { count: history.length }),
  };
}

/** Whether the question is asked again with nothing selected, which takes no objection back. */
function isRenewable({ changeable, expires, reason }: Choice, objects: boolean): boolean {
  const isOver = reason === 'EXPIRED' || reason === 'NOT_ACTIVE';
  return changeable && (isOver || (expires !== undefined && !(objects && reason === 'REFUSED')));
}

/** A peer that may keep answers: what is known here, and the button that withdraws all of them. */
function peerView(
  { name, location, sent }: ChoicesPage['peers'][number],
  { links, inFrame }: ChoicesPage,
  reader: Reader,
) {
  const { t } = reader;
  const { state, forms, last, withdrawable, withdrawal, erasable, page } = sent;
  const erased = erasureText(sent, reader);
  const there = thereAt(page, name, reader);
  // In a frame, only that it has some.
  if (inFrame) return { name, location, texts: [], facts: [], withdraw: null, erase: null, there };
  const kept =
    withdrawal && state === 'WITHDRAWN'
      ? `${t('choices.peer.WITHDRAWN')} ${recipientText(withdrawal, reader)}`
      : t(`choices.peer.${state}`, { owner: name });
  return {
    name,
    location,
    // What is erased there is not kept there, unless more was sent since.
    texts: [...(isErased(sent) ? [] : [kept]), ...(erased === null ? [] : [erased])],
    facts: [
      { label: t('choices.peer.forms'), value: t('choices.peer.count', { count: forms }) },
      { label: t('choices.peer.last'), value: reader.date(last) },
    ],
    withdraw: links && withdrawable ? actAtPeers(links.withdraw, [location]) : null,
    erase: links && erasable ? actAtPeers(links.erasure, [location]) : null,
    there,
  };
}

function isErased({ erasure, erasable }: Sent): boolean {
  return erasure?.outcome === 'done' && !erasable;
}

/** What became of the request to erase what was sent to a peer; null without one. */
function erasureText({ erasure }: Sent, reader: Reader): string | null {
  if (!erasure) return null;
  const state = erasure.state === 'UNSUPPORTED' ? 'FAILED' : erasure.state;
  return `${reader.t('choices.peer.erasure.asked')} ${recipientText({ ...erasure, state }, reader)}`;
}

/** Withdraws everything that was sent from here; null if a button of one peer does it. */
function withdrawPeers({ peers, links, inFrame }: ChoicesPage): Act | null {
  const locations = peers.flatMap(({ location, sent }) => (sent.withdrawable ? location : []));
  return links && !inFrame && locations.length > 1 ? actAtPeers(links.withdraw, locations) : null;
}

function actAtPeers(url: string, locations: readonly string[]): Act {
  return { url, fields: locations.map((location) => ['peers', location]) };
}

/** The link to the choices of another organisation; null if no http page is known. */
export function thereAt(url: string | null | undefined, owner: string, { t }: Reader) {
  return url && safeUrl(url)?.startsWith('http') ? { url, text: t('choices.there', { owner }) } : null;
}

function fact(label: string, value: string | undefined, attributes: LanguageAttributes = {}) {
  return value ? { label, value, attributes } : null;
}

/** An act on one answer: of the question for its object, which is empty for none. */
function actOf(url: string, { identifier, object = '' }: Choice): Act {
  return {
    url,
    fields: [
      ['elements', identifier],
      ['object', object],
    ],
  };
}

/** An act on questions for every object. */
function actOfAll(url: string, choices: readonly Choice[]): Act {
  const identifiers = new Set(choices.map(({ identifier }) => identifier));
  return { url, fields: [...identifiers].map((identifier) => ['elements', identifier]) };
}

function renewal(url: string, choice: Choice): Act {
  const act = actOf(url, choice);
  return { ...act, fields: [...act.fields, ['renew', 'true']] };
}

/** The answer in words; texts of the element in its own language. */
function wordsOf(
  { identifier, answers, reason, language = '' }: Choice,
  consent: ReceiptConsent | null,
  reader: Reader,
) {
  const [, type = ''] = identifier.split('/');
  const isPreference = type === 'preference';
  const given = {
    identifier,
    type: type as ReceiptConsent['type'],
    texts: consent?.texts ?? {},
    answer: answers,
  };
  const isWithdrawn = consent === null && answers[0] === 'refused' && reason === 'WITHDRAWN';
  const texts = isWithdrawn ? [reader.t('answer.withdrawn')] : answerTexts(given, reader);
  return {
    texts,
    attributes: isPreference && isOwnText(given) ? reader.in(language) : ({} as LanguageAttributes),
  };
}

/** How the answer is marked, beside its words: in force, or not. */
function markOf({ reason, answers }: Choice): 'yes' | 'no' | 'over' {
  if (reason === 'EXPIRED' || reason === 'NOT_ACTIVE') return 'over';
  return reason === 'GIVEN' && answers.length > 0 ? 'yes' : 'no';
}

/** Export, who used the data, and erasure: the rights of a person in one place. */
function dataView({ links, isFresh, audit, erasures, instance }: Drawn<ChoicesPage>, reader: Reader) {
  const { t } = reader;
  const query = links?.export.includes('?') ? '&' : '?';
  const open = erasures.find(({ state }) => state !== 'DONE' && state !== 'REFUSED');
  return {
    exports:
      links && isFresh
        ? [
            { url: `${links.export}${query}format=html`, text: t('choices.export.html') },
            { url: `${links.export}${query}format=json`, text: t('choices.export.json') },
          ]
        : [],
    again: links && !isFresh ? { url: links.again, text: t('choices.export.again') } : null,
    audit: auditTable(audit, reader),
    auditNone: audit.length === 0 ? t('choices.audit.none') : null,
    erasure: links && !open ? links.erasure : null,
    erasureText: open
      ? t(`choices.erasure.${open.state}`, {
          date: reader.date(open.created),
          due: reader.date(open.due),
        })
      : t('choices.erasure.text', { instance: instance.name }),
  };
}

/** The page before a session. */
export function choicesEntryView(page: Drawn<ChoicesEntryPage>, reader: Reader) {
  const { stage, url, fault, isMailed, isFromPeer, instance } = page;
  const { t } = reader;
  const asks = stage !== 'sent' && stage !== 'open';
  return {
    languages: offeredLanguages(page, reader),
    title: t(`choices.entry.${stage}.title`, { instance: instance.name }),
    mark: stage === 'sent' || stage === 'ended' ? ('done' as const) : null,
    texts: [
      isFromPeer
        ? t('choices.entry.sent.from', { instance: instance.name })
        : t(`choices.entry.${stage}.text`, { instance: instance.name }),
      ...(asks && !isMailed ? [t('choices.entry.noMail')] : []),
    ],
    open: stage === 'open' ? url : null,
    // Nothing may have arrived: the address is asked for instead.
    ask: (asks || isFromPeer) && isMailed ? url : null,
    from: t('choices.entry.from', { instance: instance.name }),
    how: asks ? t('choices.entry.how', { instance: instance.name }) : null,
    address: fault?.address,
    isFaulty: fault !== undefined,
  };
}
