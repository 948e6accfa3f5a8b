import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { defaultRateLimits } from '#lib/http/rate-limits.ts';
import { addAccount } from '../../services/auth/commands/accounts.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

const canary = 'Canary-Geheimnis-7319';
const password = `correct horse ${canary}`;

let under: AuthUnderTest;
beforeAll(async () => {
  under = await startAuth();
  for (const name of ['jane', 'joe', 'jim', 'jill', 'zoé'])
    await addAccount(under.db, { name, role: 'operator', password });
});
afterAll(() => under.stop());

const grant = (fields: Record<string, string> = {}) => ({
  grant_type: 'password',
  client_id: 'cmclient',
  username: 'jane',
  password,
  ...fields,
});
async function refusalOf(response: Response): Promise<{ status: number; error: string }> {
  const { error } = (await response.json()) as { error: string };
  return { status: response.status, error };
}

describe('the password grant', () => {
  it.each([
    '/auth',
    '/auth/',
    '/auth/token',
    '/auth/realms/master/protocol/openid-connect/token',
    '/auth/realms/a.b-c%20d/protocol/openid-connect/token',
  ])('gives a token at %s', async (path) => {
    const response = await fetch(under.baseUrl + path, {
      method: 'POST',
      body: new URLSearchParams(grant()),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('set-cookie')).toBeNull();
    const body = (await response.json()) as Record<string, unknown>;
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 300 });
  });

  it.each([
    '/auth/realms//protocol/openid-connect/token',
    '/auth/realms/a/b/protocol/openid-connect/token',
    '/auth/tokens',
    '/authtoken',
  ])('does not exist at %s', async (path) => {
    const response = await fetch(under.baseUrl + path, {
      method: 'POST',
      body: new URLSearchParams(grant()),
    });
    expect(response.status).toBe(404);
  });

  it('exists at another AUTH_URL and at the paths of existing clients', async () => {
    const settings = { authUrl: `${under.baseUrl}/identity/provider` };
    const other = under.auth;
    await under.restart({ settings });
    expect(under.auth.prefixes).toEqual([
      '/accounts',
      '/keys',
      '/user',
      '/auth',
      '/audit/auth',
      '/identity/provider',
    ]);
    for (const path of [
      '/identity/provider',
      '/identity/provider/token',
      '/identity/provider/realms/x/protocol/openid-connect/token',
      '/auth/realms/x/protocol/openid-connect/token',
    ]) {
      const response = await fetch(under.baseUrl + path, {
        method: 'POST',
        body: new URLSearchParams(grant()),
      });
      expect([path, response.status]).toEqual([path, 200]);
    }
    const metadata = await (await fetch(`${settings.authUrl}/.well-known/openid-configuration`)).json();
    expect(metadata).toMatchObject({ issuer: settings.authUrl, token_endpoint: `${settings.authUrl}/token` });
    await under.restart();
    expect(under.auth).not.toBe(other);
  });

  it.each<Record<string, string>>([
    { client_id: 'accord' },
    { client_id: 'cmclient' },
    { client_secret: '' },
    { scope: 'openid' },
  ])('takes what existing clients send: %j', async (fields) => {
    expect((await under.askToken(grant(fields))).status).toBe(200);
  });

  it('accepts a name in any Unicode normalisation', async () => {
    expect((await under.askToken(grant({ username: 'zoe\u0301' }))).status).toBe(200);
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['a wrong password', { password: 'wrong' }, 400, 'invalid_grant'],
    ['an unknown name', { username: 'nobody' }, 400, 'invalid_grant'],
    ['a name with a NUL', { username: 'jane\0' }, 400, 'invalid_grant'],
    ['an endless password', { password: 'x'.repeat(50_000) }, 400, 'invalid_grant'],
    ['an unknown client', { client_id: 'nobody' }, 401, 'invalid_client'],
    ['an unknown client with a NUL', { client_id: 'a\0b' }, 401, 'invalid_client'],
    ['another grant', { grant_type: 'magic' }, 400, 'unsupported_grant_type'],
    ['implicit', { grant_type: 'implicit' }, 400, 'unsupported_grant_type'],
  ])('refuses %s as OAuth does', async (_name, fields, status, error) => {
    expect(await refusalOf(await under.askToken(grant(fields)))).toEqual({ status, error });
  });

  it.each(['username', 'password', 'client_id', 'grant_type'])(
    'refuses a request without %s',
    async (name) => {
      const { [name as 'username']: _, ...fields } = grant();
      expect(await refusalOf(await under.askToken(fields))).toEqual({
        status: 400,
        error: 'invalid_request',
      });
    },
  );

  it('refuses fields given twice, JSON, and more than it can need', async () => {
    const send = (body: string, type = 'application/x-www-form-urlencoded') =>
      under.fetch('/auth', { method: 'POST', body, headers: { 'Content-Type': type } });
    const form = new URLSearchParams(grant()).toString();
    for (const response of [
      await send(`${form}&username=joe`),
      await send(`${form}&grant_type=password`),
      await send(JSON.stringify(grant()), 'application/json'),
      await send(`${form}&x=${'x'.repeat(70_000)}`),
    ])
      expect(await refusalOf(response)).toEqual({ status: 400, error: 'invalid_request' });
  });

  it('answers GET with 405 and names POST', async () => {
    const response = await fetch(under.authUrl);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  it('can be switched off', async () => {
    await under.restart({ settings: { passwordGrant: false } });
    expect(await refusalOf(await under.askToken(grant()))).toEqual({
      status: 400,
      error: 'unsupported_grant_type',
    });
    const metadata = (await (
      await fetch(`${under.authUrl}/.well-known/openid-configuration`)
    ).json()) as object;
    expect(metadata).toMatchObject({
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    await under.restart();
  });

  it('builds no address from the Host header', async () => {
    const response = await fetch(`${under.authUrl}/.well-known/openid-configuration`, {
      headers: {
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Proto': 'https',
        Forwarded: 'host=evil.example',
      },
    });
    expect(await response.text()).not.toContain('evil');
  });
});

describe('pages of other origins', () => {
  it('that are listed may ask for tokens; others learn nothing', async () => {
    await under.restart({ settings: { corsOrigins: ['https://shop.example'] } });
    const ask = (origin: string) => under.askToken(grant(), '/auth', { Origin: origin });
    const preflight = (origin: string) =>
      fetch(under.authUrl, {
        method: 'OPTIONS',
        headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
      });
    for (const send of [ask, preflight]) {
      const allowed = (response: Response) => response.headers.get('access-control-allow-origin');
      expect(allowed(await send('https://shop.example'))).toBe('https://shop.example');
      expect(allowed(await send('https://evil.example'))).toBeNull();
    }
    expect((await ask('https://evil.example')).status).toBe(200);
    await under.restart();
  });
});

describe('guessing passwords', () => {
  afterEach(() => under.restart());

  it('for one name is rejected after ten failures, with the same response', async () => {
    const wrong = async (username: string) => {
      const response = await under.askToken(grant({ username, password: 'guess' }));
      return JSON.stringify([response.status, await response.json()]);
    };
    const answers = new Set<string>();
    for (let n = 0; n < 12; n += 1)
      for (const username of ['joe', 'nobody at all']) answers.add(await wrong(username));
    expect(answers.size).toBe(1);
    const right = await under.askToken(grant({ username: 'joe' }));
    expect(answers).toContain(JSON.stringify([right.status, await right.json()]));
    expect((await under.askToken(grant({ username: 'jane' }))).status).toBe(200);
  });

  it('is possible again after five minutes', async () => {
    for (let n = 0; n < 11; n += 1) await under.askToken(grant({ username: 'jim', password: 'guess' }));
    expect((await under.askToken(grant({ username: 'jim' }))).status).toBe(400);
    await under.db.query(sql`UPDATE sign_in_tries SET since = since - interval '6 minutes'`);
    expect((await under.askToken(grant({ username: 'jim' }))).status).toBe(200);
  });

  it('concurrently is limited in the same way, and does not lock out the owner', async () => {
    const right = Array.from({ length: 24 }, () => under.askToken(grant({ username: 'jill' })));
    expect(new Set((await Promise.all(right)).map(({ status }) => status))).toEqual(new Set([200]));
    const guesses = Array.from({ length: 24 }, () =>
      under.askToken(grant({ username: 'jill', password: 'guess' })),
    );
    await Promise.all(guesses);
    expect((await under.askToken(grant({ username: 'jill' }))).status).toBe(400);
  });

  it('for any names is rejected for an address after sixty failures in a minute', async () => {
    await under.restart({ limits: { ...defaultRateLimits, address: 5 } });
    for (let n = 0; n < 5; n += 1)
      expect((await under.askToken(grant({ username: `guess ${n}` }))).status).toBe(400);
    const response = await under.askToken(grant());
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
  });

  it('concurrently allows no more attempts than sequentially', async () => {
    await under.restart({ limits: { ...defaultRateLimits, address: 5 } });
    const guesses = Array.from({ length: 20 }, (_, n) => under.askToken(grant({ username: `guess ${n}` })));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });

  it('is not assumed for many concurrent sign-ins from one address', async () => {
    await under.restart({ limits: { ...defaultRateLimits, address: 20 } });
    const right = Array.from({ length: 30 }, () => under.askToken(grant()));
    expect(new Set((await Promise.all(right)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('with secrets of clients is counted', async () => {
    await under.restart({ limits: { ...defaultRateLimits, address: 3 } });
    const guess = () =>
      under.askToken({ grant_type: 'client_credentials', client_id: 'robot', client_secret: 'guess' });
    expect([(await guess()).status, (await guess()).status, (await guess()).status]).toEqual([401, 401, 401]);
    expect((await guess()).status).toBe(429);
  });
});

describe('passwords and tokens', () => {
  it('are in no log line and in no table', async () => {
    const token = await under.tokenOf('jane', password);
    await under.askToken(grant({ password: `${canary} wrong` }));
    await under.fetch('/user', { headers: { Authorization: `Bearer ${token}` } });
    expect(under.logged()).toContain('requestToken');
    expect(under.logged()).not.toContain(canary);
    expect(under.logged()).not.toContain(token.split('.')[2]);
    expect(under.logged()).not.toMatch(/jane|joe|jill/);
    const tables = await under.db.query<{ name: string }>(sql`
      SELECT c.relname AS name FROM pg_class AS c WHERE c.relnamespace = 'auth'::regnamespace AND c.relkind = 'r'`);
    expect(tables.length).toBeGreaterThan(5);
    for (const { name } of tables) {
      const { dump } = await under.db.one<{ dump: string }>(sql`
        SELECT coalesce(query_to_xml(${`SELECT * FROM auth.${name}`}, true, false, '')::text, '') AS dump`);
      expect(dump).not.toContain(canary);
    }
  });
});
