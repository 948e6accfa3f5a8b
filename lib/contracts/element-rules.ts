import type { FormAction } from './form-content.ts';
import type { DescribedElement } from './forms.ts';
import type { components } from './openapi.gen.ts';

type Codes = components['schemas'];

/** Purposes that a processing may have. */
export const purposes = [
  'CONSENT_CORE_SERVICE',
  'CONSENT_IMPROVED_SERVICE',
  'CONSENT_MARKETING',
  'CONSENT_THIRD_PART_SHARING',
  'CONSENT_RESEARCH',
] as const satisfies readonly Codes['PurposeCode'][];

/** Legal bases that a processing may have (GDPR, article 6(1)). */
export const legalBases = [
  'LEGAL_BASIS_CONSENT',
  'LEGAL_BASIS_CONTRACT',
  'LEGAL_BASIS_LEGITIMATE_INTEREST',
  'LEGAL_BASIS_LEGAL_OBLIGATION',
  'LEGAL_BASIS_PUBLIC_INTEREST',
  'LEGAL_BASIS_VITAL_INTEREST',
] as const satisfies readonly Codes['LegalBasisCode'][];

/**
 * Whether an element is a notice: a processing that cannot be refused. It is shown without a choice, because
 * a choice with a single outcome is not consent (GDPR art. 4(11)). Every submission of a form that shows it
 * records it as `accepted`, unless it rests on consent and its newest answer is a refusal or withdrawal.
 */
export function isNotice(identifier: string, content: object): boolean {
  return (
    /^element\/processing\//.test(identifier) && (content as { refusable?: boolean }).refusable === false
  );
}

/** How people answer a processing. */
export const processingChoices = ['CONSENT', 'OBJECTION', 'NONE'] as const satisfies readonly NonNullable<
  Codes['ProcessingContent']['choice']
>[];
type ProcessingChoice = (typeof processingChoices)[number];

/** How a processing is answered. `refusable: false` is the stored form of `NONE`. */
export function processingChoice(content: object): ProcessingChoice {
  const { refusable, choice } = content as { refusable?: boolean; choice?: ProcessingChoice };
  return refusable === false ? 'NONE' : (choice ?? 'CONSENT');
}

/**
 * Whether an element is a processing to which people may object (GDPR, article 21). `accepted`: it was shown
 * and there is no objection; `refused`: the person objects.
 */
export function isObjection(content: object): boolean {
  return processingChoice(content) === 'OBJECTION';
}

/** Whether all of these texts, at least one, are of processings to which people may object. */
export function areObjections(shown: readonly { texts: object }[]): boolean {
  return shown.length > 0 && shown.every(({ texts }) => isObjection(texts));
}

/** Whether a person can end what was accepted with these texts: withdraw a consent, or object. */
export function isEndable(shown: { texts: object }): boolean {
  return isWithdrawable(shown) || isObjection(shown.texts);
}

/**
 * Whether a person can withdraw the consent to these texts: it could be refused, or consent is a legal basis
 * (GDPR, article 7(3)).
 */
export function isWithdrawable({ texts }: { texts: object }): boolean {
  if (isObjection(texts)) return false;
  const { refusable, legalBases } = texts as { refusable?: boolean; legalBases?: string[] };
  return refusable !== false || legalBases?.includes('LEGAL_BASIS_CONSENT') === true;
}

/** Whether an element is a notice that rests on consent: the form shows it without a choice. */
export function isConsentNotice({ identifier, content }: { identifier: string; content: object }): boolean {
  return isNotice(identifier, content) && isWithdrawable({ texts: content });
}

/** Keys of the own elements among these that are notices and rest on consent. */
export function consentNotices(elements: readonly DescribedElement[]): Set<string> {
  const own = elements.filter(({ owner }) => owner === null);
  return new Set(own.filter(isConsentNotice).map(({ entry }) => entry.key));
}

/**
 * Whether Global Privacy Control speaks about an element: a processing for marketing, or that shares data
 * with third parties (https://www.w3.org/TR/gpc/).
 */
export function isAboutGpc(content: object): boolean {
  const { purposes = [] } = content as { purposes?: readonly string[] };
  return purposes.includes('CONSENT_MARKETING') || purposes.includes('CONSENT_THIRD_PART_SHARING');
}

/**
 * The answer of accept-all or refuse-all to an element, in the language of its options.
 * @returns undefined if the element keeps its entered answer: preferences other than TOGGLE, and elements
 * that cannot be refused.
 */
export function bulkAnswer(
  { entry, answers, content }: Pick<DescribedElement, 'entry' | 'answers' | 'content'>,
  action: FormAction,
): string | undefined {
  if (action === 'submit') return undefined;
  if (entry.type === 'preference') {
    const isToggle = 'valueType' in content && content.valueType === 'TOGGLE';
    return isToggle ? answers?.[action === 'accept-all' ? 1 : 0] : undefined;
  }
  if (!answers?.includes('refused')) return undefined;
  // To accept everything is no reason to take an objection back.
  if (isObjection(content)) return action === 'refuse-all' ? 'refused' : undefined;
  return action === 'accept-all' ? 'accepted' : 'refused';
}

/**
 * Whether accept-all and refuse-all can be carried out: a button is not offered where pressing it is a fault.
 * @param elements that the page shows, of all organisations.
 * @param isEntered whether an element has an answer already.
 * @returns false if no element has a choice, or one needs an answer that the buttons do not give.
 */
export function canAnswerAll<
  Element extends Pick<DescribedElement, 'identifier' | 'entry' | 'answers' | 'content' | 'required'>,
>(elements: readonly Element[], isEntered: (element: Element) => boolean): boolean {
  const isAnswered = (element: Element) => bulkAnswer(element, 'refuse-all') !== undefined;
  return (
    elements.some(isAnswered) &&
    elements.every((element) => !element.required || isAnswered(element) || isEntered(element))
  );
}
