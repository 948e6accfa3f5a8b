import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Logger } from '#lib/observability/logger.ts';

/** Thrown if the issuer is unreachable, so that a token can be neither accepted nor rejected. */
export class IssuerUnreachable extends Error {
  constructor(cause: unknown) {
    super('the issuer is unreachable', { cause });
    this.name = 'IssuerUnreachable';
  }
}

/** Times of the key cache, in milliseconds. */
export interface KeyTimes {
  /** Keys are fetched again after this time. */
  freshMs: number;
  /** While the issuer is unreachable, keys are used for at most this long (docs/security.md, "OIDC"). */
  staleMs: number;
  /** Minimum time between fetches for unknown key ids. */
  coolDownMs: number;
  /** Minimum time between a failed fetch and the next one. */
  retryMs: number;
}

const defaultKeyTimes: KeyTimes = {
  freshMs: 10 * 60_000,
  staleMs: 24 * 60 * 60_000,
  coolDownMs: 5_000,
  retryMs: 2_000,
};

interface Fetched {
  resolve: JWTVerifyGetKey;
  at: number;
}

/**
 * Caches an issuer's public keys. An unknown key id means a new key or a forged token, so it causes a fetch,
 * but not too often.
 * @param fetchKeys reads the issuer's JWKS.
 */
export function createKeySource({
  fetchKeys,
  log,
  times = defaultKeyTimes,
  now = () => performance.now(),
}: {
  fetchKeys: () => Promise<JSONWebKeySet>;
  log: Logger;
  times?: KeyTimes;
  now?: () => number;
}): JWTVerifyGetKey {
  let known: Fetched | undefined;
  let failed: { at: number; cause: unknown } | undefined;
  let pending: Promise<Fetched> | undefined;
  let lastSearch = Number.NEGATIVE_INFINITY;

  async function load(): Promise<Fetched> {
    try {
      known = { resolve: createLocalJWKSet(await fetchKeys()), at: now() };
      failed = undefined;
      return known;
    } catch (cause) {
      failed = { at: now(), cause };
      log.warn('failed to fetch the keys of the identity provider; retried on demand', { error: cause });
      throw new IssuerUnreachable(cause);
    }
  }
  /** One fetch at a time, with a pause after a failure. */
  function refresh(): Promise<Fetched> {
    if (!pending && failed && now() - failed.at < times.retryMs)
      return Promise.reject(new IssuerUnreachable(failed.cause));
    pending ??= load().finally(() => {
      pending = undefined;
    });
    return pending;
  }
  async function current(): Promise<Fetched> {
    const age = known ? now() - known.at : Number.POSITIVE_INFINITY;
    if (known && age < times.freshMs) return known;
    if (!known || age >= times.staleMs) return refresh();
    const stale = known;
    return refresh().catch(() => stale);
  }

  return async (header, token) => {
    const keys = await current();
    try {
      return await keys.resolve(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (now() - lastSearch < times.coolDownMs && !failed) throw error;
      lastSearch = now();
      return (await refresh()).resolve(header, token);
    }
  };
}

const timeoutMs = 3_000;
const maxBytes = 1024 * 1024;

/**
 * Reads an issuer's JWKS by OpenID Connect Discovery. The operator configured the issuer, so its URLs are
 * trusted (docs/security.md, "Outbound"). The document must name this issuer (OpenID Connect Discovery 1.0
 * §4.3).
 */
export async function fetchIssuerKeys(issuer: string): Promise<JSONWebKeySet> {
  const metadata = await fetchJson(`${withoutSlash(issuer)}/.well-known/openid-configuration`);
  if (withoutSlash(metadata.issuer) !== withoutSlash(issuer))
    throw new Error(`The discovery document of ${issuer} names another issuer.`);
  if (typeof metadata.jwks_uri !== 'string')
    throw new Error(`The discovery document of ${issuer} has no jwks_uri.`);
  const keys = await fetchJson(metadata.jwks_uri);
  if (!Array.isArray(keys.keys)) throw new Error(`The keys of ${issuer} are not a JWKS.`);
  return { keys: keys.keys };
}

async function fetchJson(url: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`${url} responded with ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`${url} sent more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** @param issuer name of an issuer. @returns it without slashes at its end. */
export function withoutSlash(issuer: unknown): string {
  return String(issuer).replace(/(?<!\/)\/+$/, '');
}
