import { isPrivileged, isReader, type Principal } from '#lib/contracts/principal.ts';
import { Failure, fail } from '#lib/errors/fail.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { captureUrl, isAskable, readCapture } from '../decisions/capture.ts';
import type { Decision } from '../decisions/decision.ts';
import { type AccessMapping, type AskedAccess, firstFitting, questionOf } from '../decisions/mapping.ts';
import { answerQuestions, type GivenQuestion, requireFewEnough } from './decisions.ts';
import type { Dependencies } from './dependencies.ts';

type Batch = Input<'evaluateAccesses'>['body'];
/** Of a list: an entry that lacks a required member is false. */
type Evaluation = NonNullable<Batch['evaluations']>[number];
type Semantic = NonNullable<Batch['options']>['evaluations_semantic'];

/** A decision in the terms of AuthZEN. */
interface Evaluated {
  decision: boolean;
  context: (Omit<Decision, 'allowed'> | { reason: 'UNKNOWN' }) & {
    access_request?: { form_url: string };
    error?: { status: number; message: string };
  };
}

/** What an evaluation asks. */
interface Asked {
  /** Whether it lacks a required member. */
  isIncomplete?: boolean;
  /** Undefined for what consents say nothing about. */
  question: GivenQuestion | undefined;
  /** The context of the form that its mapping has. */
  capture?: Record<string, unknown> | undefined;
}

/** Where an evaluation has the members of a question. */
const partOf = {
  subject: ['subject', 'id'],
  element: ['resource', 'id'],
  purpose: ['resource', 'id'],
  object: ['resource', 'properties/object'],
  asOf: ['context', 'asOf'],
  position: ['context', 'position'],
  evidence: ['context', 'evidence'],
} as const satisfies Record<keyof GivenQuestion, readonly [keyof Evaluation, string]>;

/** OpenID AuthZEN Authorization API 1.0, over the same decisions as /decisions (docs/decisions-api.md). */
export function authzenHandlers(dependencies: Dependencies) {
  const { baseUrl } = dependencies.instance;
  /**
   * @param own the members that each evaluation has itself, if they are a list.
   * @param semantic leaves out what comes after the evaluation that decides.
   */
  const evaluate = async (
    principal: Principal,
    evaluations: readonly Evaluation[],
    { own, semantic }: { own?: readonly Evaluation[]; semantic?: Semantic } = {},
  ) => {
    const mappings = await dependencies.accessMappings.known();
    const all = evaluations.map((evaluation) => readEvaluation(mappings, evaluation));
    const places = all.flatMap(({ question }, place) => (question ? [place] : []));
    const asked = all.flatMap(({ question }) => (question ? [question] : []));
    const decisions = await answerQuestions(dependencies, principal, asked, (index, member) => {
      const place = places[index] ?? 0;
      const [part, rest] = partOf[member];
      const given = own?.[place]?.[part];
      const isOwn = given !== undefined && (rest !== 'id' || given.id !== undefined);
      return `${isOwn ? `/evaluations/${place}` : ''}/${part}/${rest}`;
    });
    const decided = all.map((each) => ({ ...each, decision: each.question && decisions.shift() }));
    const formUrl = createFormUrls(dependencies, principal);
    return Promise.all(
      untilDecided(decided, semantic).map(async ({ decision, ...each }): Promise<Evaluated> => {
        if (!decision) return undecided(each);
        const { allowed, ...context } = decision;
        const url = isAskable(decision) ? await formUrl(each) : undefined;
        const mending = url === undefined ? {} : { access_request: { form_url: url } };
        return { decision: allowed, context: { ...context, ...mending } };
      }),
    );
  };
  return {
    async evaluateAccess(ctx, { body, principal }) {
      ctx.set('Cache-Control', 'private, no-cache');
      [ctx.body] = await evaluate(principal, [requireComplete(body)]);
    },

    async evaluateAccesses(ctx, { body, principal }) {
      const { evaluations = [], options, ...common } = body;
      ctx.set('Cache-Control', 'private, no-cache');
      if (evaluations.length === 0) {
        [ctx.body] = await evaluate(principal, [requireComplete(common)]);
        return;
      }
      requireFewEnough(evaluations, '/evaluations');
      const given = evaluations.map((each) => withDefaults(each, common));
      const semantic = options?.evaluations_semantic;
      ctx.body = { evaluations: await evaluate(principal, given, { own: evaluations, semantic }) };
    },

    getAuthzenConfiguration(ctx) {
      ctx.body = {
        policy_decision_point: baseUrl,
        access_evaluation_endpoint: `${baseUrl}/access/v1/evaluation`,
        access_evaluations_endpoint: `${baseUrl}/access/v1/evaluations`,
        capabilities: [],
      };
    },
  } satisfies OperationHandlers;
}

/**
 * An evaluation of a list with what the request has for all. A member of its own replaces the other whole,
 * but for the identifiers that it lacks.
 */
function withDefaults(own: Evaluation, common: Evaluation): Evaluation {
  const evaluation: Evaluation = { ...common, ...own };
  for (const [part, names] of identifiers) {
    const [given, usual] = [own[part], common[part]];
    if (!given || !usual) continue;
    const missing = names.filter((name) => given[name] === undefined && usual[name] !== undefined);
    const added = Object.fromEntries(missing.map((name) => [name, usual[name]]));
    evaluation[part] = { ...given, ...added };
  }
  return evaluation;
}

const identifiers = [
  ['subject', ['type', 'id']],
  ['action', ['name']],
  ['resource', ['type', 'id']],
] as const;

const incomplete = 'An evaluation requires a subject, an action and a resource.';

/** @throws Failure `malformed` if a subject, an action or a resource is missing. */
function requireComplete(evaluation: Evaluation): Evaluation {
  if (readAccess(evaluation)) return evaluation;
  throw fail('malformed', incomplete);
}

function undecided({ isIncomplete }: Asked): Evaluated {
  const error = isIncomplete && { error: { status: 400, message: incomplete } };
  return { decision: false, context: { reason: 'UNKNOWN', ...error } };
}

function readAccess({ subject, action, resource }: Evaluation): AskedAccess | undefined {
  const texts = [subject?.type, subject?.id, action?.name, resource?.type, resource?.id];
  return texts.includes(undefined) ? undefined : ({ subject, action, resource } as AskedAccess);
}

/** Reads what an evaluation asks: what the first fitting mapping says, else this service's own words. */
function readEvaluation(mappings: readonly AccessMapping[], evaluation: Evaluation): Asked {
  const asked = readAccess(evaluation);
  if (!asked) return { question: undefined, isIncomplete: true };
  const { context, resource } = evaluation;
  const { subject, action } = asked;
  const { asOf, position, evidence } = context ?? {};
  const circumstances = { subject: subject.id, asOf, position, evidence };
  const mapping = firstFitting(mappings, asked);
  if (mapping) {
    const question = questionOf(mapping, asked);
    return { question: question && { ...circumstances, ...question }, capture: mapping.capture };
  }
  const { type, id } = asked.resource;
  const isOwn = subject.type === 'subject' && action.name === 'process';
  if (!isOwn || (type !== 'element' && type !== 'purpose')) return { question: undefined };
  return { question: { ...circumstances, [type]: id, object: resource?.properties?.object } };
}

/**
 * Creates what finds the form that can mend a denial, once for equal ones of a request. A form that cannot be
 * made leaves the decision as it is.
 */
function createFormUrls(dependencies: Dependencies, principal: Principal) {
  const mayCapture = isPrivileged(principal) && !isReader(principal);
  const found = new Map<string, Promise<string | undefined>>();
  const find = async (given: Record<string, unknown>, { subject = '', object }: GivenQuestion) => {
    try {
      const asked = { given, subjects: [subject], subjectAt: '/subject/id', object };
      const context = await readCapture(dependencies, principal, asked);
      return await captureUrl(dependencies, context, principal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      dependencies.log.warn('failed to make the form of an AuthZEN denial', { error });
      return undefined;
    }
  };
  return ({ question, capture }: Asked): Promise<string | undefined> => {
    if (!mayCapture || !question || !capture) return Promise.resolve(undefined);
    const key = JSON.stringify([capture, question.subject, question.object]);
    const url = found.get(key) ?? find(capture, question);
    found.set(key, url);
    return url;
  };
}

/** Leaves out what comes after the evaluation that decides, as the semantic says. */
function untilDecided<T extends { decision: Decision | undefined }>(
  decided: T[],
  semantic: Semantic = 'execute_all',
): T[] {
  if (semantic === 'execute_all') return decided;
  const decisive = semantic === 'permit_on_first_permit';
  const end = decided.findIndex(({ decision }) => (decision?.allowed ?? false) === decisive);
  return end < 0 ? decided : decided.slice(0, end + 1);
}
