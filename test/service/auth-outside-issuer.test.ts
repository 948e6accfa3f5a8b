import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKeyedHash, drawApiKey } from '../../services/auth/domain/api-keys.ts';
import { insertKey } from '../../services/auth/queries/api-keys.ts';
import { type AuthUnderTest, type Changes, startAuth } from '../support/instances/auth-service.ts';
import { createOutsideIssuer, type OutsideIssuer } from '../support/network/outside-issuer.ts';

const patience = { timeout: 8_000, interval: 250 };

let issuer: OutsideIssuer;
let under: AuthUnderTest;
let settings: NonNullable<Changes['settings']>;
beforeAll(async () => {
  issuer = await createOutsideIssuer();
  await issuer.start();
  settings = {
    authUrl: issuer.url,
    outsideIssuer: {
      issuer: issuer.url,
      audience: issuer.audience,
      paths: { roles: 'realm_access.roles', subject: 'preferred_username' },
    },
  };
  under = await startAuth({ settings });
});
afterAll(async () => {
  await under.stop();
  await issuer.stop();
});

const callWith = (token: string, more = {}) =>
  under.fetch('/user', { headers: { Authorization: `Bearer ${token}`, ...more } });

describe('with an outside issuer', () => {
  it('its tokens identify the caller, with configured claims for roles and subject', async () => {
    const response = await callWith(await issuer.tokenOf('jane'));
    expect(await response.json()).toMatchObject({ name: 'jane', roles: ['operator', 'user'], admin: false });
    expect(await (await callWith(await issuer.tokenOf('boss'))).json()).toMatchObject({ admin: true });
  });

  it('a claim with several of the roles gives the rights of each', async () => {
    const token = await issuer.tokenOf('audrey');
    expect(await (await callWith(token)).json()).toMatchObject({
      roles: ['auditor', 'technician'],
      operator: false,
    });
    const headers = { Authorization: `Bearer ${token}` };
    const statusOf = async (path: string, method = 'GET') =>
      (await under.fetch(path, { headers, method })).status;
    expect([
      await statusOf('/keys'),
      await statusOf('/audit/auth'),
      await statusOf('/accounts', 'POST'),
    ]).toEqual([200, 200, 403]);
  });

  it('a caller without a known role has no rights', async () => {
    expect((await callWith(await issuer.tokenOf('guest'))).status).toBe(403);
  });

  it('a token for another audience is refused', async () => {
    expect((await callWith(await issuer.tokenOf('elsewhere'))).status).toBe(401);
  });

  it('a token for another audience is taken if no audience is set', async () => {
    const { outsideIssuer, ...rest } = settings;
    const lax = await startAuth({
      settings: { ...rest, outsideIssuer: outsideIssuer && { ...outsideIssuer, audience: null } },
    });
    const token = await issuer.tokenOf('elsewhere');
    const response = await lax.fetch('/user', { headers: { Authorization: `Bearer ${token}` } });
    await lax.stop();
    expect(response.status).not.toBe(401);
  });

  it('the built-in issuer and the setup link do not exist', async () => {
    for (const path of [
      '/auth',
      '/auth/token',
      '/auth/.well-known/openid-configuration',
      '/auth/setup',
      '/auth/jwks',
    ])
      for (const method of ['GET', 'POST'])
        expect((await fetch(under.baseUrl + path, { method })).status).toBe(404);
    expect(under.setupLink).toBeUndefined();
    expect(under.auth.prefixes).toEqual(['/accounts', '/keys', '/user', '/auth', '/audit/auth']);
  });

  it('tokens of the built-in issuer are rejected', async () => {
    const builtIn = await startAuth({ secrets: under.secrets });
    const token = await builtIn.tokenOf('admin');
    await builtIn.stop();
    expect((await callWith(token)).status).toBe(401);
  });

  it('that changes its key, new tokens are accepted at once and former ones rejected', async () => {
    const former = await issuer.tokenOf('jane');
    expect((await callWith(former)).status).toBe(200);
    await issuer.rotate();
    expect((await callWith(await issuer.tokenOf('jane'))).status).toBe(200);
    // Asked of auth itself: services remember an answer for 5 s.
    const judged = await under.auth.operations.introspect({
      authorization: `Bearer ${former}`,
      browser: false,
    });
    expect(judged).toEqual({ result: 'bad-authorization' });
  });

  it('that is unavailable, tokens of known keys are accepted and others are a 503', async () => {
    const known = await issuer.tokenOf('jane');
    expect((await callWith(known)).status).toBe(200);
    await issuer.rotate();
    const unknown = await issuer.tokenOf('jane');
    await issuer.stop();
    expect((await callWith(known)).status).toBe(200);
    // A key was looked for a moment ago, so there is a pause before the next look.
    const refused = await vi.waitFor(async () => {
      const response = await callWith(unknown);
      expect(response.status).toBe(503);
      return response;
    }, patience);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await callWith('not.a.token')).status).toBe(401);
    await issuer.start();
    await vi.waitFor(async () => expect((await callWith(unknown)).status).toBe(200), {
      timeout: 8_000,
      interval: 250,
    });
  });

  it('that is unavailable from the start, tokens are a 503 until it recovers, and API keys work', async () => {
    const token = await issuer.tokenOf('jane');
    await issuer.stop();
    await under.restart({ settings });
    expect((await callWith(token)).status).toBe(503);
    const id = '0197a1f0-58c1-7b1e-9c1d-3f0c2b8f4a11';
    const key = drawApiKey(id);
    const hash = createKeyedHash(under.secrets.keyPepper).hash(key);
    await insertKey(under.db, { id, name: 'shop', scope: 'OWNER', hash });
    expect(await (await callWith(token, { CM_KEY: key })).json()).toMatchObject({ roles: ['key'] });
    await issuer.start();
    await vi.waitFor(async () => expect((await callWith(token)).status).toBe(200), {
      timeout: 8_000,
      interval: 250,
    });
  });
});
