import { isConsentNotice, isNotice, isObjection, isWithdrawable } from '#lib/contracts/element-rules.ts';
import type { CheckedAnswer, ValidCheck } from '#lib/contracts/forms.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Standing } from '../standing/in-force.ts';
import { currentOf, questionOf } from '../standing/in-force.ts';
import { keyOf } from '../transaction/values.ts';
import type { Receipt } from './receipt.ts';

/** Identifiers of the notices on a receipt, including those of peers. */
export function noticesOn({ consents, peers }: Receipt): string[] {
  const shown = [...(consents ?? []), ...(peers ?? []).flatMap(({ elements }) => elements)];
  return shown.flatMap(({ identifier, texts }) => (isNotice(identifier, texts) ? identifier : []));
}

/**
 * Whether an answer was not chosen: the form showed a notice that rests on consent, or a program left out the
 * answer to a processing that may be objected to.
 */
export function isImplied(answer: Pick<CheckedAnswer, 'identifier' | 'content' | 'positions'>): boolean {
  return isConsentNotice(answer) || (isObjection(answer.content) && answer.positions === null);
}

/**
 * Leaves out implied answers to what is refused, withdrawn or objected to: sending a form must not give the
 * consent again, nor take the objection back (docs/withdrawal.md, "The rule").
 * @param check answers to own elements, checked.
 */
export function withoutWithdrawnNotices<Check extends { answers: CheckedAnswer[] }>(
  check: Check,
  standing: Pick<Standing, 'questions'>,
): Check {
  const isWithdrawn = (key: string) => currentOf(questionOf(standing, key))?.choice === 'refused';
  const answers = check.answers.filter((answer) => !(isImplied(answer) && isWithdrawn(answer.key)));
  return { ...check, answers };
}

/** Identifiers of the notices among checked answers. */
export function noticesIn({ answers, parts }: ValidCheck): string[] {
  return [...answers, ...parts.flatMap(({ elements }) => elements)].flatMap(({ identifier, content }) =>
    isNotice(identifier, content) ? identifier : [],
  );
}

/** Keys of the answers on a receipt that are implied ({@link isImplied}). */
export function impliedOn({ consents }: ReceiptBody): string[] {
  return consents.flatMap(({ identifier, texts, options }) => {
    const isShown = isNotice(identifier, texts) && isWithdrawable({ texts });
    return isShown || (isObjection(texts) && options.length === 0) ? keyOf(identifier) : [];
  });
}
