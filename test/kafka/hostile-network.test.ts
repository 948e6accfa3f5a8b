import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalServer } from '../infrastructure/local-server.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import {
  type DistributedInstance,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { brokers } from '../support/stores/kafka.ts';
import { startTestRedis } from '../support/stores/redis.ts';

const readSubmissions = '/internal/transactions/readSubmissions';
const guessesAllowed = 60;

describe.runIf(brokers)('separate services in a network that is not trusted', () => {
  let instance: DistributedInstance;
  let redisServer: LocalServer | null;
  let redis: Redis;
  beforeAll(async () => {
    redisServer = await startTestRedis();
    const redisUrl = redisServer?.address ?? '';
    redis = new Redis(redisUrl);
    instance = await startDistributedInstance({
      kafkaBrokers: brokers as string,
      redisUrl,
      environment: { RATE_LIMITS: `key=6000,user=300,transaction=60,address=${guessesAllowed}` },
    });
  }, 120_000);
  afterAll(async () => {
    await instance?.stop();
    redis?.disconnect();
    await redisServer?.stop();
  });

  const replicasOf = (name: string) => instance.replicas.filter(({ service }) => service === name);
  const first = (name: string) => replicasOf(name)[0] as DistributedInstance['replicas'][number];

  describe('an internal operation', () => {
    interface Token {
      caller?: string;
      issuer?: string;
      audience?: string;
      age?: number;
      life?: number | null;
      header?: { alg: string; typ?: string };
      secret?: Uint8Array;
    }

    /** A token as the peers service makes it for the transactions service, but for what is given. */
    function tokenOf({
      caller = 'peers',
      issuer = caller,
      audience = 'transactions',
      age = 0,
      life = 60,
      ...rest
    }: Token) {
      const now = Math.floor(Date.now() / 1000) - age;
      const { header = { alg: 'HS256', typ: 'accord-internal+jwt' } } = rest;
      const token = new SignJWT({})
        .setProtectedHeader(header)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(now);
      if (life !== null) token.setExpirationTime(now + life);
      return token.sign(rest.secret ?? (instance.secrets.callers[caller]?.[0] as Uint8Array));
    }

    async function call(token: string | undefined, path = readSubmissions, service = 'transactions') {
      const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      const body = path === readSubmissions ? { sids: [] } : {};
      const url = first(service).internalUrl + path;
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status;
    }

    it('takes a token of a service that may call it', async () => {
      expect(await call(await tokenOf({}))).toBe(200);
    });

    it('takes no other token', async () => {
      const now = Math.floor(Date.now() / 1000);
      const unsigned = new UnsecuredJWT({ iat: now, exp: now + 60 })
        .setIssuer('peers')
        .setAudience('transactions')
        .encode();
      const [head, body] = (await tokenOf({})).split('.');
      const admin = (await signIn(instance, 'admin')).headers.Authorization?.slice('Bearer '.length);
      const made = await createTransaction(await signIn(instance, 'operator'));
      const tokens: Record<string, string | undefined> = {
        'no token': undefined,
        'nothing readable': 'x.y.z',
        'alg none': unsigned,
        'no signature': `${head}.${body}.`,
        'another secret': await tokenOf({ secret: randomBytes(32) }),
        'another algorithm': await tokenOf({ header: { alg: 'HS512', typ: 'accord-internal+jwt' } }),
        'another type': await tokenOf({ header: { alg: 'HS256', typ: 'JWT' } }),
        'no type': await tokenOf({ header: { alg: 'HS256' } }),
        'an expired token': await tokenOf({ age: 120 }),
        'a token of the future': await tokenOf({ age: -120 }),
        'a token for a year': await tokenOf({ life: 31_536_000 }),
        'a token for ever': await tokenOf({ life: null }),
        'a token for another service': await tokenOf({ audience: 'auth' }),
        'a service in the name of another': await tokenOf({ caller: 'webhooks', issuer: 'peers' }),
        'a service that never calls this one': await tokenOf({ caller: 'webhooks' }),
        'the access token of an admin': admin,
        'the token of a transaction': made.token,
      };
      for (const [name, token] of Object.entries(tokens))
        expect(`${name} ${await call(token)}`).toBe(`${name} 401`);
    });

    it('is not given to a service that calls other operations', async () => {
      const token = await tokenOf({ caller: 'forms', audience: 'auth' });
      expect(await call(token, '/internal/auth/usePairingKey', 'auth')).toBe(403);
    });

    it('is what the service has named as one, and nothing that every object has', async () => {
      const token = await tokenOf({});
      for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', '', '%2e%2e/metrics'])
        expect(`${name} ${await call(token, `/internal/transactions/${name}`)}`).toBe(`${name} 404`);
      // Of another service.
      expect(await call(token, '/internal/auth/introspect')).toBe(404);
    });

    it('is not on the public port, whatever token comes along', async () => {
      const headers = { Authorization: `Bearer ${await tokenOf({})}` };
      for (const { service, url } of instance.replicas)
        for (const path of [
          readSubmissions,
          `/internal/${service}/introspect`,
          '//internal/transactions/readSubmissions',
          '/metrics',
        ])
          expect(
            `${service} ${path} ${(await fetch(url + path, { method: 'POST', headers })).status}`,
          ).toMatch(/ 40[0145]$/);
    });
  });

  describe.runIf(process.platform === 'linux')('a Redis that somebody else writes to', () => {
    const ask = (url: string, caller: Caller, path = '/transactions') =>
      fetch(url + path, { headers: caller.headers }).then(({ status }) => status);
    const keysOf = (pattern: string) => redis.keys(pattern);

    it('does not lock out users by absurd, broken or mistyped limits in Redis', async () => {
      const { url } = first('transactions');
      const user = await signIn(instance, 'user');
      const poisons: Record<string, (key: string) => Promise<unknown>> = {
        'for ten years': (key) => redis.set(key, '999999999', 'EX', 315_360_000),
        'the largest number': (key) => redis.set(key, '9223372036854775807', 'EX', 315_360_000),
        'no number': (key) => redis.set(key, 'x', 'EX', 315_360_000),
        'a list': (key) => redis.multi().del(key).rpush(key, 'x').exec(),
      };
      for (const [name, poison] of Object.entries(poisons)) {
        await redis.flushall();
        await expect
          .poll(async () => [
            await ask(url, user, '/records?subject=user'),
            (await keysOf('accord:limit:user*')).length,
          ])
          .toEqual([200, 1]);
        for (const key of await keysOf('accord:limit:user*')) await poison(key);
        expect(`${name} ${await ask(url, user, '/records?subject=user')}`).toBe(`${name} 200`);
      }
    });

    it('does not end the limit of guesses by breaking it: each replica goes on counting by itself', async () => {
      await redis.flushall();
      const { url } = first('transactions');
      const guess = () =>
        fetch(`${url}/transactions`, { headers: { CM_KEY: 'wrong' } }).then(({ status }) => status);
      await expect
        .poll(async () => [await guess(), (await keysOf('accord:limit:address*')).length])
        .toEqual([401, 1]);
      for (const key of await keysOf('accord:limit:address*')) await redis.set(key, 'x');
      const answers: number[] = [];
      for (let tries = 0; tries < guessesAllowed; tries += 1) answers.push(await guess());
      expect(answers.at(-1)).toBe(429);
    });
  });
});
