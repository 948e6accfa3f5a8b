import { errors } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { generatePrivateKey, publicPart, readPrivateKey } from '#lib/config/secret-values.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createKeySource, IssuerUnreachable } from '../../services/auth/tokens/issuer-keys.ts';

const former = readPrivateKey(generatePrivateKey());
const next = readPrivateKey(generatePrivateKey());
const times = { freshMs: 600_000, staleMs: 86_400_000, coolDownMs: 30_000, retryMs: 2_000 };

let clock: number;
let fetched: number;
let published: (typeof former)[] | undefined;
let source: ReturnType<typeof createKeySource>;

beforeEach(() => {
  clock = 0;
  fetched = 0;
  published = [former];
  source = createKeySource({
    log: createLogger({ level: 'silent' }),
    times,
    now: () => clock,
    async fetchKeys() {
      fetched += 1;
      if (!published) throw new Error('connection refused');
      return { keys: published.map((key) => ({ ...publicPart(key), alg: 'ES256' })) };
    },
  });
});

const ask = (kid: string) => source({ alg: 'ES256', kid }, { payload: '', signature: '' });

describe("an issuer's keys", () => {
  it('are fetched once for any number of tokens at once, and again when they are ten minutes old', async () => {
    await Promise.all(Array.from({ length: 20 }, () => ask(former.kid)));
    expect(fetched).toBe(1);
    clock = times.freshMs;
    await ask(former.kid);
    expect(fetched).toBe(2);
  });

  it('are fetched at once for a key id that is new', async () => {
    await ask(former.kid);
    published = [next, former];
    await ask(next.kid);
    expect(fetched).toBe(2);
  });

  it('are not fetched again and again for key ids that nobody has', async () => {
    await ask(former.kid);
    for (let n = 0; n < 50; n += 1)
      await expect(ask(`forged-${n}`)).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(fetched).toBe(2);
    clock = times.coolDownMs;
    await expect(ask('forged')).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(fetched).toBe(3);
  });

  it('are used for a day while the issuer is away, and no longer', async () => {
    await ask(former.kid);
    published = undefined;
    clock = times.staleMs - 1;
    await ask(former.kid);
    clock = times.staleMs + times.retryMs;
    await expect(ask(former.kid)).rejects.toThrow(IssuerUnreachable);
  });

  it('cannot be had from an issuer that was away from the start; it is asked again after a pause', async () => {
    published = undefined;
    await expect(ask(former.kid)).rejects.toThrow(IssuerUnreachable);
    await expect(ask(former.kid)).rejects.toThrow(IssuerUnreachable);
    expect(fetched).toBe(1);
    published = [former];
    clock = times.retryMs;
    await ask(former.kid);
    expect(fetched).toBe(2);
  });

  it('say nothing of a new key id while the issuer is away', async () => {
    await ask(former.kid);
    published = undefined;
    await expect(ask(next.kid)).rejects.toThrow(IssuerUnreachable);
    await expect(ask(next.kid)).rejects.toThrow(IssuerUnreachable);
    await ask(former.kid);
  });
});
