import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Document } from 'openapi-backend';
import type { Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { acceptedMode, producedTypes } from '#lib/http/accept.ts';
import { checkRights } from '#lib/http/check-rights.ts';
import type { ContractOperation, Handler, Handlers } from '#lib/http/operation.ts';
import type { Admit } from '#lib/http/overload-guard.ts';
import { pruneDocument } from '#lib/http/prune-document.ts';
import { readInput, readQuery } from '#lib/http/read-input.ts';
import { createRequestValidator, type ValidateRequest } from '#lib/http/validate-request.ts';
import { isStorable } from '#lib/json/check-json.ts';

interface MountOptions {
  /** The whole contract; the service serves the operations with its tag. */
  document: Document;
  tag: string;
  handlers: Handlers;
  /** Finds out who asks. @throws Failure `unauthorized`, `forbidden`. */
  authenticate: (ctx: Context, operation: ContractOperation) => Promise<Principal>;
  /** Counts the request against its account's limit. @throws Failure `too-many-requests`. */
  limit?: (principal: Principal, operation: ContractOperation) => Promise<void>;
  /** Refuses work when the process has too much of it. */
  admit?: Admit;
}

/**
 * Serves a service's part of the contract: route, authenticate, check rights, negotiate, read, validate, handle.
 * Credentials and rights come before the content (docs/interface.md).
 */
export async function mountContract(
  options: MountOptions,
): Promise<{ routes: Middleware; operations: ContractOperation[] }> {
  const document = pruneDocument(options.document, options.tag);
  const { operations, validate } = await createRequestValidator(document);
  // An address is what the contract writes, to the letter: neither in capitals nor with a slash at its end.
  const router = new Router({ strict: true, sensitive: true });
  // The router tries all that it has for every request, so each path is there once, with all of its methods.
  for (const [path, served] of groupByPath(operations)) {
    const byMethod = new Map<string, Middleware>();
    for (const operation of served) {
      const handler = options.handlers[operation.operationId];
      if (!handler) throw new Error(`${options.tag} has no handler for ${operation.operationId}`);
      byMethod.set(operation.method.toUpperCase(), serve(operation, handler, validate, options));
    }
    const get = byMethod.get('GET');
    if (get) byMethod.set('HEAD', get);
    const refuse = refuseMethod([...byMethod.keys()]);
    router.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), (ctx, next) =>
      (byMethod.get(ctx.method) ?? refuse)(ctx, next),
    );
  }
  const dispatch = router.routes() as unknown as Middleware;
  return {
    operations,
    routes: (ctx) =>
      dispatch(ctx, async () => {
        throw fail('not-found', 'There is nothing at this address.');
      }),
  };
}

function serve(
  operation: ContractOperation,
  handler: Handler,
  validate: ValidateRequest,
  options: MountOptions,
): Middleware {
  const types = producedTypes(operation);
  const htmlOnly = types.length === 1 && types[0] === 'text/html';
  const takesFormat = operation.parameters?.some(({ name }) => name === 'format');
  const submits = operation['x-submission'] === true;
  return async (ctx) => {
    ctx.state.operationId = operation.operationId;
    ctx.state.htmlOnly = htmlOnly;
    ctx.state.isSubmit = submits;
    const admitted = options.admit?.(operation, ctx.res);
    const place = admitted instanceof Promise ? await admitted : admitted;
    ctx.state.place = place;
    try {
      const principal = await options.authenticate(ctx, operation);
      await options.limit?.(principal, operation);
      checkRights(operation, principal);
      // A format that is named wins over Accept; the handler reads it.
      const mode = takesFormat && ctx.query.format ? 'json' : acceptedMode(ctx, types);
      const query = readQuery(ctx, operation);
      const { body, form } = await readInput(ctx, operation);
      const params = readParams(ctx);
      validate(operation, { params, query, body });
      if (types.length > 1 || mode === 'html') ctx.vary('Accept');
      ctx.state.principal = principal;
      // What was validated has the shape that the handler names, which is not known here.
      await handler(ctx, { params, query, body, form, principal, mode } as never);
    } finally {
      place?.leave();
    }
  };
}

/** Parts of the path. No address of ours has what PostgreSQL cannot take for a text. */
function readParams(ctx: Context): Record<string, string> {
  const params = ctx.params as Record<string, string>;
  if (!isStorable(Object.values(params))) throw fail('not-found', 'There is nothing at this address.');
  return params;
}

/** Operations by path, in the order in which paths are tried: a literal segment wins over a parameter. */
function groupByPath(operations: ContractOperation[]): [string, ContractOperation[]][] {
  const rank = ([path]: [string, unknown]) => path.replaceAll(/\{\w+\}/g, '\uffff');
  const groups = Object.entries(Object.groupBy(operations, ({ path }) => path)) as [
    string,
    ContractOperation[],
  ][];
  return groups.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** Answers every method that a path does not take. */
function refuseMethod(methods: readonly string[]): Middleware {
  const allowed = [...methods, 'OPTIONS'].join(', ');
  return async (ctx) => {
    if (ctx.method !== 'OPTIONS')
      throw fail('method-not-allowed', `This address takes ${allowed}.`, { headers: { Allow: allowed } });
    ctx.status = 204;
    ctx.set('Allow', allowed);
  };
}
