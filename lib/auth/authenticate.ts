import { hash } from 'node:crypto';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import type { AuthOperations, Credentials, Introspection } from '#lib/contracts/auth.ts';
import { anonymous, type Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { type EventBus, eachReplica } from '#lib/events/event-bus.ts';

/** The caller according to the headers. The transactions service checks transaction tokens itself. */
export type Caller =
  | { kind: 'principal'; principal: Principal }
  | { kind: 'anonymous' }
  /** An Authorization header without valid credentials: 401 unless there is a transaction token as well. */
  | { kind: 'bad-authorization' };

/**
 * Asks the auth service who the caller is. Accepted credentials are cached for 5 s, refusals are not. For
 * operations whose effects last, the credentials are checked each time.
 */
export interface Authenticator {
  identify(ctx: Context): Promise<Caller>;
  /** Empties the cache, because a key was revoked. */
  forget(): void;
}

const maxAgeMs = 5_000;
/** lru-cache allocates all places at once, a millisecond and 500 KB for 10,000, and each service has one. */
const maxKnown = 2_000;

/**
 * Creates the {@link Authenticator} of a service.
 * @param onRefused counts failed credentials per address; may throw `too-many-requests`.
 */
export function createAuthenticator({
  auth,
  onRefused,
}: {
  auth: Pick<AuthOperations, 'introspect'>;
  onRefused: (ctx: Context) => Promise<void>;
}): Authenticator {
  const known = new LRUCache<string, Introspection>({ max: maxKnown, ttl: maxAgeMs });
  let forgottenAt = Number.NEGATIVE_INFINITY;
  async function introspect(credentials: Credentials): Promise<Introspection> {
    if (credentials.isLasting) return auth.introspect(credentials);
    const digest = hash('sha256', JSON.stringify(credentials), 'base64');
    const cached = known.get(digest);
    if (cached) return cached;
    const askedAt = performance.now();
    const found = await auth.introspect(credentials);
    const ttl = maxAgeMs - (performance.now() - askedAt);
    // The result of an introspection that began before a revocation may be outdated: it is not cached.
    if (found.result === 'principal' && askedAt > forgottenAt && ttl > 0) known.set(digest, found, { ttl });
    return found;
  }
  return {
    forget() {
      forgottenAt = performance.now();
      known.clear();
    },
    async identify(ctx) {
      const credentials = readCredentials(ctx);
      if (credentials.authorization === undefined && credentials.apiKey === undefined)
        return { kind: 'anonymous' };
      const found = await introspect(credentials);
      if (found.result === 'principal') return { kind: 'principal', principal: found.principal };
      if (found.result === 'none') return { kind: 'anonymous' };
      await onRefused(ctx);
      if (found.result === 'bad-authorization') return { kind: 'bad-authorization' };
      throw found.code === 'forbidden' ? fail('forbidden', found.detail) : unauthorized(found.detail);
    },
  };
}

/**
 * Empties a replica's cache when an event reports a revoked key. Without events, cached results expire after
 * 5 s.
 */
export function forgetRevokedKeys({
  bus,
  service,
  authenticator,
}: {
  bus: EventBus;
  service: string;
  authenticator: Authenticator;
}): void {
  bus.subscribe('accord.keys', eachReplica(service, authenticator.forget), async ({ type }) => {
    if (type === 'io.accord.key.revoked.v1') authenticator.forget();
  });
}

/** A 401 with its challenge (RFC 9110 §11.6.1). */
export function unauthorized(detail: string) {
  return fail('unauthorized', detail, { headers: { 'WWW-Authenticate': 'Bearer realm="accord"' } });
}

/** Identifies the caller of a service that does not accept transaction tokens (docs/interface.md). */
export async function authenticateWithoutTransaction(
  authenticator: Authenticator,
  ctx: Context,
): Promise<Principal> {
  const caller = await authenticator.identify(ctx);
  if (caller.kind === 'principal') return caller.principal;
  if (transactionToken(ctx) !== undefined)
    throw fail('forbidden', 'A transaction token only gives access to its own transaction.');
  if (caller.kind === 'bad-authorization') throw unauthorized('The Authorization header is not valid.');
  return anonymous;
}

/** The transaction token of a request, from the query parameter `t` or the Authorization header. */
export function transactionToken(ctx: Context): string | undefined {
  const header = /^Transaction +(\S+)$/i.exec(ctx.get('authorization'))?.[1];
  if (header) return header;
  const t = [ctx.query.t].flat()[0];
  return t === '' ? undefined : t;
}

/** Gateways send every credential of a policy decision point as a bearer token (docs/decisions-api.md). */
function readAuthorization(ctx: Context): string | undefined {
  const header = ctx.get('authorization') || undefined;
  const takesBearerKeys = String(ctx.state.route).startsWith('/access/');
  return takesBearerKeys ? header?.replace(/^bearer +acc_/i, 'Basic acc_') : header;
}

function readCredentials(ctx: Context): Credentials {
  const authorization = readAuthorization(ctx);
  return {
    authorization: authorization && /^Transaction /i.test(authorization) ? undefined : authorization,
    apiKey: ctx.get('cm_key') || ctx.get('cm-key') || undefined,
    browser: ctx.get('origin') !== '' || ctx.get('sec-fetch-site') !== '',
    ...(ctx.state.isLasting === true && { isLasting: true }),
  };
}
