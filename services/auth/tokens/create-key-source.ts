import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Logger } from '#lib/observability/logger.ts';

/** Thrown when a key cannot be had because the issuer cannot be reached: nothing is known of the token then. */
export class IssuerUnreachable extends Error {
  constructor(cause: unknown) {
    super('The issuer cannot be reached.', { cause });
    this.name = 'IssuerUnreachable';
  }
}

/** How long keys are good for, in milliseconds. */
export interface KeyTimes {
  /** Keys are fetched again after this. */
  freshMs: number;
  /** While the issuer is away, keys are used no longer than this (security.md, "OIDC"). */
  staleMs: number;
  /** An unknown key id makes a fetch at most this often. */
  coolDownMs: number;
  /** A fetch that failed is not tried again before this. */
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
 * Keeps an issuer's public keys. An unknown key id means that the issuer has new keys, or that the token is forged: so it makes one
 * fetch, and then none for a while.
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
      log.warn('the keys of the identity provider could not be fetched', { error: cause });
      throw new IssuerUnreachable(cause);
    }
  }
  /** One fetch at a time, and a pause after one that failed. */
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
