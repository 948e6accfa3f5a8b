import { setImmediate as nextTurn } from 'node:timers/promises';
import Router, { type RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import Negotiator from 'negotiator';
import type { Document } from 'openapi-backend';
import { organisationReach, type Principal, type Role } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Admit } from '#lib/http/admission.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import { requestValidatorOf, type ValidateRequest } from '#lib/http/contract-document.ts';
import type { ContractOperation, Handler, Mode } from '#lib/http/operation.ts';
import { chargeTo, withoutCharge } from '#lib/http/pacer.ts';
import { readInput, readQuery } from '#lib/http/read-input.ts';
import { preferredMode } from '#lib/http/send.ts';
import { isStorable } from '#lib/json/check-json.ts';
import { actAs } from '#lib/observability/logger.ts';

export interface MountOptions {
  /** The whole contract; the service serves the operations with its tag. */
  document: Document;
  tag: string;
  handlers: Readonly<Record<string, Handler<never>>>;
  /** Identifies the caller. @throws Failure `unauthorized`, `forbidden`. */
  authenticate: (ctx: Context, operation: ContractOperation) => Promise<Principal>;
  /** Counts the request against its account's limit. @throws Failure `too-many-requests`. */
  limit?: (principal: Principal, operation: ContractOperation) => Promise<void>;
  /** Sheds requests under overload; without it every request is admitted. */
  admit?: Admit;
}

/**
 * Serves a service's part of the contract: route, admit, authenticate, count against the rate limit, check
 * rights, negotiate, read, validate, handle. Credentials and rights come before the content
 * (docs/interface.md).
 */
export async function mountContract(
  options: MountOptions,
): Promise<{ routes: Middleware; operations: ContractOperation[] }> {
  const { operations, validate } = await requestValidatorOf(options.document, options.tag);
  // Paths match exactly: case-sensitive, without a trailing slash.
  const router = new Router({ strict: true, sensitive: true });
  // One route per path, because the router tries all routes for every request.
  for (const [path, served] of groupByPath(operations)) {
    const byMethod = new Map<string, Middleware>();
    for (const operation of served) {
      const handler = options.handlers[operation.operationId];
      if (!handler) throw new Error(`${options.tag} has no handler for ${operation.operationId}`);
      byMethod.set(operation.method.toUpperCase(), serve(operation, handler, validate, options));
    }
    const get = byMethod.get('GET');
    if (get) byMethod.set('HEAD', get);
    const otherMethods = rejectMethod([...byMethod.keys()]);
    router.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), (ctx, next) =>
      (byMethod.get(ctx.method) ?? otherMethods)(ctx, next),
    );
  }
  const dispatch = routesOf(router);
  return {
    operations,
    routes: (ctx) =>
      dispatch(ctx, async () => {
        throw fail('not-found', 'Resource not found.');
      }),
  };
}

/** The routes of a router as middleware. */
export function routesOf(router: Router): Middleware {
  const routes = router.routes();
  // The router adds what its type asks for: the parameters of the path.
  return (ctx, next) => routes(ctx as RouterContext, next);
}

function serve(
  operation: ContractOperation,
  handler: Handler<never>,
  validate: ValidateRequest,
  options: MountOptions,
): Middleware {
  const types = producedTypes(operation);
  const htmlOnly = types.length === 1 && types[0] === 'text/html';
  const takesFormat = operation.parameters?.some(({ name }) => name === 'format');
  const submits = operation['x-submission'] === true;
  const isLasting = operation['x-fresh'] !== undefined;
  return async (ctx) => {
    ctx.state.operationId = operation.operationId;
    ctx.state.route = operation.path;
    ctx.state.htmlOnly = htmlOnly;
    ctx.state.isSubmit = submits;
    ctx.state.isLasting = isLasting;
    const admitted = options.admit?.(operation, { client: clientNetwork(ctx), response: ctx.res });
    const slot = admitted instanceof Promise ? await withoutCharge(ctx, () => admitted) : admitted;
    ctx.state.slot = slot;
    try {
      const caller = await options.authenticate(ctx, operation);
      chargeTo(ctx, caller);
      await options.limit?.(caller, operation);
      checkRights(operation, caller);
      const principal = { ...caller, reach: organisationReach(caller.roles, operation['x-roles']) };
      checkSignIn(operation, principal);
      // The parameter `format` overrides Accept; the handler reads it.
      const mode = takesFormat && ctx.query.format ? 'json' : acceptedMode(ctx, types);
      const query = readQuery(ctx, operation);
      const { body, form, isLong } = await readInput(ctx, operation);
      if (isLong) await nextTurn();
      const params = readParams(ctx);
      ctx.state.sent = body;
      validate(operation, { params, query, body });
      if (isLong) await nextTurn();
      if (types.length > 1 || mode === 'html') ctx.vary('Accept');
      ctx.state.principal = principal;
      actAs(principal.account);
      // biome-ignore lint/plugin: validated; what its type is, the operationId says (`Input`).
      await handler(ctx, { params, query, body, form, principal, mode } as never);
    } finally {
      slot?.release();
    }
  };
}

/** Path parameters; one that PostgreSQL cannot store matches no resource. */
function readParams(ctx: Context): Record<string, string> {
  const params = ctx.params as Record<string, string>;
  if (!isStorable(Object.values(params))) throw fail('not-found', 'Resource not found.');
  return params;
}

/** Operations by path, in matching order: a literal segment comes before a parameter. */
function groupByPath(operations: ContractOperation[]): [string, ContractOperation[]][] {
  const rank = ([path]: [string, unknown]) => path.replaceAll(/\{\w+\}/g, '\uffff');
  const groups = Object.entries(Object.groupBy(operations, ({ path }) => path)) as [
    string,
    ContractOperation[],
  ][];
  return groups.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** Answers OPTIONS, and rejects every method that a path does not allow. */
function rejectMethod(methods: readonly string[]): Middleware {
  const allowed = [...methods, 'OPTIONS'].join(', ');
  return async (ctx) => {
    if (ctx.method !== 'OPTIONS')
      throw fail('method-not-allowed', `Method not allowed; allowed methods: ${allowed}.`, {
        headers: { Allow: allowed },
      });
    ctx.status = 204;
    ctx.set('Allow', allowed);
  };
}

/**
 * Deny by default: a principal may use an operation if the operation's `x-roles` lists one of its roles.
 * An operation that requires no credentials refuses a transaction token, unless it lists that role.
 * The domain checks whether a resource is the principal's own.
 * @throws Failure `unauthorized` without credentials, `forbidden` with them.
 */
function checkRights(operation: ContractOperation, principal: Principal): void {
  const allowed = operation['x-roles'];
  if (principal.roles.some((role: Role) => allowed[role])) return;
  if (allowed.anonymous && !principal.roles.includes('transaction')) return;
  if (principal.roles.includes('anonymous'))
    throw fail('unauthorized', 'Credentials are required.', {
      headers: { 'WWW-Authenticate': 'Bearer realm="accord"' },
    });
  throw fail('forbidden', 'The credentials do not allow this operation.');
}

/**
 * Requires a recent sign-in for an operation with `x-fresh`. API keys and tokens without the time of the
 * sign-in are not affected.
 * @throws Failure `unauthorized` with a challenge to sign in again (RFC 9470 §3).
 */
function checkSignIn({ 'x-fresh': maxAge }: ContractOperation, { signedInAt }: Principal): void {
  if (maxAge === undefined || signedInAt === undefined) return;
  if (Date.now() / 1000 - signedInAt <= maxAge) return;
  const minutes = maxAge / 60;
  throw fail('unauthorized', `This operation requires a sign-in within the last ${minutes} minutes.`, {
    headers: {
      'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age="${maxAge}"`,
    },
  });
}

/**
 * The media types of an operation's successful responses, and HTML where browsers get a 303
 * (docs/interface.md).
 */
function producedTypes(operation: ContractOperation): string[] {
  const types = Object.entries(operation.responses)
    .filter(([status, response]) => status.startsWith('2') && !response['x-after-redirect'])
    .flatMap(([, response]) => Object.keys(response.content ?? {}));
  if (types.length > 0 && operation.responses['303']) types.push('text/html');
  return [...new Set(types)];
}

/** The media type of errors, which every operation may send. Some generated clients ask for nothing else. */
const problemType = 'application/problem+json';

/**
 * Decides between a page and a document. Operations that produce only HTML send it for a wildcard too.
 * Operations with other media types (receipts) read Accept themselves.
 * @throws Failure `not-acceptable`.
 */
function acceptedMode(ctx: Context, types: string[]): Mode {
  const accept = ctx.get('accept');
  if (types.length === 0) return preferredMode(accept) === 'html' ? 'html' : 'json';
  const html = types.includes('text/html');
  const json = types.includes('application/json');
  if (html && json) {
    const mode = preferredMode(accept);
    if (mode !== 'neither') return mode;
  }
  if (
    accept === '' ||
    new Negotiator({ headers: { accept } }).mediaType([...types, problemType]) !== undefined
  )
    return html && !json ? 'html' : 'json';
  throw fail('not-acceptable', `No acceptable media type; available: ${types.join(', ')}.`);
}
