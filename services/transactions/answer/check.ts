import type { AnswerCheck, FormsOperations } from '#lib/contracts/forms.ts';
import { validRecords } from '#lib/contracts/record-status.ts';
import type { Queries } from '#lib/db/database.ts';
import { addDuration } from '#lib/text/duration.ts';
import { sealExpiry } from '../sent-parts/part.ts';
import { readActiveVersions } from '../standing/active-versions.ts';
import { readEarlier } from '../standing/earlier-store.ts';
import { readContact } from '../transaction/contact.ts';
import type { ConsentContext } from '../transaction/context.ts';
import {
  hidesAnswered,
  isByStranger,
  peersMayStayUnanswered,
  type Transaction,
} from '../transaction/transaction.ts';

interface CheckDependencies {
  db: Queries;
  forms: FormsOperations;
}

/** Answers to be checked. */
interface GivenAnswers {
  answers: Record<string, string[]>;
  /** A form post (docs/interface.md, "Answers"). */
  form: boolean;
  /** The language that the person has chosen on the form, instead of that of the context. */
  language?: string | undefined;
  /** Languages of the reader, best first. */
  languages: string[];
}

/** Checks answers to a transaction that exists, or that is created together with them. */
export async function checkAnswers(
  { db, forms }: CheckDependencies,
  transaction: Pick<
    Transaction,
    'layout' | 'context' | 'parent' | 'createdAt' | 'createdBy' | 'isAddressKnown'
  >,
  now: Date,
  { answers, form, language, languages }: GivenAnswers,
): Promise<AnswerCheck> {
  const { context, layout, createdAt, isAddressKnown } = transaction;
  const shown = language ?? context.language;
  const asksPeers = layout.elements.some((key) => key.includes('@'));
  const subjectInfos = asksPeers && isAddressKnown ? readContact(context.subjectInfos) : undefined;
  return forms.checkAnswers({
    layout,
    openedAt: createdAt.toISOString(),
    languages: shown ? [shown, ...languages] : languages,
    answers,
    form,
    hidden: await hiddenKeys(db, forms, transaction, now),
    givenAt: now.toISOString(),
    sealUntil: sealExpiry(context, latestRelease(context, { createdAt, now })).toISOString(),
    peersOptional: peersMayStayUnanswered(transaction),
    isSilent: context.silent,
    // Staff copies what is on a paper, or was said: nobody can be asked again for an answer.
    takesBlanks: !form && context.collection !== undefined,
    ...(subjectInfos && { subjectInfos, isAddressConfirmed: isAddressConfirmed(transaction) }),
  });
}

/**
 * Whether the person entered the e-mail address before the answers, and only a code that was mailed there
 * releases the parts. An address that staff or a program names does not count, even if its code came back: it
 * may be their own (docs/choices.md, "Answers that other organisations brought").
 */
function isAddressConfirmed({ context, createdBy }: Pick<Transaction, 'context' | 'createdBy'>): boolean {
  return isByStranger({ createdBy }) && context.confirmation === 'EMAIL_CODE';
}

/** The latest time at which parts are released to peers: now, or the deadline for the code. */
function latestRelease({ confirmation, timeout }: ConsentContext, at: { createdAt: Date; now: Date }): Date {
  return confirmation === 'NONE' ? at.now : addDuration(at.createdAt, timeout);
}

/** Elements that the form hides: they have a valid answer (openapi.yaml, `existingElementsVisible`). */
async function hiddenKeys(
  db: Queries,
  forms: FormsOperations,
  { layout, context, parent }: Pick<Transaction, 'layout' | 'context' | 'parent'>,
  now: Date,
): Promise<string[]> {
  if (!hidesAnswered({ layout, context, parent }) || context.silent) return [];
  const earlier = await readEarlier(db, context.subject, context.object ?? '', layout.elements);
  const active = await readActiveVersions(forms, earlier);
  // A refused notice need not be hidden from the check: its answer is left out (`withoutWithdrawnNotices`).
  return validRecords(earlier, { active, notices: new Set() }, now).map(({ key }) => key);
}
