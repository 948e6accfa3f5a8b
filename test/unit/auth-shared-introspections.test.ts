import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createAuthenticator } from '#lib/auth/authenticate.ts';
import { createSharedIntrospections } from '#lib/auth/shared-introspections.ts';
import { type Cache, createMemoryCache } from '#lib/cache/cache.ts';
import type { Introspection } from '#lib/contracts/auth.ts';

const maxAgeMs = 5_000;
const principal = { roles: ['key'] as const, name: 'Registry', account: 'key:1' };
const found: Introspection = { result: 'principal', principal };
const digest = 'digest of the credentials';

/** A cache that shows what is in it. */
function openCache() {
  const kept = new Map<string, { value: string; until: number }>();
  const cache: Cache = {
    async get(key) {
      const entry = kept.get(key);
      return entry && { value: entry.value, remainingMs: entry.until - performance.now() };
    },
    set: async (key, value, ttlMs) => void kept.set(key, { value, until: performance.now() + ttlMs }),
    delete: async (key) => void kept.delete(key),
  };
  return { cache, kept };
}

describe('answers about credentials that replicas share', () => {
  const secret = randomBytes(32);
  const replica = (cache: Cache, secrets = [secret]) =>
    createSharedIntrospections({ cache, secrets, maxAgeMs });

  test('come to another replica, older by the time that has gone by', async () => {
    const { cache } = openCache();
    await replica(cache).put(digest, { found, ageMs: 1_000 });
    const shared = await replica(cache).get(digest);
    expect(shared?.found).toEqual(found);
    expect(shared?.ageMs).toBeGreaterThanOrEqual(999);
    expect(shared?.ageMs).toBeLessThan(2_000);
  });

  test('cannot be read by whoever reads the cache: neither names nor credentials', async () => {
    const { cache, kept } = openCache();
    await replica(cache).put(digest, { found, ageMs: 0 });
    const text = [...kept]
      .map(([key, { value }]) => key + value + Buffer.from(value, 'base64').toString('latin1'))
      .join();
    expect(text).not.toMatch(/Registry|digest of|principal/);
  });

  test('cannot be made up, moved to other credentials or changed by whoever writes to the cache', async () => {
    const { cache, kept } = openCache();
    await replica(cache, [randomBytes(32)]).put(digest, { found, ageMs: 0 });
    await replica(cache).put(digest, { found, ageMs: 0 });
    const [[foreignKey, foreign], [ownKey, own]] = [...kept] as [
      [string, { value: string; until: number }],
      [string, { value: string; until: number }],
    ];
    expect(foreignKey).not.toBe(ownKey);
    kept.set(ownKey, foreign);
    expect(await replica(cache).get(digest)).toBeUndefined();
    const bytes = Buffer.from(own.value, 'base64');
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    kept.set(ownKey, { ...own, value: bytes.toString('base64') });
    expect(await replica(cache).get(digest)).toBeUndefined();
    kept.set(ownKey, { ...own, value: 'nonsense' });
    expect(await replica(cache).get(digest)).toBeUndefined();
    await replica(cache).put('other credentials', { found, ageMs: 0 });
    const otherKey = [...kept.keys()].find((key) => key !== ownKey && key !== foreignKey) as string;
    kept.set(otherKey, own);
    expect(await replica(cache).get('other credentials')).toBeUndefined();
  });

  test('cannot be kept alive by whoever writes to the cache', async () => {
    const { cache, kept } = openCache();
    await replica(cache).put(digest, { found, ageMs: maxAgeMs - 20 });
    const [[key, entry]] = [...kept] as [[string, { value: string; until: number }]];
    kept.set(key, { ...entry, until: performance.now() + 3_600_000 });
    await expect.poll(() => replica(cache).get(digest)).toBeUndefined();
  });

  test('can be opened after a rotation of the secret by those who know both', async () => {
    const { cache, kept } = openCache();
    const [old, next] = [randomBytes(32), randomBytes(32)];
    await replica(cache, [old, next]).put(digest, { found, ageMs: 0 });
    expect((await replica(cache, [old]).get(digest))?.found).toEqual(found);
    expect(kept.size).toBe(1);
  });
});

describe('a replica that asks who somebody is', () => {
  const ctx = { get: (name: string) => (name === 'cm_key' ? 'acc_key' : '') } as never;

  /** Replicas on one cache, and an auth that knows one key until it is revoked. */
  function replicas(count: number) {
    const shared = createSharedIntrospections({
      cache: createMemoryCache(),
      secrets: [randomBytes(32)],
      maxAgeMs,
    });
    const auth = { asked: 0, revoked: false };
    const introspect = async (): Promise<Introspection> => {
      auth.asked += 1;
      return auth.revoked ? { result: 'refused', code: 'unauthorized', detail: 'revoked' } : found;
    };
    const authenticators = Array.from({ length: count }, () =>
      createAuthenticator({ auth: { introspect }, onRefused: async () => {}, shared }),
    );
    return { auth, authenticators };
  }

  test('need not ask when another has just been told', async () => {
    const { auth, authenticators } = replicas(3);
    for (const each of authenticators)
      expect(await each.identify(ctx)).toEqual({ kind: 'principal', principal });
    expect(auth.asked).toBe(1);
  });

  test('refuses a revoked key at once when the revocation is told, whatever others still have', async () => {
    const { auth, authenticators } = replicas(3);
    for (const each of authenticators) await each.identify(ctx);
    auth.revoked = true;
    for (const each of authenticators) each.forget();
    for (const each of authenticators)
      await expect(each.identify(ctx)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('refuses a revoked key within 5 s although nobody tells it, however replicas pass their knowledge on', async () => {
    const { auth, authenticators } = replicas(3);
    await authenticators[0]?.identify(ctx);
    auth.revoked = true;
    const began = performance.now();
    const stillGood = async () => {
      const answers = await Promise.allSettled(authenticators.map((each) => each.identify(ctx)));
      return answers.filter(({ status }) => status === 'fulfilled').length;
    };
    await expect.poll(stillGood, { timeout: 8_000, interval: 50 }).toBe(0);
    expect(performance.now() - began).toBeLessThan(maxAgeMs + 200);
  }, 15_000);

  test('does not keep an answer that was on its way when the revocation was told', async () => {
    let answer: ((result: Introspection) => void) | undefined;
    let refused = false;
    const introspect = () =>
      refused
        ? Promise.resolve<Introspection>({ result: 'refused', code: 'unauthorized', detail: 'revoked' })
        : new Promise<Introspection>((done) => {
            answer = done;
          });
    const authenticator = createAuthenticator({ auth: { introspect }, onRefused: async () => {} });
    const first = authenticator.identify(ctx);
    await expect.poll(() => answer !== undefined).toBe(true);
    authenticator.forget();
    refused = true;
    answer?.(found);
    await first;
    await expect(authenticator.identify(ctx)).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
