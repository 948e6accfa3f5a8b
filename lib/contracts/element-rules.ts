import type { DescribedElement } from './forms.ts';
import type { FormAction } from './pages.ts';

/**
 * Whether an element is a notice: a processing that cannot be refused. It is shown without a control and recorded `accepted` with every
 * submission, because a choice that has one outcome is no consent (GDPR art. 4(11)).
 */
export function isNotice(identifier: string, content: object): boolean {
  return (
    /^element\/processing\//.test(identifier) && (content as { refusable?: boolean }).refusable === false
  );
}

/**
 * What accept-all and refuse-all answer to an element, in the language of its options.
 * @returns undefined if the element keeps what was entered: other preferences, and what cannot be refused, so that both buttons lead to the
 * same state.
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
  return action === 'accept-all' ? 'accepted' : 'refused';
}
