import type { Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import type { Decision } from '../decisions/decision.ts';
import { answerQuestions, type GivenQuestion, requireFewEnough } from './decisions.ts';
import type { Dependencies } from './handlers.ts';

type Evaluation = Input<'evaluateAccess'>['body'];
type Semantic = NonNullable<Input<'evaluateAccesses'>['body']['options']>['evaluations_semantic'];

/** A decision in the terms of AuthZEN. */
interface Evaluated {
  decision: boolean;
  context: Omit<Decision, 'allowed'> | { reason: 'UNKNOWN' };
}

/** Where an evaluation has the members of a question. */
const partOf = {
  subject: ['subject', 'id'],
  element: ['resource', 'id'],
  purpose: ['resource', 'id'],
  object: ['resource', 'properties/object'],
  asOf: ['context', 'asOf'],
  position: ['context', 'position'],
} as const satisfies Record<keyof GivenQuestion, readonly [keyof Evaluation, string]>;

/** OpenID AuthZEN Authorization API 1.0, over the same decisions as /decisions (docs/decisions-api.md). */
export function authzenHandlers(dependencies: Dependencies) {
  const { baseUrl } = dependencies.instance;
  /** @param own the members that each evaluation has itself, if they are a list. */
  const evaluate = async (
    principal: Principal,
    evaluations: readonly Evaluation[],
    own?: readonly Evaluation[],
  ) => {
    const questions = evaluations.map(readEvaluation);
    const places = questions.flatMap((question, place) => (question ? [place] : []));
    const asked = questions.filter((question) => question !== undefined);
    const decisions = await answerQuestions(dependencies, principal, asked, (index, member) => {
      const place = places[index] ?? 0;
      const [part, rest] = partOf[member];
      return `${own?.[place]?.[part] === undefined ? '' : `/evaluations/${place}`}/${part}/${rest}`;
    });
    return questions.map((question): Evaluated => {
      const decision = question && decisions.shift();
      return decision ? present(decision) : { decision: false, context: { reason: 'UNKNOWN' } };
    });
  };
  return {
    async evaluateAccess(ctx, { body, principal }) {
      ctx.set('Cache-Control', 'private, no-cache');
      [ctx.body] = await evaluate(principal, [body]);
    },

    async evaluateAccesses(ctx, { body, principal }) {
      const { evaluations = [], options, ...common } = body;
      ctx.set('Cache-Control', 'private, no-cache');
      if (evaluations.length === 0) {
        [ctx.body] = await evaluate(principal, [common]);
        return;
      }
      requireFewEnough(evaluations, '/evaluations');
      const given = evaluations.map((each) => ({ ...common, ...each }));
      const evaluated = await evaluate(principal, given, evaluations);
      ctx.body = { evaluations: untilDecided(evaluated, options?.evaluations_semantic) };
    },

    getAuthzenConfiguration(ctx) {
      ctx.body = {
        policy_decision_point: baseUrl,
        access_evaluation_endpoint: `${baseUrl}/access/v1/evaluation`,
        access_evaluations_endpoint: `${baseUrl}/access/v1/evaluations`,
      };
    },
  } satisfies OperationHandlers;
}

/**
 * @returns undefined for what consents say nothing about: other types of subjects and resources, and other
 * actions.
 * @throws Failure `malformed` if a subject, an action or a resource is missing.
 */
function readEvaluation({ subject, action, resource, context }: Evaluation): GivenQuestion | undefined {
  if (!subject || !action || !resource)
    throw fail('malformed', 'An evaluation requires a subject, an action and a resource.');
  const { type, id, properties } = resource;
  if (subject.type !== 'subject' || action.name !== 'process') return undefined;
  if (type !== 'element' && type !== 'purpose') return undefined;
  return {
    subject: subject.id,
    [type]: id,
    object: properties?.object,
    asOf: context?.asOf,
    position: context?.position,
  };
}

function present({ allowed, ...context }: Decision): Evaluated {
  return { decision: allowed, context };
}

/** Leaves out what comes after the evaluation that decides, as the semantic says. */
function untilDecided(evaluated: Evaluated[], semantic: Semantic = 'execute_all'): Evaluated[] {
  if (semantic === 'execute_all') return evaluated;
  const decisive = semantic === 'permit_on_first_permit';
  const end = evaluated.findIndex(({ decision }) => decision === decisive);
  return end < 0 ? evaluated : evaluated.slice(0, end + 1);
}
