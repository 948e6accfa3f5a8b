import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Cache } from '#lib/cache/cache.ts';
import type { Introspection } from '#lib/contracts/auth.ts';

/** What another replica has been told of credentials. */
export interface SharedIntrospection {
  found: Introspection;
  /** At least so long ago it was asked. */
  ageMs: number;
}

/** Answers about credentials that replicas share; to be had or not, nothing depends on it but speed. */
export interface SharedIntrospections {
  get(digest: string): Promise<SharedIntrospection | undefined>;
  /** @param ageMs how long ago auth was asked. */
  put(digest: string, entry: SharedIntrospection): Promise<void>;
}

/** Clocks of two replicas may differ by so much; an entry from further in the future is nobody's. */
const skewMs = 1_000;
const cipher = 'aes-256-gcm';

/**
 * Shares answers about credentials through a cache that is not trusted: each is sealed under a secret of the services together with the
 * credentials' digest and the time, so whoever writes to the cache can neither make rights nor keep them alive, and whoever reads it
 * learns nobody's name.
 * @param secrets of the services: the first seals, all open. @param maxAgeMs how old an answer may get, wherever it has been.
 */
export function createSharedIntrospections({
  cache,
  secrets,
  maxAgeMs,
}: {
  cache: Cache;
  secrets: readonly Uint8Array[];
  maxAgeMs: number;
}): SharedIntrospections {
  const keys = secrets.map((secret) => ({
    sealing: Buffer.from(hkdfSync('sha256', secret, '', 'accord introspection sealing', 32)),
    naming: Buffer.from(hkdfSync('sha256', secret, '', 'accord introspection naming', 32)),
  }));
  const [own] = keys;
  if (!own) throw new Error('sharing answers about credentials needs a secret');
  const nameOf = (digest: string) => createHmac('sha256', own.naming).update(digest).digest('base64url');
  return {
    async get(digest) {
      const name = nameOf(digest);
      const cached = await cache.get(name);
      if (!cached) return undefined;
      const opened = keys
        .map((key) => open(key.sealing, name, cached.value))
        .find((each) => each !== undefined);
      if (!opened) return undefined;
      const byClock = Date.now() - opened.askedAt;
      // The cache's own time does not depend on the replicas' clocks, the sealed time not on who writes to the cache.
      const ageMs = Math.max(byClock, maxAgeMs - cached.remainingMs);
      return byClock < -skewMs || ageMs >= maxAgeMs ? undefined : { found: opened.found, ageMs };
    },
    async put(digest, { found, ageMs }) {
      const name = nameOf(digest);
      if (ageMs < maxAgeMs)
        await cache.set(
          name,
          seal(own.sealing, name, { found, askedAt: Date.now() - ageMs }),
          maxAgeMs - ageMs,
        );
    },
  };
}

interface Sealed {
  found: Introspection;
  /** Milliseconds since 1970. */
  askedAt: number;
}

function seal(key: Buffer, name: string, entry: Sealed): string {
  const nonce = randomBytes(12);
  const sealing = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(name));
  const text = Buffer.concat([sealing.update(JSON.stringify(entry), 'utf8'), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), text]).toString('base64');
}

function open(key: Buffer, name: string, sealed: string): Sealed | undefined {
  try {
    const bytes = Buffer.from(sealed, 'base64');
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, 12), { authTagLength: 16 })
      .setAAD(Buffer.from(name))
      .setAuthTag(bytes.subarray(12, 28));
    return JSON.parse(Buffer.concat([opening.update(bytes.subarray(28)), opening.final()]).toString('utf8'));
  } catch {
    return undefined;
  }
}
