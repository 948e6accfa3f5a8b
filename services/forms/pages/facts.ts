import type { DataController, ProcessingContent, Retention } from '#lib/contracts/form-content.ts';
import type { PageAnswer, PageContact, PageModel } from '#lib/contracts/pages.ts';
import { type LanguageAttributes, quantity, type Reader } from './reader.ts';

/** The data controller: pages show the name at once, the rest under "Details". */
export interface ControllerView {
  company: string | null;
  info: string | null;
  address: string | null;
  email: string | null;
  phoneNumber: string | null;
  /** Whether there is more than the name. */
  more: boolean;
}

/** null if the controller is unknown or hidden. */
export function controllerView(
  controller: (DataController & PageContact) | null | undefined,
): ControllerView | null {
  if (!controller) return null;
  const { company, info, address, email, phoneNumber } = controller;
  const more = Boolean(info || address || email || phoneNumber);
  if (!company && !more) return null;
  return {
    company: company || null,
    info: info || null,
    address: address || null,
    email: email || null,
    phoneNumber: phoneNumber || null,
    more,
  };
}

/**
 * The organisation that asks, for the masthead and the receipt; null if it is the instance itself or unknown.
 */
export function askerView(
  model: PageModel,
  reader: Reader,
): { name: string; attributes: LanguageAttributes } | null {
  const asker = askerOf(model);
  return !asker?.name || asker.name === model.instance.name
    ? null
    : { name: asker.name, attributes: reader.in(asker.lang) };
}

function askerOf(model: PageModel): { name: string | undefined; lang: string } | null | undefined {
  if (model.page === 'form') {
    const content = model.info?.content;
    return content?.dataControllerVisible === false
      ? null
      : content && { name: content.dataController?.company, lang: content.lang };
  }
  if (model.page !== 'receipt') return model.asker;
  const { information, language } = model.receipt;
  const controller = information.texts.dataController as DataController | undefined;
  // The form's page did not show a hidden controller either.
  if (information.texts.dataControllerVisible === false) return null;
  return { name: controller?.company, lang: information.lang ?? language };
}

/** The facts of a processing that the law wants visible at first sight (GDPR art. 13). */
export interface ProcessingFacts {
  data: string;
  /** "Contains sensitive data", in words. */
  warnings: string[];
  retention: string;
  purposes: string[];
  legalBases: string[];
  thirdParties: { name: string; value: string | null }[];
  attributes: LanguageAttributes;
}

export function processingFacts(content: ProcessingContent, reader: Reader): ProcessingFacts {
  const { purposes = [], legalBases = [], thirdParties = [] } = content;
  return {
    data: content.data,
    warnings: [
      ...(content.containsSensitiveData ? [reader.t('processing.sensitive')] : []),
      ...(content.containsMedicalData ? [reader.t('processing.medical')] : []),
    ],
    retention: retentionText(content.retention, content.lang),
    purposes: purposes.map((code) => reader.word('purpose', code)),
    legalBases: legalBases.map((code) => reader.word('legalBasis', code)),
    thirdParties: thirdParties.map(({ name, value }) => ({ name, value: value || null })),
    attributes: reader.in(content.lang),
  };
}

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

/** One answer, shown to the subject after it was given. */
export interface AnswerView {
  title: string;
  attributes: LanguageAttributes;
  decision: PageAnswer['decision'];
  /** Never empty. */
  values: { text: string; attributes: LanguageAttributes }[];
  owner: string | null;
  given: string | null;
}

export function answerView(answer: PageAnswer, reader: Reader): AnswerView {
  const attributes = reader.in(answer.lang);
  return {
    title: answer.title,
    attributes,
    decision: answer.decision,
    values:
      answer.decision === null && answer.values.length > 0
        ? answer.values.map((text) => ({ text, attributes }))
        : [
            {
              text: reader.t(answer.decision ? `answer.${answer.decision}` : 'preference.none'),
              attributes: {},
            },
          ],
    owner: answer.owner ? reader.t('answer.toOwner', { owner: answer.owner }) : null,
    given: answer.created ? reader.t('answer.given', { date: reader.date(answer.created) }) : null,
  };
}
