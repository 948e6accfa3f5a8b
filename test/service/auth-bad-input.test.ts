import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

let under: AuthUnderTest;
beforeAll(async () => {
  under = await startAuth({ limits: 'off' });
});
afterAll(async () => {
  expect(under.logged()).not.toContain('"level":"error"');
  await under.stop();
});

const sound = {
  client_id: 'accord',
  redirect_uri: 'http://127.0.0.1/callback',
  response_type: 'code',
  scope: 'openid',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};
const names =
  `client_id redirect_uri response_type scope state nonce code_challenge code_challenge_method prompt max_age response_mode
  resource claims ui_locales id_token_hint login_hint acr_values request request_uri registration grant_type username password code
  code_verifier client_secret refresh_token client_assertion client_assertion_type authorization_details token __proto__`.split(
    /\s+/,
  );
const values = fc.oneof(
  fc.constantFrom(
    ...Object.values(sound),
    'password',
    'admin',
    'demo',
    'none',
    'login',
    'form_post',
    'client_credentials',
    'authorization_code',
  ),
  fc.constantFrom(
    '',
    '\0',
    '__proto__',
    'x'.repeat(5_000),
    '\u{1f600}',
    'javascript:alert(1)',
    '{"a":1}',
    '-1',
    'eyJhbGciOiJub25lIn0.e30.',
  ),
  fc.string(),
);
const fields = fc.array(fc.tuple(fc.constantFrom(...names), values), { maxLength: 5 });
const inHeader = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '');
const authorization = fc.option(
  fc.oneof(
    fc.base64String().map((text) => `Basic ${text}`),
    fc.string().map(inHeader),
  ),
);

describe('bad input to the issuer is a client error', () => {
  it('in a code with a NUL', async () => {
    for (const code of ['\0', 'a\0b']) {
      const sent = { ...sound, grant_type: 'authorization_code', code, code_verifier: 'a'.repeat(43) };
      const response = await fetch(under.authUrl, { method: 'POST', body: new URLSearchParams(sent) });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: 'invalid_grant' });
    }
  });

  it('at the token endpoint, in the form that OAuth gives to errors', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fields, authorization, async (sent, header) => {
        const headers = header ? { Authorization: header } : undefined;
        const response = await fetch(under.authUrl, {
          method: 'POST',
          body: new URLSearchParams(sent),
          headers,
        });
        const body = (await response.json()) as { error?: string };
        expect([200, 400, 401]).toContain(response.status);
        if (response.status !== 200) expect(body.error).toMatch(/^[a-z_]+$/);
      }),
      { numRuns: 150 },
    );
  });

  it('at the authorization endpoint', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fields, fc.boolean(), async (sent, alone) => {
        const query = new URLSearchParams([...(alone ? [] : Object.entries(sound)), ...sent]);
        const headers = { Accept: 'text/html' };
        const response = await fetch(`${under.authUrl}/authorize?${query}`, { redirect: 'manual', headers });
        expect([303, 400]).toContain(response.status);
        expect(await response.text()).not.toContain('<script');
      }),
      { numRuns: 150 },
    );
  });

  it('at unknown paths', async () => {
    const paths = [
      '%',
      '%E0',
      '%00',
      'interaction/%00',
      'interaction/x',
      'authorize/%00',
      'authorize/x',
      'session/end/confirm',
      'me',
      'reg',
      'device',
      'assets/x',
      'realms/%E0/protocol/openid-connect/token',
    ];
    for (const path of paths)
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const { status } = await fetch(`${under.authUrl}/${path}`, {
          method,
          headers: { Accept: 'text/html' },
        });
        expect([path, status >= 400 && status < 500]).toEqual([path, true]);
      }
  });

  it('in cookies', async () => {
    for (const cookie of [
      'accord_session=x',
      'accord_session=%00; accord_session.sig=x',
      'accord_interaction=;;;',
      `accord_resume=${'x'.repeat(4_000)}`,
    ])
      for (const path of [`authorize?${new URLSearchParams(sound)}`, 'authorize/x', 'interaction/x']) {
        const headers = { Accept: 'text/html', Cookie: cookie };
        const response = await fetch(`${under.authUrl}/${path}`, { redirect: 'manual', headers });
        expect([303, 400, 410]).toContain(response.status);
      }
  });
});
