import { isNotice, isObjection } from '#lib/contracts/element-rules.ts';
import type { DataController, ProcessingContent, Retention } from '#lib/contracts/form-content.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { FormPage, PageContent, ShownInformation, WithdrawalChoice } from '#lib/contracts/pages.ts';
import type { ReceiptConsent } from '#lib/contracts/receipt-body.ts';
import { type LanguageAttributes, quantity, type Reader } from '#lib/pages/reader.ts';
import type { PageModel } from './page-model.ts';

type Schemas = components['schemas'];

/** The data controller: pages show the name, and the rest under "Details". Null if it is unknown. */
export function controllerView(controller: DataController | null | undefined) {
  if (!controller) return null;
  const { company, info, address, email, phoneNumber } = controller;
  const more = Boolean(info || address || email || phoneNumber);
  return company || more ? { company, info, address, email, phoneNumber, more } : null;
}

export type ControllerView = ReturnType<typeof controllerView>;

/**
 * The organisation that asks, for the masthead and the receipt; null if it is the instance itself or unknown,
 * or if the form hides it.
 */
export function askerView(
  model: PageModel,
  reader: Reader,
): { name: string; attributes: LanguageAttributes } | null {
  const found = controllerOf(model);
  const name = found?.controller.company;
  if (!name || found?.isHidden || name === model.instance.name) return null;
  return { name, attributes: reader.in(found.lang) };
}

/** The data controller of the information under which was asked; null if it is unknown. */
export function controllerOf(model: PageModel) {
  const shown = informationOf(model) ?? ('information' in model ? model.information : undefined);
  return controllerIn(shown, model.language);
}

/** The data controller of an information. @param language of texts that state none. */
export function controllerIn(information: ShownInformation | undefined, language: string) {
  const { dataController, dataControllerVisible } = information?.texts ?? {};
  if (!dataController) return null;
  return {
    controller: dataController as DataController,
    lang: information?.lang ?? language,
    isHidden: dataControllerVisible === false,
  };
}

/**
 * The information that a page shows. A child is asked for under the current information, not under that of
 * the receipt.
 */
export function informationOf(
  page: Exclude<PageContent, FormPage> | PageModel,
): ShownInformation | undefined {
  if (page.page === 'form') {
    const content = page.form.info?.content;
    return content && { lang: content.lang, texts: { ...content } };
  }
  if ('receipt' in page && page.page !== 'child') return page.receipt?.information;
  return page.page === 'confirm' ? page.information : undefined;
}

/** The facts of a processing that must be visible without opening anything (GDPR art. 13). */
export function processingFacts(content: ProcessingContent, reader: Reader) {
  const { data, purposes = [], legalBases = [], thirdParties } = content;
  return {
    data,
    warnings: [
      ...(content.containsSensitiveData ? [reader.t('processing.sensitive')] : []),
      ...(content.containsMedicalData ? [reader.t('processing.medical')] : []),
    ],
    retention: retentionText(content.retention, content.lang),
    purposes: purposes.map((code) => reader.word('purpose', code)),
    legalBases: legalBases.map((code) => reader.word('legalBasis', code)),
    /** Undefined: nothing is stated; empty: nobody receives the data. */
    thirdParties,
    attributes: reader.in(content.lang),
  };
}

export type ProcessingFacts = ReturnType<typeof processingFacts>;

const retentionUnits = new Set(['DAY', 'WEEK', 'MONTH', 'YEAR']);

/** The full text if there is one, else the label and the duration in the content's own language. */
function retentionText(retention: Retention | undefined, language: string): string {
  if (!retention) return '';
  if (retention.fullText) return retention.fullText;
  const { label, value, unit } = retention;
  const duration =
    value !== undefined && unit && retentionUnits.has(unit)
      ? quantity(language, value, unit.toLowerCase())
      : '';
  return [label, duration].filter(Boolean).join(' ');
}

/** An answer that was given before. */
type GivenAnswer = Pick<
  ReceiptConsent,
  'identifier' | 'type' | 'lang' | 'texts' | 'answer' | 'withdraws' | 'expirationTimestamp'
> & {
  /** Name of the peer that it went to. */
  owner: string | null;
  /** RFC 3339 */
  created?: string | undefined;
};

/** An answer, as it is shown to the subject afterwards. */
export function answerView(answer: GivenAnswer, reader: Reader, withdrawal?: WithdrawalChoice) {
  const { identifier, texts, owner, withdraws, created = withdraws?.given } = answer;
  const attributes = reader.in(answer.lang);
  const before = isObjection(texts) ? 'answer.toldOn' : 'answer.agreedOn';
  const given = withdraws ? before : 'answer.given';
  return {
    title: String(texts.title ?? texts.label ?? ''),
    attributes,
    values: answerTexts(answer, reader).map((text) => ({
      text,
      attributes: isOwnText(answer) ? attributes : ({} as LanguageAttributes),
    })),
    owner: owner ? reader.t('answer.toOwner', { owner }) : null,
    given: created ? reader.t(given, { date: reader.date(created) }) : null,
    validUntil: validUntilText(answer.expirationTimestamp, reader),
    ...standingView(identifier, reader, withdrawal),
  };
}

/** When an answer expires, if a receipt states it beside the answer. */
export function validUntilText(at: string | undefined, reader: Reader): string | null {
  return at === undefined ? null : reader.t('answer.validUntil', { date: reader.date(at) });
}

/** Whether the texts of the answer are texts of the element, in its language. */
export function isOwnText({ type, answer }: Pick<GivenAnswer, 'type' | 'answer'>): boolean {
  return type === 'preference' && answer.length > 0;
}

/** The answer in words; never empty. */
export function answerTexts(
  { identifier, type, texts, answer, withdraws }: Omit<GivenAnswer, 'lang' | 'owner'>,
  reader: Reader,
): string[] {
  if (isObjection(texts))
    return [reader.t(answer[0] === 'refused' ? 'answer.objected' : 'answer.noObjection')];
  if (withdraws) return [reader.t('answer.withdrawn')];
  if (type === 'preference') return answer.length > 0 ? answer : [reader.t(emptyKey(texts))];
  if (answer[0] === 'refused') return [reader.t('answer.refused')];
  return [reader.t(isNotice(identifier, texts) ? 'answer.shown' : 'answer.accepted')];
}

/** No box ticked is an answer; without boxes, the person has cleared the question. */
export function emptyKey({ valueType }: GivenAnswer['texts']): string {
  return valueType === 'CHECKBOXES' || valueType === 'LIST_MULTI' ? 'preference.none' : 'answer.none';
}

/** States of parts on pages, by the state of the transaction's follower. */
const partStates = {
  // While a part is WAITING, the subject sees the page for the code. After the timeout, the final page may be
  // shown before the sweeper has dropped the part.
  WAITING: 'dropped',
  SENDING: 'sending',
  HELD: 'held',
  ACCEPTED: 'accepted',
  REFUSED: 'refused',
  DROPPED: 'dropped',
} as const;

/**
 * States on pages by the reason of a DROPPED part. `late`: it, or the decision about it, was not acknowledged
 * before the deadline; it may have arrived. `unsent` is the name of a state and of a reason, with different
 * meanings: in the state `unsent` the part was withdrawn before it was sent. A part that was dropped for the
 * reason `unsent` is in the state `dropped`.
 */
const dropReasons = new Map<string | undefined, 'late' | 'unsent'>([
  ['expired', 'late'],
  ['withdrawn', 'unsent'],
]);

/** The state of a part as pages show it. */
export function partState({ state, reason, withdrawal }: Schemas['Follower']) {
  return {
    // The reason of a REFUSED part is the owner's own text.
    state: (state === 'DROPPED' && dropReasons.get(reason)) || partStates[state],
    /** Whether the withdrawal was ordered. The owner may not have been told of it yet. */
    isWithdrawn: (state === 'ACCEPTED' || state === 'HELD') && withdrawal !== undefined,
  };
}

/** What a page says and offers beside an answer: when it was withdrawn, or a button that withdraws it. */
export function standingView(identifier: string, reader: Reader, withdrawal: WithdrawalChoice | undefined) {
  const standing = withdrawal?.standing.find((one) => one.identifier === identifier);
  const at = standing?.withdrawn;
  const words = standing?.isObjection
    ? { button: 'objection.object', done: 'answer.objectedOn' }
    : { button: 'withdraw.button', done: 'answer.withdrawnOn' };
  return {
    withdrawable:
      standing && !at
        ? { url: withdrawal?.url, identifiers: [identifier], peers: [], text: reader.t(words.button) }
        : null,
    withdrawnOn: at ? reader.t(words.done, { date: reader.dateTime(at) }) : null,
  };
}

/** What organisations know of a withdrawal, in words. */
export function recipientViews(recipients: readonly Schemas['Recipient'][] = [], reader: Reader) {
  return recipients.map(({ name, ...notice }) => ({ name, text: recipientText(notice, reader) }));
}

/** What an organisation knows of a withdrawal, in words. */
export function recipientText(
  { state, outcome, since }: Pick<Schemas['Recipient'], 'state' | 'outcome' | 'since'>,
  reader: Reader,
): string {
  const isKept = outcome === 'kept' && state === 'ACKNOWLEDGED';
  return reader.t(isKept ? 'recipient.kept' : `recipient.${state}`, { date: reader.dateTime(since) });
}

/**
 * The button that withdraws all consents at once, also those that peers keep; null if there is at most one,
 * which has a button of its own.
 */
export function withdrawAllView(withdrawal: WithdrawalChoice | undefined) {
  const identifiers = (withdrawal?.standing ?? []).flatMap((each) =>
    each.withdrawn === null && !each.isObjection ? each.identifier : [],
  );
  const peers = withdrawal?.peers ?? [];
  return identifiers.length > 1 || peers.length > 0 ? { url: withdrawal?.url, identifiers, peers } : null;
}
