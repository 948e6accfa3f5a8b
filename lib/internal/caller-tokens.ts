import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';

/** Tokens that a service signs its calls with (docs/architecture.md). */
export interface CallerTokens {
  /** A token for calls to `service` at this address, reused for half of its life. */
  tokenFor(service: string, address?: string): Promise<string>;
  /** Makes further tokens for this address by its clock. @param dateHeader the `Date` of its response. */
  followClock(address: string, dateHeader: string | undefined): void;
}

/** Returns the service that sent a token; undefined if the token is not valid or the caller is not known. */
export type CheckCaller = (token: string) => Promise<string | undefined>;

const typ = 'accord-internal+jwt';
const algorithm = 'HS256';
const lifeSeconds = 60;
const renewAfterMs = 30_000;
/** Clocks differ little: services use that of PostgreSQL or of the service that they call (`followClock`). */
const toleranceSeconds = 5;
/** A larger difference is not followed, because it would make tokens that are valid far in the future. */
const maxSkewMs = 60 * 60_000;

/** @param secrets of the caller; the first signs. @param clock in ms. */
export function createCallerTokens(
  caller: string,
  secrets: readonly Uint8Array[],
  clock = Date.now,
): CallerTokens {
  const [secret] = secrets;
  if (!secret) throw new Error('a caller needs at least one secret');
  const made = new Map<string, { token: Promise<string>; at: number }>();
  const skews = new Map<string, number>();
  return {
    // Per address, because the clocks of replicas may differ.
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
      if (Math.abs(skew) <= maxSkewMs) skews.set(address, skew);
    },
  };
}

/**
 * @param secrets of each accepted caller; all verify, so that a secret can be rotated without failed calls.
 * @param clock in ms.
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
