import { isPrivileged, isReader, type Principal } from '#lib/contracts/principal.ts';
import { fail, prefixPointers } from '#lib/errors/fail.ts';
import { type CreateDependencies, createTransaction } from '../request/create.ts';
import { readContext } from '../request/read-context.ts';
import type { ReadContext } from '../transaction/context.ts';
import { mintLinks, type TransactionTokens } from '../transaction/links.ts';
import { invalid, isFault, parseSubject } from '../transaction/values.ts';
import type { Decision, DecisionReason } from './decision.ts';

/** The context of a form for those whom decisions are about. */
export interface Capture {
  given: Record<string, unknown>;
  /** Subjects of the questions. */
  subjects: readonly string[];
  /** Where the request names the first subject. */
  subjectAt: string;
  /** Object of the request, for a context without one. */
  object: string | undefined;
}

/**
 * Reads the context for a form that asks what decisions lack.
 * @throws Failure `forbidden` for callers that may not create transactions for others; `invalid` if the
 * questions are about several people, or the context names one; Failure of `readContext`, all with pointers
 * below `/capture`.
 */
export function readCapture(
  { messaging }: Pick<CreateDependencies, 'messaging'>,
  principal: Principal,
  { given, subjects, subjectAt, object }: Capture,
): Promise<ReadContext> {
  if (!isPrivileged(principal) || isReader(principal)) throw fail('forbidden', 'You may not use capture.');
  const [subject, ...others] = new Set(subjects);
  const named = parseSubject({ value: subject ?? '', pointer: subjectAt });
  const errors = [
    ...(isFault(named) ? [named] : []),
    ...(others.length > 0 ? [invalid('/capture', 'needs questions about one person')] : []),
    ...('subject' in given ? [invalid('/capture/subject', 'must not be set')] : []),
  ];
  if (errors.length > 0) throw fail('invalid', 'The context is not valid.', { errors });
  return prefixPointers('/capture', async () => {
    const read = readContext({ ...given, subject }, principal, { channels: messaging.channels });
    return { ...read, context: { ...(object !== undefined && { object }), ...read.context } };
  });
}

/** Reasons that an answer can change: not a refusal, and not an element that no form can show. */
const askable = new Set<DecisionReason>(['NO_ANSWER', 'EXPIRED', 'NOTICE_CHANGED', 'CHANGED']);

/** Whether asking the person can change a decision. */
export function isAskable(decision: Decision): boolean {
  return askable.has(decision.reason) || ('decisions' in decision && decision.decisions.some(isAskable));
}

/**
 * Creates the transaction of a context, or finds the one of an equal context.
 * @returns its URL with a token.
 * @throws Failure of `createTransaction`, with pointers below `/capture`.
 */
export async function captureUrl(
  dependencies: CreateDependencies & { tokens: TransactionTokens },
  context: ReadContext,
  principal: Principal,
): Promise<string> {
  const read = await prefixPointers('/capture', () => createTransaction(dependencies, context, principal));
  return mintLinks(dependencies, read, principal).transaction;
}
