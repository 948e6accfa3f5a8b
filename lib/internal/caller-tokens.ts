import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';

/** Signs a service's calls with its own secret (architecture.md, "Services"). */
export interface CallerTokens {
  /** A token for calls to `service` at this address; the same one for half of its life. */
  tokenFor(service: string, address?: string): Promise<string>;
  /** The clock at this address says another time: from now on tokens for it go by that one. @param dateHeader of its answer. */
  followClock(address: string, dateHeader: string | undefined): void;
}

/** Says which service sent a token; undefined for a token that is not valid, or of a caller that is not known here. */
export type CheckCaller = (token: string) => Promise<string | undefined>;

const typ = 'accord-internal+jwt';
const algorithm = 'HS256';
const lifeSeconds = 60;
const renewAfterMs = 30_000;
/** Services go by PostgreSQL's clock; where one of them does not know it, the callee's counts (see followClock). */
const toleranceSeconds = 5;
/** No clock is so wrong by accident that tokens should be made for a day to come. */
const greatestSkewMs = 60 * 60_000;

/** @param secrets of the caller; the first signs. @param clock the time, in ms. */
export function createCallerTokens(
  caller: string,
  secrets: readonly Uint8Array[],
  clock = Date.now,
): CallerTokens {
  const [secret] = secrets;
  if (!secret) throw new Error('a caller needs a secret');
  const made = new Map<string, { token: Promise<string>; at: number }>();
  const skews = new Map<string, number>();
  return {
    // One of several replicas may have a clock that is wrong.
    tokenFor(service, address = service) {
      const known = made.get(address);
      if (known && performance.now() - known.at < renewAfterMs) return known.token;
      const now = Math.floor((clock() + (skews.get(address) ?? 0)) / 1000);
      const token = new SignJWT()
        .setProtectedHeader({ alg: algorithm, typ })
        .setIssuer(caller)
        .setAudience(service)
        .setIssuedAt(now)
        .setExpirationTime(now + lifeSeconds)
        .sign(secret);
      made.set(address, { token, at: performance.now() });
      return token;
    },
    followClock(address, dateHeader) {
      const skew = Date.parse(dateHeader ?? '') - clock();
      made.delete(address);
      if (Math.abs(skew) <= greatestSkewMs) skews.set(address, skew);
    },
  };
}

/**
 * @param secrets of each caller that is accepted; all verify, so that a secret can be replaced while calls are made.
 * @param clock the time, in ms.
 */
export function createCallerCheck(
  service: string,
  secrets: Readonly<Record<string, readonly Uint8Array[]>>,
  clock = Date.now,
): CheckCaller {
  const known = new LRUCache<string, { caller: string; until: number }>({ max: 1_000 });
  async function verify(token: string): Promise<{ caller: string; until: number } | undefined> {
    for (const [caller, keys] of Object.entries(secrets))
      for (const key of keys) {
        const claims = await verifyWith(key, token, { caller, service, now: clock() });
        if (claims) return { caller, until: (claims.exp + toleranceSeconds) * 1000 };
      }
    return undefined;
  }
  return async (token) => {
    const found = known.get(token) ?? (await verify(token));
    if (!found || found.until < clock()) return undefined;
    known.set(token, found);
    return found.caller;
  };
}

async function verifyWith(
  key: Uint8Array,
  token: string,
  { caller, service, now }: { caller: string; service: string; now: number },
): Promise<{ exp: number } | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [algorithm],
      typ,
      issuer: caller,
      audience: service,
      currentDate: new Date(now),
      clockTolerance: toleranceSeconds,
      requiredClaims: ['exp', 'iat'],
    });
    const { exp, iat } = payload as { exp: number; iat: number };
    return exp - iat <= lifeSeconds && iat <= now / 1000 + toleranceSeconds ? { exp } : undefined;
  } catch {
    return undefined;
  }
}
