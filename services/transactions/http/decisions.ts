import { createHash } from 'node:crypto';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { sendNotModified } from '#lib/http/entity-tags.ts';
import { readTime } from '#lib/http/lists.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { captureUrl, isAskable, readCapture } from '../decisions/capture.ts';
import { decide, type Question } from '../decisions/decide.ts';
import type { Decision } from '../decisions/decision.ts';
import { readNow } from '../transaction/store.ts';
import { invalid, keyOf } from '../transaction/values.ts';
import type { Dependencies } from './dependencies.ts';
import { readText } from './filters.ts';

/** Members that a question has itself, or takes from the request. */
interface Circumstances {
  subject?: string;
  object?: string;
  asOf?: string;
  /** In a query: its digits. */
  position?: number | string;
  /** COLLECTED */
  evidence?: string;
}

export interface GivenQuestion extends Circumstances {
  element?: string;
  purpose?: string;
}

/** POST and GET /decisions (docs/decisions-api.md) */
export function decisionHandlers(dependencies: Dependencies) {
  return {
    async decideQuestions(ctx, { body, principal }) {
      const { questions, capture, ...common } = body;
      requireFewEnough(questions, '/questions');
      const given = questions.map((question) => ({ ...common, ...question }));
      const subjects = given.map(({ subject = '' }) => subject);
      const object = readText(common.object);
      const pointerTo = (place: number, member: keyof GivenQuestion) =>
        questions[place]?.[member] === undefined && common[member as keyof Circumstances] !== undefined
          ? `/${member}`
          : `/questions/${place}/${member}`;
      const asked = capture && { given: capture, subjects, subjectAt: pointerTo(0, 'subject'), object };
      const context = asked && (await readCapture(dependencies, principal, asked));
      const decisions = await answerQuestions(dependencies, principal, given, pointerTo);
      ctx.set('Cache-Control', 'private, no-cache');
      const isAsking = context && decisions.some(isAskable);
      const url = isAsking ? await captureUrl(dependencies, context, principal) : undefined;
      ctx.body = { asOf: latest(decisions), decisions, ...(url !== undefined && { captureUrl: url }) };
    },

    async getDecision(ctx, { query, principal }) {
      const [decision] = await answerQuestions(dependencies, principal, [query], (_, member) => `/${member}`);
      const { asOf, ...lasting } = decision as Decision;
      ctx.set('Cache-Control', 'private, no-cache');
      ctx.set('ETag', entityTag(lasting));
      if (!sendNotModified(ctx)) ctx.body = decision;
    },
  } satisfies OperationHandlers;
}

const maxQuestions = 100;

/** @throws Failure `invalid` unless there are 1 to 100. */
export function requireFewEnough(list: readonly unknown[], pointer: string): void {
  if (list.length > 0 && list.length <= maxQuestions) return;
  const errors = [invalid(pointer, `must have 1 to ${maxQuestions} members`)];
  throw fail('invalid', 'The questions are not valid.', { errors });
}

/** The entity tag of a decision without its times and positions, which change without it. */
function entityTag(decision: unknown): string {
  const text = JSON.stringify(decision, (name, value) =>
    name === 'asOf' || name === 'position' ? undefined : value,
  );
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

function latest(decisions: readonly Decision[]): string {
  return decisions.map(({ asOf }) => asOf).reduce((one, other) => (one > other ? one : other));
}

/**
 * Reads, counts and answers questions.
 * @param pointerTo where the request has a member of a question, which may be common to several.
 * @throws Failure `invalid` that names each fault; `forbidden`; `too-many-requests`.
 */
export async function answerQuestions(
  dependencies: Dependencies,
  principal: Principal,
  given: readonly GivenQuestion[],
  pointerTo: (place: number, member: keyof GivenQuestion) => string,
): Promise<Decision[]> {
  const faults: Fault[] = [];
  const questions = given.map((each, place) =>
    readQuestion(each, (member) => pointerTo(place, member), faults),
  );
  if (questions.some(({ asOf }) => asOf)) {
    const now = await readNow(dependencies.db);
    questions.forEach(({ asOf }, place) => {
      if (asOf && asOf > now) faults.push(invalid(pointerTo(place, 'asOf'), 'must not be in the future'));
    });
  }
  if (faults.length > 0)
    throw fail('invalid', 'The questions are not valid.', { errors: withoutRepeated(faults) });
  requireRight(principal, questions);
  await dependencies.countDecisions(principal, questions.length);
  const decisions = await decide(dependencies, questions);
  // The audit log does not tell what people ask about themselves (docs/audit.md).
  const isSelf = !isPrivileged(principal) && !principal.roles.includes('decision');
  dependencies.decisionCounts.count(isSelf ? 'subject' : principal.account, decisions);
  return decisions;
}

/**
 * @throws Failure `forbidden` for a person who asks about somebody else, and for a key that asks about
 * another element than its own.
 */
function requireRight(principal: Principal, questions: readonly Question[]): void {
  if (isPrivileged(principal)) return;
  const { elements } = principal;
  if (!principal.roles.includes('decision')) {
    if (questions.some(({ subject }) => subject !== principal.subject))
      throw fail('forbidden', 'You may only ask about yourself.');
  } else if (
    elements &&
    !questions.every(({ about }) => 'element' in about && elements.includes(about.element))
  )
    throw fail('forbidden', `This key may only ask about ${elements.join(', ')}.`);
}

/** A member that several questions share has its fault once. */
function withoutRepeated(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((fault) => [`${fault.pointer} ${fault.code}`, fault])).values()];
}

function readQuestion(
  given: GivenQuestion,
  pointerTo: (member: keyof GivenQuestion) => string,
  faults: Fault[],
): Question {
  const [subject, element, purpose] = [given.subject, given.element, given.purpose].map(readText);
  if (!subject) faults.push({ pointer: pointerTo('subject'), code: 'required', detail: 'is required' });
  if ((element === undefined) === (purpose === undefined))
    faults.push(invalid(pointerTo('element'), 'must be given, or purpose, and not both'));
  const asOf = readTime(given.asOf, pointerTo('asOf').slice(1), faults);
  return {
    subject: subject ?? '',
    object: readText(given.object) ?? '',
    about: purpose === undefined ? { element: keyOf(element ?? '') } : { purpose },
    asOf,
    position: given.position === undefined ? undefined : Number(given.position),
    isCollectedAlone: given.evidence !== undefined,
  };
}
