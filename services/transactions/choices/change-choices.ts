import type { Principal } from '#lib/contracts/principal.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import type { CreateDependencies } from '../request/create.ts';
import { requireUnderDailyLimit } from '../request/daily-limit.ts';
import { readContext } from '../request/read-context.ts';
import { layoutReference } from '../transaction/context.ts';
import { insertTransaction } from '../transaction/store.ts';
import { newTransaction, type ReadTransaction } from '../transaction/transaction.ts';
import { keyOf } from '../transaction/values.ts';
import { readChoices } from './read-choices.ts';

/** What a person wants to answer again. */
export interface AskedChange {
  subject: string;
  /** Identifiers or keys. */
  elements: readonly string[];
  /** Empty: nothing. */
  object: string;
  /** Whether the form selects nothing. */
  renews: boolean;
  language: string | undefined;
}

/**
 * Creates a transaction that asks questions again which the person has answered. It has no claim on its
 * context: a person who changes an answer twice gets two forms.
 * @throws Failure `invalid` for a question that cannot be asked; of `resolveLayout`.
 */
export async function changeChoices(
  dependencies: CreateDependencies,
  principal: Principal,
  { subject, elements, object, renews, language }: AskedChange,
): Promise<ReadTransaction> {
  const { db, forms, messaging, instance, wake } = dependencies;
  await requireUnderDailyLimit(db, principal, subject);
  const choices = await readChoices(dependencies, subject);
  const faults: Fault[] = [];
  const asked = elements.flatMap((element, place) => {
    const choice = choices.find((each) => each.key === keyOf(element) && each.object === object);
    if (choice?.isChangeable) return [choice];
    faults.push({
      pointer: `/elements/${place}`,
      code: 'invalid',
      detail: 'is no question that can be asked',
    });
    return [];
  });
  const [first] = asked;
  if (!first || faults.length > 0) throw fail('invalid', 'The body is not valid.', { errors: faults });
  const body = {
    subject,
    origin: 'USER',
    layoutData: { type: 'layout', info: first.infoKey, elements: asked.map(({ key }) => key) },
    silent: renews,
    ...(object !== '' && { object }),
    ...(language && { language }),
  };
  const read = readContext(body, principal, messaging);
  const { layout } = await forms.resolveLayout(layoutReference(read.context));
  const created = newTransaction(read, layout, principal);
  const made = await insertTransaction(db, created, instance.baseUrl);
  wake();
  return made;
}
