import { isNotice } from '#lib/contracts/element-rules.ts';
import type { CheckedAnswer } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import type { ConsentContext } from '../domain/context.ts';
import { isWithdrawable } from '../domain/receipt.ts';
import { readStanding } from '../queries/withdrawals.ts';

/**
 * Leaves out notices that rest on consent and whose newest answer is a refusal or withdrawal: a notice offers
 * no choice, so sending a form must not give the consent again (docs/withdrawal.md, "The rule").
 * @param check answers to own elements, checked.
 */
export async function withoutWithdrawnNotices<Check extends { answers: CheckedAnswer[] }>(
  db: Queries,
  { subject, object = '' }: Pick<ConsentContext, 'subject' | 'object'>,
  check: Check,
): Promise<Check> {
  const notices = check.answers.filter(
    ({ identifier, content }) => isNotice(identifier, content) && isWithdrawable({ texts: content }),
  );
  if (notices.length === 0) return check;
  const keys = notices.map(({ key }) => key);
  const { standing } = await readStanding(db, { subject, object, keys });
  const withdrawn = standing.flatMap(({ key, value }) => (value[0] === 'refused' ? key : []));
  return { ...check, answers: check.answers.filter(({ key }) => !withdrawn.includes(key)) };
}
