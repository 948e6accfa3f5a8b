import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { defaultRateLimits } from '#lib/http/rate-limits.ts';
import { addAccount, changePassword } from '../../services/auth/commands/accounts.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

const password = 'correct horse battery';
const behindProxy = { trustedProxies: ['127.0.0.0/8'] };

let under: AuthUnderTest;
beforeAll(async () => {
  under = await startAuth({ settings: behindProxy });
  for (const name of ['ann', 'ben', 'cid', 'dan'])
    await addAccount(under.db, { name, role: 'user', password });
});
afterAll(() => under?.stop());

/** A password grant from an address. */
function sign(username: string, given: string, address: string, path = '/auth'): Promise<Response> {
  const fields = { grant_type: 'password', client_id: 'cmclient', username, password: given };
  return fetch(under.baseUrl + path, {
    method: 'POST',
    headers: { 'X-Forwarded-For': address },
    body: new URLSearchParams(fields),
  });
}
const addresses = (count: number, block: number) =>
  Array.from({ length: count }, (_, number) => `198.51.${block}.${number + 1}`);

describe('addresses of the issuer', () => {
  it.each([
    '/auth/token/',
    '/auth/Token',
    '/auth/TOKEN',
    '/AUTH/token',
    '/auth//token',
    '/auth/%74oken',
    '/auth/token;x',
    '/auth/realms/a%2fb/protocol/openid-connect/token/',
    '/auth/realms/a/protocol/openid-connect/TOKEN',
    '/auth/realms/a/protocol/openid-connect/token/',
    '/auth/session/end/confirm',
  ])('match the contract exactly: no password is verified at %s', async (path) => {
    expect((await sign('ann', password, '203.0.113.1', path)).status).toBe(404);
  });

  it.each([
    '/auth/authorize/',
    '/auth/Authorize',
    '/auth/authorize/%00',
    '/auth/JWKS',
    '/auth/jwks/',
    '/auth/setup/',
  ])('match the contract exactly: %s is not found', async (path) => {
    const response = await fetch(`${under.baseUrl}${path}?response_type=code&state=a%00b`);
    expect(response.status).toBe(404);
  });

  it('accept any realm and count its attempts', async () => {
    await under.restart({ settings: behindProxy, limits: { ...defaultRateLimits, address: 3 } });
    const realm = '/auth/realms/a%2Fb/protocol/openid-connect/token';
    const statuses = [];
    for (let n = 0; n < 5; n += 1)
      statuses.push((await sign('ann', `guess ${n}`, '203.0.113.2', realm)).status);
    expect(statuses).toEqual([400, 400, 400, 429, 429]);
    await under.restart({ settings: behindProxy });
  });
});

describe('wrong passwords for a name', () => {
  it('lock it only for their address', async () => {
    for (let n = 0; n < 10; n += 1) await sign('ann', 'guess', '203.0.113.10');
    expect((await sign('ann', password, '203.0.113.10')).status).toBe(400);
    expect((await sign('ann', password, '203.0.113.11')).status).toBe(200);
    // The owner's success elsewhere gives the guesser no new tries.
    expect((await sign('ann', password, '203.0.113.10')).status).toBe(400);
  });

  it('are slowed down over all addresses', async () => {
    await Promise.all(addresses(12, 1).map((address) => sign('ben', 'guess', address)));
    // From now on one a second is looked at, and those that would wait for more than five are not.
    const right = await Promise.all(addresses(24, 2).map((address) => sign('ben', password, address)));
    const looked = right.filter(({ status }) => status === 200).length;
    expect(looked).toBeGreaterThan(0);
    expect(looked).toBeLessThan(12);
    // The owner gets in all the same.
    expect((await sign('ben', password, '203.0.113.20')).status).toBe(200);
  });

  it('are forgotten when an operator gives it another password', async () => {
    for (let n = 0; n < 11; n += 1) await sign('cid', 'guess', '203.0.113.30');
    const next = 'another long password';
    await changePassword(under.db, { name: 'cid', password: next });
    expect((await sign('cid', next, '203.0.113.30')).status).toBe(200);
  });

  it('are stored without name or address', async () => {
    await sign('dan-who-is-guessed', 'guess', '203.0.113.40');
    const { dump } = await under.db.one<{ dump: string }>(
      sql`SELECT query_to_xml('SELECT * FROM auth.sign_in_tries', true, false, '')::text AS dump`,
    );
    expect(dump).not.toMatch(/who-is-guessed|203\.0/);
  });
});

describe('started sign-ins', () => {
  afterEach(() => under.restart({ settings: behindProxy }));
  const query = new URLSearchParams({
    client_id: 'accord',
    redirect_uri: 'http://127.0.0.1/callback',
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const begin = (address: string, method = 'GET') =>
    fetch(`${under.authUrl}/authorize?${query}`, {
      method,
      redirect: 'manual',
      headers: { 'X-Forwarded-For': address, Accept: 'text/html', 'Accept-Language': 'fr' },
    });
  const stored = () =>
    under.db.one<{ rows: number; minutes: number }>(sql`
      SELECT count(*)::int AS rows, extract(epoch FROM max(expires_at) - now())::float / 60 AS minutes
        FROM issuer_items WHERE model = 'Interaction'`);

  it('are stored for ten minutes, with a limit per address', async () => {
    await under.restart({ settings: behindProxy, limits: { ...defaultRateLimits, authorization: 3 } });
    const before = await stored();
    for (const method of ['GET', 'HEAD', 'GET'])
      expect((await begin('203.0.113.50', method)).status).toBe(303);
    const refused = await begin('203.0.113.50');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.text()).toContain('<html lang="fr"');
    expect((await begin('203.0.113.50', 'HEAD')).status).toBe(429);
    expect((await begin('203.0.113.51')).status).toBe(303);
    const after = await stored();
    expect(after.rows - before.rows).toBe(4);
    expect(after.minutes).toBeGreaterThan(9);
    expect(after.minutes).toBeLessThanOrEqual(10);
  });
});
