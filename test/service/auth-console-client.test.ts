import * as client from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateSharedSecret } from '#lib/config/secret-values.ts';
import { sql } from '#lib/db/sql.ts';
import { defaultRateLimits } from '#lib/http/rate-limits.ts';
import { addAccount, changePassword } from '../../services/auth/commands/accounts.ts';
import { addClient } from '../../services/auth/commands/clients.ts';
import { createKeyedHash } from '../../services/auth/domain/api-keys.ts';
import { createAdapter } from '../../services/auth/issuer/adapter.ts';
import { createConsoleClient } from '../../services/auth/issuer/console-client.ts';
import { type AccountCaller, callerWithToken, goodPassword } from '../support/instances/account-callers.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { type ConsoleSignIn, startConsoleSignIn } from '../support/instances/console-sign-in.ts';
import { createBrowserSession } from '../support/pages/browser-session.ts';

const hours12 = 12 * 60 * 60;

let under: AuthUnderTest;
let console: ConsoleSignIn;
let admin: AccountCaller;
beforeAll(async () => {
  under = await startAuth();
  console = await startConsoleSignIn(under);
  admin = callerWithToken(under, await under.tokenOf('admin'));
});
afterAll(() => under.stop());

const invalidGrant = { error: 'invalid_grant' };
const basic = (secret = under.secrets.consoleClient[0] ?? '') => ({
  Authorization: `Basic ${Buffer.from(`accord-console:${secret}`).toString('base64')}`,
});
const revoke = (fields: Record<string, string>, headers: Record<string, string> = basic()) =>
  under.askToken(fields, '/auth/revoke', headers);
let made = 0;
/** Adds an account with a name of its own. */
async function addPerson(): Promise<{ name: string; id: string }> {
  made += 1;
  const name = `person ${made}`;
  await addAccount(under.db, { name, role: 'operator', password: goodPassword });
  return { name, id: (await admin.list()).get(name)?.id ?? '' };
}
/** Epoch seconds at which the stored grant and refresh tokens of an account end. */
async function endsOf(model: 'Grant' | 'RefreshToken', account: string): Promise<number[]> {
  const rows = await under.db.query<{ exp: number }>(sql`
    SELECT (payload ->> 'exp')::int AS exp FROM issuer_items
     WHERE model = ${model} AND payload ->> 'accountId' = ${account} AND consumed_at IS NULL`);
  return rows.map(({ exp }) => exp);
}

describe('a person who signs in to the console', () => {
  it('is told so, and gets tokens with the time of the sign-in', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { claims, idClaims, refresh } = await console.tokensOf('operator');
    expect(claims).toMatchObject({ preferred_username: 'operator', roles: ['operator'] });
    for (const authTime of [claims.auth_time, idClaims?.auth_time])
      expect(authTime).toSatisfy((time) => (time as number) >= before && (time as number) <= before + 30);
    expect(refresh).toMatch(/^[\w-]{43}$/);
  });

  it('reads on the sign-in page where it leads, in the own language', async () => {
    const url = client.buildAuthorizationUrl(console.config, {
      redirect_uri: `${under.baseUrl}/console/callback`,
      scope: 'openid',
      code_challenge: await client.calculatePKCECodeChallenge(client.randomPKCECodeVerifier()),
      code_challenge_method: 'S256',
    });
    const browser = createBrowserSession();
    const first = await browser.fetch(url.href);
    const page = new URL(first.headers.get('location') ?? '', url).href;
    const texts = { en: 'to continue to the console', fr: 'pour continuer vers la console' };
    for (const [language, text] of Object.entries({ ...texts, ar: 'للمتابعة إلى لوحة التحكم' })) {
      const headers = { 'Accept-Language': language };
      expect(await (await browser.fetch(page, { headers })).text()).toContain(text);
    }
  });

  it('is sent to the console of BASE_URL and nowhere else', async () => {
    const url = client.buildAuthorizationUrl(console.config, {
      redirect_uri: `${under.baseUrl}/console/other`,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(400);
  });
});

describe('a refresh token of the console', () => {
  it('renews the access token, with the time of the sign-in and the present role', async () => {
    const { name } = await addPerson();
    const first = await console.tokensOf(name, goodPassword);
    await under.db.query(sql`UPDATE accounts SET role = 'user' WHERE name = ${name}`);
    const second = await console.refresh(first.refresh);
    expect(second.refresh).not.toBe(first.refresh);
    expect(second.claims).toMatchObject({ auth_time: first.claims.auth_time, roles: ['user'] });
    const user = await under.fetch('/user', { headers: { Authorization: `Bearer ${second.access}` } });
    expect(await user.json()).toMatchObject({ name, roles: ['user'] });
  });

  it('ends its session if it is used twice, for the thief and for the owner', async () => {
    const first = await console.tokensOf('operator');
    const second = await console.refresh(first.refresh);
    await expect(console.refresh(first.refresh)).rejects.toMatchObject(invalidGrant);
    await expect(console.refresh(second.refresh)).rejects.toMatchObject(invalidGrant);
  });

  it('ends its session if it is used twice at the same time', async () => {
    const first = await console.tokensOf('operator');
    const second = await console.refresh(first.refresh);
    // The other request had read the token before it was used.
    const consoleClient = createConsoleClient({
      baseUrl: under.baseUrl,
      secrets: under.secrets.consoleClient,
    });
    const { consume } = createAdapter({ db: under.db, passwordGrant: true, consoleClient })('RefreshToken');
    await expect(consume(first.refresh)).rejects.toMatchObject(invalidGrant);
    await expect(console.refresh(second.refresh)).rejects.toMatchObject(invalidGrant);
  });

  it('ends 12 hours after the sign-in, as its grant does, however often it is renewed', async () => {
    const { name, id } = await addPerson();
    const first = await console.tokensOf(name, goodPassword);
    const end = Number(first.claims.auth_time) + hours12;
    for (const model of ['Grant', 'RefreshToken'] as const)
      expect(Math.abs(((await endsOf(model, id))[0] ?? 0) - end)).toBeLessThanOrEqual(2);
    const second = await console.refresh(first.refresh);
    expect(Math.abs(((await endsOf('RefreshToken', id))[0] ?? 0) - end)).toBeLessThanOrEqual(2);
    // As if the sign-in had been 11 hours and 59 minutes ago.
    await under.db.query(sql`
      UPDATE issuer_items SET payload = jsonb_set(payload, '{authTime}', to_jsonb((payload ->> 'authTime')::int - 43140))
       WHERE model = 'RefreshToken' AND payload ->> 'accountId' = ${id}`);
    const third = await console.refresh(second.refresh);
    const left = ((await endsOf('RefreshToken', id))[0] ?? 0) - Date.now() / 1000;
    expect(left).toBeLessThanOrEqual(61);
    await under.db.query(sql`
      UPDATE issuer_items SET payload = jsonb_set(payload, '{exp}', '1'), expires_at = now()
       WHERE model = 'RefreshToken' AND payload ->> 'accountId' = ${id}`);
    await expect(console.refresh(third.refresh)).rejects.toMatchObject(invalidGrant);
  });

  it('outlives the issuer’s own session, and a restart', async () => {
    const { refresh } = await console.tokensOf('operator');
    await under.db.query(sql`DELETE FROM issuer_items WHERE model = 'Session'`);
    await under.restart();
    expect((await console.refresh(refresh)).claims).toMatchObject({ preferred_username: 'operator' });
  });

  it.each<[string, (person: { name: string; id: string }) => Promise<unknown>]>([
    ['is disabled', ({ id }) => admin.send('PUT', `/accounts/${id}`, { disabled: true })],
    ['has another role', ({ id }) => admin.send('PUT', `/accounts/${id}`, { role: 'user' })],
    ['is deleted', ({ id }) => admin.send('DELETE', `/accounts/${id}`)],
    [
      'has another password by the command',
      ({ name }) => changePassword(under.db, { name, password: 'another long phrase' }),
    ],
  ])('is not valid once its account %s', async (_change, change) => {
    const person = await addPerson();
    const tokens = await console.tokensOf(person.name, goodPassword);
    await change(person);
    await expect(console.refresh(tokens.refresh)).rejects.toMatchObject(invalidGrant);
  });

  it('is not issued for a sign-in that a change of the account has overtaken', async () => {
    const { name, id } = await addPerson();
    const follow = await console.begin(name, goodPassword);
    // The sign-in is stored while the password is changed, so that the change does not find it.
    const stored = await under.db.query<{ id: string; payload: object; uid: string }>(sql`
      SELECT id, payload, uid FROM issuer_items WHERE payload #>> '{result,login,accountId}' = ${id}`);
    await changePassword(under.db, { name, password: 'another long phrase' });
    for (const { id: item, payload, uid } of stored)
      await under.db.query(sql`
        INSERT INTO issuer_items (model, id, payload, uid, expires_at)
        VALUES ('Interaction', ${item}, ${payload}, ${uid}, now() + interval '1 minute')`);
    const callback = await follow();
    expect(callback.searchParams.get('error')).toBe('access_denied');
    expect(callback.searchParams.has('code')).toBe(false);
    expect(await endsOf('Grant', id)).toEqual([]);
  });

  it('that is not valid does not count as a failed credential of the console’s address', async () => {
    await under.restart({ limits: { ...defaultRateLimits, address: 2 } });
    for (let tried = 0; tried < 4; tried += 1)
      await expect(console.refresh('unknown')).rejects.toMatchObject(invalidGrant);
    await under.restart();
  });
});

describe('other clients', () => {
  it('cannot use refresh tokens', async () => {
    const { refresh } = await console.tokensOf('operator');
    const keyedHash = createKeyedHash(under.secrets.keyPepper);
    const redirectUris = ['https://shop.example/callback'];
    await addClient(under.db, keyedHash, { id: 'shop', role: null, redirectUris, isPublic: true });
    for (const client_id of ['accord', 'cmclient', 'shop']) {
      const fields = { grant_type: 'refresh_token', refresh_token: refresh, client_id };
      expect((await under.askToken(fields)).status).toBe(400);
    }
  });

  it('cannot have the id of the console', async () => {
    const keyedHash = createKeyedHash(under.secrets.keyPepper);
    const wanted = { id: 'accord-console', role: null, redirectUris: ['https://a.example/'], isPublic: true };
    await expect(addClient(under.db, keyedHash, wanted)).rejects.toThrow(/built in/);
  });
});

describe('the secret of the console', () => {
  it('is required; every entry is accepted', async () => {
    const former = under.secrets.consoleClient[0] ?? '';
    const next = generateSharedSecret();
    await under.restart({ secrets: { consoleClient: [next, former] } });
    for (const secret of [next, former])
      expect((await (await startConsoleSignIn(under, secret)).tokensOf('user')).refresh).not.toBe('');
    const fields = { grant_type: 'refresh_token', refresh_token: 'x' };
    for (const headers of [basic(`${next}x`), basic('guess'), {}])
      expect(
        (await under.askToken({ ...fields, client_id: 'accord-console' }, '/auth', headers)).status,
      ).toBe(401);
    await under.restart();
  });

  it.each<[string, string[], RegExp]>([
    ['is missing', [], /console-client is empty/],
    ['is short', ['short'], /console-client, entry 1: is 5 bytes long/],
    ['is an example', [generateSharedSecret(), 'change-me-'.repeat(5)], /entry 2: looks like an example/],
  ])('that %s ends the start', (_fault, secrets, reason) => {
    expect(() => createConsoleClient({ baseUrl: 'https://a.example', secrets })).toThrow(reason);
  });
});

describe('revoking a refresh token', () => {
  it('ends its session', async () => {
    const first = await console.tokensOf('operator');
    const second = await console.refresh(first.refresh);
    await client.tokenRevocation(console.config, second.refresh);
    await expect(console.refresh(second.refresh)).rejects.toMatchObject(invalidGrant);
    expect((await revoke({ token: second.refresh })).status).toBe(200);
  });

  it('is refused to other clients, and without the secret', async () => {
    const { refresh } = await console.tokensOf('operator');
    expect((await revoke({ token: refresh, client_id: 'accord' }, {})).status).toBe(200);
    expect((await revoke({ token: refresh, client_id: 'accord-console' }, {})).status).toBe(401);
    expect((await revoke({ token: refresh }, basic('guess'))).status).toBe(401);
    expect((await console.refresh(refresh)).refresh).not.toBe('');
  });

  it('takes a POST of a form, and no access tokens', async () => {
    const { access } = await console.tokensOf('operator');
    expect(await (await revoke({ token: access })).json()).toMatchObject({ error: 'unsupported_token_type' });
    expect((await revoke({})).status).toBe(400);
    const got = await fetch(`${under.authUrl}/revoke`);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  it('limits guesses of the secret by address', async () => {
    await under.restart({ limits: { ...defaultRateLimits, address: 2 } });
    const guess = async () => (await revoke({ token: 'x' }, basic('guess'))).status;
    expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 429]);
    await under.restart();
  });
});
