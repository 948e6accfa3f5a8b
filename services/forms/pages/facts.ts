import type { DataController, ProcessingContent, Retention } from '#lib/contracts/form-content.ts';
import type {
  PageAnswer,
  PageContact,
  PageModel,
  PageRecipient,
  WithdrawalChoice,
} from '#lib/contracts/pages.ts';
import { type LanguageAttributes, quantity, type Reader } from '#lib/pages/reader.ts';

/** The data controller: pages show the name, and the rest under "Details". Null if it is unknown. */
export function controllerView(controller: (DataController & PageContact) | null | undefined) {
  if (!controller) return null;
  const { company, info, address, email, phoneNumber } = controller;
  const more = Boolean(info || address || email || phoneNumber);
  return company || more ? { company, info, address, email, phoneNumber, more } : null;
}

export type ControllerView = ReturnType<typeof controllerView>;

/**
 * The organisation that asks, for the masthead and the receipt; null if it is the instance itself or unknown.
 */
export function askerView(
  model: PageModel,
  reader: Reader,
): { name: string; attributes: LanguageAttributes } | null {
  const asker = askerOf(model);
  if (!asker?.name || asker.name === model.instance.name) return null;
  return { name: asker.name, attributes: reader.in(asker.lang) };
}

function askerOf(model: PageModel): { name: string | undefined; lang: string } | null | undefined {
  if (model.page === 'form') {
    const content = model.info?.content;
    if (!content || content.dataControllerVisible === false) return null;
    return { name: content.dataController?.company, lang: content.lang };
  }
  if (model.page !== 'receipt') return model.asker;
  const { information, language } = model.receipt;
  const controller = information.texts.dataController as DataController | undefined;
  // The form's page did not show a hidden controller either.
  if (information.texts.dataControllerVisible === false) return null;
  return { name: controller?.company, lang: information.lang ?? language };
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

/** An answer, as it is shown to the subject afterwards. */
export function answerView(answer: PageAnswer, reader: Reader, withdrawal?: WithdrawalChoice) {
  const { title, decision, values, owner, created } = answer;
  const attributes = reader.in(answer.lang);
  const text = reader.t(decision ? `answer.${decision}` : 'preference.none');
  return {
    title,
    attributes,
    /** Never empty. */
    values:
      decision === null && values.length > 0
        ? values.map((value) => ({ text: value, attributes }))
        : [{ text, attributes: {} as LanguageAttributes }],
    owner: owner ? reader.t('answer.toOwner', { owner }) : null,
    given: created
      ? reader.t(decision === 'withdrawn' ? 'answer.agreedOn' : 'answer.given', {
          date: reader.date(created),
        })
      : null,
    ...standingView(answer.identifier, reader, withdrawal),
  };
}

/** What a page says and offers beside an answer: when it was withdrawn, or a button that withdraws it. */
export function standingView(identifier: string, reader: Reader, withdrawal: WithdrawalChoice | undefined) {
  const standing = withdrawal?.standing.find((one) => one.identifier === identifier);
  const at = standing?.withdrawn;
  return {
    withdrawable: standing && !at ? { url: withdrawal?.url, identifiers: [identifier], peers: [] } : null,
    withdrawnOn: at ? reader.t('answer.withdrawnOn', { date: reader.dateTime(at) }) : null,
  };
}

/** What organisations know of a withdrawal, in words. */
export function recipientViews(recipients: readonly PageRecipient[] = [], reader: Reader) {
  return recipients.map(({ name, state, kept, since }) => ({
    name,
    text: reader.t(kept && state === 'ACKNOWLEDGED' ? 'recipient.kept' : `recipient.${state}`, {
      date: reader.dateTime(since),
    }),
  }));
}

/**
 * The button that withdraws all consents at once, also those that peers keep; null if there is at most one,
 * which has a button of its own.
 */
export function withdrawAllView(withdrawal: WithdrawalChoice | undefined) {
  const identifiers = (withdrawal?.standing ?? []).flatMap(({ identifier, withdrawn }) =>
    withdrawn === null ? identifier : [],
  );
  const peers = withdrawal?.peers ?? [];
  return identifiers.length > 1 || peers.length > 0 ? { url: withdrawal?.url, identifiers, peers } : null;
}
