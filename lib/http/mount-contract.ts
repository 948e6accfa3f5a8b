import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Document } from 'openapi-backend';
import type { Principal } from '#lib/auth/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { acceptedMode, producedTypes } from '#lib/http/accept.ts';
import { checkRights } from '#lib/http/check-rights.ts';
import type { ContractOperation, Handler, Handlers } from '#lib/http/operation.ts';
import { pruneDocument } from '#lib/http/prune-document.ts';
import { readInput, readQuery } from '#lib/http/read-input.ts';
import { createRequestValidator, type ValidateRequest } from '#lib/http/validate-request.ts';

interface MountOptions {
  /** The whole contract; the service serves the operations with its tag. */
  document: Document;
  tag: string;
  handlers: Handlers;
  /** Finds out who asks. @throws Failure `unauthorized`, `forbidden`. */
  authenticate: (ctx: Context, operation: ContractOperation) => Promise<Principal>;
  /** Counts the request against its account's limit. @throws Failure `too-many-requests`. */
  limit?: (principal: Principal, operation: ContractOperation) => Promise<void>;
  /** Refuses work when the process has too much of it. @throws Failure `unavailable`. */
  admit?: (operation: ContractOperation) => void;
}

/**
 * Serves a service's part of the contract: route, authenticate, check rights, negotiate, read, validate, handle.
 * Credentials and rights come before the content (decisions.md §15).
 */
export async function mountContract(
  options: MountOptions,
): Promise<{ routes: Middleware; operations: ContractOperation[] }> {
  const document = pruneDocument(options.document, options.tag);
  const { operations, validate } = await createRequestValidator(document);
  const router = new Router();
  for (const operation of sortByPath(operations)) {
    const handler = options.handlers[operation.operationId];
    if (!handler) throw new Error(`${options.tag} has no handler for ${operation.operationId}`);
    const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
    router.register(path, [operation.method], serve(operation, handler, validate, options));
  }
  const dispatch = router.routes() as unknown as Middleware;
  return { operations, routes: (ctx) => dispatch(ctx, async () => refuseMethod(ctx, router)) };
}

function serve(
  operation: ContractOperation,
  handler: Handler,
  validate: ValidateRequest,
  options: MountOptions,
): Middleware {
  const types = producedTypes(operation);
  const htmlOnly = types.length === 1 && types[0] === 'text/html';
  return async (ctx) => {
    ctx.state.operationId = operation.operationId;
    ctx.state.htmlOnly = htmlOnly;
    options.admit?.(operation);
    const principal = await options.authenticate(ctx, operation);
    await options.limit?.(principal, operation);
    checkRights(operation, principal);
    const mode = acceptedMode(ctx, types);
    const query = readQuery(ctx, operation);
    const { body, form } = await readInput(ctx, operation);
    const params = ctx.params as Record<string, string>;
    validate(operation, { params, query, body });
    if (types.length > 1 || mode === 'html') ctx.set('Vary', 'Accept');
    ctx.state.principal = principal;
    await handler(ctx, { params, query, body, form, principal, mode } as never);
  };
}

/** A literal segment wins over a parameter: `/consents/singlestep` before `/consents/{txid}`. */
function sortByPath(operations: ContractOperation[]): ContractOperation[] {
  const rank = (path: string) => path.replaceAll(/\{\w+\}/g, '\uffff');
  return [...operations].sort((a, b) => (rank(a.path) < rank(b.path) ? -1 : 1));
}

function refuseMethod(ctx: Context, router: Router): void {
  const allowed = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
  if (allowed.size === 0) throw fail('not-found', 'There is nothing at this address.');
  if (allowed.has(ctx.method)) return;
  const list = [...allowed, 'OPTIONS'].join(', ');
  if (ctx.method === 'OPTIONS') {
    ctx.status = 204;
    ctx.set('Allow', list);
    return;
  }
  throw fail('method-not-allowed', `This address takes ${list}.`, { headers: { Allow: list } });
}
