import { isConsentNotice, isNotice, isWithdrawable } from '#lib/contracts/element-rules.ts';
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
 * Leaves out notices that rest on consent and are refused or withdrawn: a notice offers no choice, so sending
 * a form must not give the consent again (docs/withdrawal.md, "The rule").
 * @param check answers to own elements, checked.
 */
export function withoutWithdrawnNotices<Check extends { answers: CheckedAnswer[] }>(
  check: Check,
  standing: Pick<Standing, 'questions'>,
): Check {
  const isWithdrawn = (key: string) => currentOf(questionOf(standing, key))?.choice === 'refused';
  const answers = check.answers.filter((answer) => !(isConsentNotice(answer) && isWithdrawn(answer.key)));
  return { ...check, answers };
}

/** Identifiers of the notices among checked answers. */
export function noticesIn({ answers, parts }: ValidCheck): string[] {
  return [...answers, ...parts.flatMap(({ elements }) => elements)].flatMap(({ identifier, content }) =>
    isNotice(identifier, content) ? identifier : [],
  );
}

/** Keys of the notices on a receipt that rest on consent. */
export function consentNoticesOn({ consents }: ReceiptBody): string[] {
  return consents.flatMap(({ identifier, texts }) =>
    isNotice(identifier, texts) && isWithdrawable({ texts }) ? keyOf(identifier) : [],
  );
}
