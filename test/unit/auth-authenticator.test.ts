import { describe, expect, test } from 'vitest';
import { createAuthenticator } from '#lib/auth/authenticate.ts';
import type { Introspection } from '#lib/contracts/auth.ts';

const maxAgeMs = 5_000;
const principal = { roles: ['key'] as const, name: 'Registry', account: 'key:1' };
const found: Introspection = { result: 'principal', principal };
const revoked: Introspection = { result: 'refused', code: 'unauthorized', detail: 'revoked' };
const ctx = { state: {}, get: (name: string) => (name === 'cm_key' ? 'acc_key' : '') } as never;

/** A replica, and an auth service that knows one key until it is revoked. */
function replica() {
  const auth = { asked: 0, revoked: false };
  const introspect = async (): Promise<Introspection> => {
    auth.asked += 1;
    return auth.revoked ? revoked : found;
  };
  return { auth, authenticator: createAuthenticator({ auth: { introspect }, onRefused: async () => {} }) };
}

describe('an authenticator', () => {
  test('asks once for repeated credentials', async () => {
    const { auth, authenticator } = replica();
    for (let time = 0; time < 3; time += 1)
      expect(await authenticator.identify(ctx)).toEqual({ kind: 'principal', principal });
    expect(auth.asked).toBe(1);
  });

  test('refuses a revoked key at once when told of the revocation', async () => {
    const { auth, authenticator } = replica();
    await authenticator.identify(ctx);
    auth.revoked = true;
    authenticator.forget();
    await expect(authenticator.identify(ctx)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('refuses a revoked key within 5 s without being told', async () => {
    const { auth, authenticator } = replica();
    await authenticator.identify(ctx);
    auth.revoked = true;
    const began = performance.now();
    const isAccepted = () =>
      authenticator.identify(ctx).then(
        () => true,
        () => false,
      );
    await expect.poll(isAccepted, { timeout: 8_000, interval: 50 }).toBe(false);
    expect(performance.now() - began).toBeLessThan(maxAgeMs + 200);
  }, 15_000);

  test('does not cache an answer that a revocation overtook', async () => {
    let answer: ((result: Introspection) => void) | undefined;
    let refused = false;
    const introspect = () =>
      refused
        ? Promise.resolve(revoked)
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
