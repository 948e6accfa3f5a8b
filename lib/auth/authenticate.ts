import { hash } from 'node:crypto';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import type { SharedIntrospection, SharedIntrospections } from '#lib/auth/shared-introspections.ts';
import type { AuthOperations, Credentials, Introspection } from '#lib/contracts/auth.ts';
import { anonymous, type Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';

/** What is known of the caller after the headers alone; a transaction token is for the transactions service to judge. */
export type Caller =
  | { kind: 'principal'; principal: Principal }
  | { kind: 'anonymous' }
  /** An Authorization header that is no valid credential: a 401 unless a transaction token stands beside it. */
  | { kind: 'bad-authorization' };

/** Asks auth who the caller is; answers are kept for at most 5 s, so that a revoked key dies everywhere (docs/interface.md, "Credentials"). */
export interface Authenticator {
  identify(ctx: Context): Promise<Caller>;
  /** Forgets everything: a key was revoked. */
  forget(): void;
}

/** How old an answer of auth may get, wherever it has been. */
export const introspectionMaxAgeMs = 5_000;
/** An answer from elsewhere is not believed unless it is younger than the last revocation by more than events and clocks may be late. */
const marginMs = 500;

/**
 * Makes the {@link Authenticator} of one service.
 * @param onRefused counts failed credentials per address; may throw `too-many-requests`. @param shared what other replicas have been told.
 */
export function createAuthenticator({
  auth,
  onRefused,
  shared,
}: {
  auth: Pick<AuthOperations, 'introspect'>;
  onRefused: (ctx: Context) => Promise<void>;
  shared?: SharedIntrospections | undefined;
}): Authenticator {
  const known = new LRUCache<string, Introspection>({ max: 10_000, ttl: introspectionMaxAgeMs });
  let forgottenAt = Number.NEGATIVE_INFINITY;
  function keep(digest: string, { found, ageMs }: SharedIntrospection): void {
    const ttl = introspectionMaxAgeMs - ageMs;
    if (ttl > 0) known.set(digest, found, { ttl });
  }
  async function introspect(credentials: Credentials): Promise<Introspection> {
    const digest = hash('sha256', JSON.stringify(credentials), 'base64');
    const cached = known.get(digest);
    if (cached) return cached;
    const elsewhere = await shared?.get(digest);
    if (elsewhere && performance.now() - elsewhere.ageMs > forgottenAt + marginMs) {
      keep(digest, elsewhere);
      return elsewhere.found;
    }
    const askedAt = performance.now();
    const found = await auth.introspect(credentials);
    // What was asked before a revocation may be from before it.
    if (found.result === 'principal' && askedAt > forgottenAt) {
      const entry = { found, ageMs: performance.now() - askedAt };
      keep(digest, entry);
      void shared?.put(digest, entry);
    }
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

/** A 401 with its challenge (RFC 9110 §11.6.1). */
export function unauthorized(detail: string) {
  return fail('unauthorized', detail, { headers: { 'WWW-Authenticate': 'Bearer realm="accord"' } });
}

/** Transaction tokens, in `t` or as `Authorization: Transaction`, are good under /consents and /receipts alone (docs/interface.md). */
export async function authenticateWithoutTransaction(
  authenticator: Authenticator,
  ctx: Context,
): Promise<Principal> {
  const caller = await authenticator.identify(ctx);
  if (caller.kind === 'principal') return caller.principal;
  if (transactionToken(ctx) !== undefined)
    throw fail('forbidden', 'A transaction token opens its own transaction alone.');
  if (caller.kind === 'bad-authorization') throw unauthorized('The Authorization header is not valid.');
  return anonymous;
}

/** The transaction token of a request, if it has one. */
export function transactionToken(ctx: Context): string | undefined {
  const header = /^Transaction +(\S+)$/i.exec(ctx.get('authorization'))?.[1];
  if (header) return header;
  const t = [ctx.query.t].flat()[0];
  return t === '' ? undefined : t;
}

function readCredentials(ctx: Context): Credentials {
  const authorization = ctx.get('authorization') || undefined;
  return {
    authorization: authorization && /^Transaction /i.test(authorization) ? undefined : authorization,
    apiKey: ctx.get('cm_key') || ctx.get('cm-key') || undefined,
    browser: ctx.get('origin') !== '' || ctx.get('sec-fetch-site') !== '',
  };
}
