import * as client from 'openid-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultRateLimits } from '#lib/http/rate-limits.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { type BrowserSession, createBrowserSession } from '../support/pages/browser-session.ts';

const redirectUri = 'http://127.0.0.1:49152/callback';

const spies = (['log', 'info', 'warn', 'error'] as const).map((level) => vi.spyOn(console, level));
let under: AuthUnderTest;
let config: client.Configuration;
beforeAll(async () => {
  under = await startAuth();
  config = await client.discovery(new URL(under.authUrl), 'accord', undefined, client.None(), {
    execute: [client.allowInsecureRequests],
  });
});
afterAll(() => under.stop());

let browser: BrowserSession;
let verifier: string;
beforeEach(() => {
  browser = createBrowserSession();
  verifier = client.randomPKCECodeVerifier();
});

async function authorizationUrl(changed: Record<string, string> = {}): Promise<string> {
  return client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid',
    state: 'state-1',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...changed,
  }).href;
}

/** Opens the sign-in page. */
async function open(url: string): Promise<{ url: string; html: string; response: Response }> {
  const redirected = await browser.fetch(url);
  expect(redirected.status).toBe(303);
  const page = new URL(redirected.headers.get('location') ?? '', url).href;
  const response = await browser.fetch(page);
  return { url: page, html: await response.text(), response };
}

/** Signs in and follows to the client's address. */
async function signIn(fields: Record<string, string>, url?: string): Promise<URL> {
  const page = await open(url ?? (await authorizationUrl()));
  let response = await browser.submit(page.url, page.html, fields);
  let location = new URL(response.headers.get('location') ?? '', page.url);
  while (location.origin === new URL(under.baseUrl).origin) {
    response = await browser.fetch(location.href);
    location = new URL(response.headers.get('location') ?? '', location);
  }
  return location;
}

const exchange = (callback: URL) =>
  client.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier, expectedState: 'state-1' });

describe('signing in with the authorization code', () => {
  it('ends at the client with tokens for the person', async () => {
    const callback = await signIn({ username: 'operator', password: 'demo' });
    expect(callback.href.startsWith(`${redirectUri}?`)).toBe(true);
    const tokens = await exchange(callback);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 300 });
    expect(tokens.refresh_token).toBeUndefined();
    expect(tokens.claims()).toMatchObject({
      sub: 'demo-operator',
      preferred_username: 'operator',
      roles: ['operator'],
    });
    const who = await under.fetch('/user', { headers: { Authorization: `Bearer ${tokens.access_token}` } });
    expect(await who.json()).toMatchObject({ name: 'operator', roles: ['operator', 'user'] });
  });

  it('works as plain OAuth, without OpenID Connect', async () => {
    const callback = await signIn(
      { username: 'user', password: 'demo' },
      await authorizationUrl({ scope: 'accord' }),
    );
    const tokens = await exchange(callback);
    expect(tokens.id_token).toBeUndefined();
    const who = await under.fetch('/user', { headers: { Authorization: `Bearer ${tokens.access_token}` } });
    expect(await who.json()).toMatchObject({ name: 'user' });
  });

  it('asks for the password every time, and lets somebody else sign in in the same browser', async () => {
    await exchange(await signIn({ username: 'user', password: 'demo' }));
    const tokens = await exchange(await signIn({ username: 'admin', password: 'demo' }));
    expect(tokens.claims()).toMatchObject({ preferred_username: 'admin' });
    const again = await exchange(await signIn({ username: 'admin', password: 'demo' }));
    expect(again.claims()).toMatchObject({ preferred_username: 'admin' });
  });

  it('with a wrong password shows the page again, with the name and without the password', async () => {
    const page = await open(await authorizationUrl());
    const response = await browser.submit(page.url, page.html, {
      username: 'op<erator',
      password: 'wr"canary',
    });
    expect(response.status).toBe(422);
    const html = await response.text();
    expect(html).toContain('role="alert"');
    expect(html).toContain('aria-invalid="true"');
    expect(html).toContain('value="op&lt;erator"');
    expect(html).not.toContain('canary');
    const right = await browser.submit(page.url, html, { username: 'operator', password: 'demo' });
    expect(right.status).toBe(303);
  });

  it('can be cancelled', async () => {
    const callback = await signIn({ username: '', password: '', cancel: 'yes' });
    expect(callback.searchParams.get('error')).toBe('access_denied');
    expect(callback.searchParams.get('state')).toBe('state-1');
  });

  it('is held up after too many wrong passwords from one address', async () => {
    await under.restart({ limits: { ...defaultRateLimits, address: 2 } });
    const page = await open(await authorizationUrl());
    const attempt = (password: string) =>
      browser.submit(page.url, page.html, { username: 'operator', password });
    expect([(await attempt('a')).status, (await attempt('b')).status]).toEqual([422, 422]);
    const held = await attempt('demo');
    expect(held.status).toBe(429);
    expect(Number(held.headers.get('retry-after'))).toBeGreaterThan(0);
    await under.restart();
  });
});

describe('an authorization code', () => {
  it('is accepted once by concurrent exchanges', async () => {
    const callback = await signIn({ username: 'operator', password: 'demo' });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => exchange(callback)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(exchange(callback)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('is rejected without the verifier and for another client', async () => {
    const callback = await signIn({ username: 'operator', password: 'demo' });
    const fields = {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
    };
    const tries: Record<string, string>[] = [
      { client_id: 'accord' },
      { client_id: 'accord', code_verifier: client.randomPKCECodeVerifier() },
      { client_id: 'cmclient', code_verifier: verifier },
      { client_id: 'accord', code_verifier: verifier, redirect_uri: 'http://127.0.0.1:1/callback' },
    ];
    for (const more of tries)
      expect(await (await under.askToken({ ...fields, ...more })).json()).toMatchObject({
        error: 'invalid_grant',
      });
    await exchange(callback);
  });
});

it('the metadata name what is there, and nothing else', async () => {
  const metadata = await (await under.fetch('/auth/.well-known/openid-configuration')).json();
  expect(metadata).toMatchObject({
    issuer: under.authUrl,
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
    revocation_endpoint: `${under.authUrl}/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    id_token_signing_alg_values_supported: ['ES256'],
  });
  expect(metadata).not.toHaveProperty('userinfo_endpoint');
  expect(metadata).not.toHaveProperty('registration_endpoint');
});

describe('an authorization request', () => {
  it.each<[string, Record<string, string>]>([
    ['without PKCE', { code_challenge: '', code_challenge_method: '' }],
    ['with plain PKCE', { code_challenge_method: 'plain' }],
    ['for a token in the address', { response_type: 'token' }],
    ['that must not ask', { prompt: 'none' }],
    ['for another resource', { resource: 'https://other.example.org' }],
  ])('%s goes back to the client with an error', async (_name, changed) => {
    const url = new URL(await authorizationUrl(changed));
    for (const [name, value] of [...url.searchParams]) if (value === '') url.searchParams.delete(name);
    const response = await browser.fetch(url.href);
    const location = new URL(response.headers.get('location') ?? 'http://none.invalid', url);
    const told =
      location.searchParams.get('error') ?? new URLSearchParams(location.hash.slice(1)).get('error');
    expect([location.origin, told]).toEqual(['http://127.0.0.1:49152', expect.any(String)]);
  });

  it.each<[string, Record<string, string>]>([
    ['from an unknown client', { client_id: '<script>' }],
    ['for an answer that a script must post', { response_mode: 'form_post' }],
    ['for an address that is not the client’s', { redirect_uri: 'https://evil.example/<b>' }],
  ])('%s ends on a page of ours, in the reader’s language', async (_name, changed) => {
    const url = await authorizationUrl(changed);
    const response = await browser.fetch(url, { headers: { 'Accept-Language': 'fr-CA' } });
    expect(response.status).toBe(400);
    const html = await response.text();
    expect(html).toContain('<html lang="fr" dir="ltr">');
    expect(html).not.toMatch(/<script|<b>|<style|http:\/\/localhost:\d+\/auth\/interaction/);
  });
});

describe('the sign-in page', () => {
  it('has no script, no inline style, nothing of others, and leads back to the client alone', async () => {
    const { html, response } = await open(await authorizationUrl());
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' http://127.0.0.1:49152");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|nonce/);
    expect(html).not.toMatch(/<script|<style|style=|onload|https?:\/\//);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const stylesheet = /rel="stylesheet" href="([^"]+)"/.exec(html)?.[1] ?? '';
    const styles = await fetch(under.baseUrl + stylesheet);
    expect([styles.status, styles.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(styles.headers.get('cache-control')).toContain('immutable');
  });

  it.each([
    ['ar', 'rtl', 'تسجيل الدخول'],
    ['fr', 'ltr', 'Se connecter'],
    ['sw, en;q=0.5', 'ltr', 'Sign in'],
    ['sw', 'ltr', 'Sign in'],
  ])('is shown in %s', async (language, dir, words) => {
    const { url } = await open(await authorizationUrl());
    const html = await (await browser.fetch(url, { headers: { 'Accept-Language': language } })).text();
    expect(html).toContain(`dir="${dir}"`);
    expect(html).toContain(words);
  });

  it('keeps cookies below its own path, out of reach of scripts and of other sites', async () => {
    await signIn({ username: 'operator', password: 'demo' });
    const cookies = browser.cookies();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/path=\/auth(\/|;|$)/i);
      expect(cookie).toMatch(/httponly/i);
      expect(cookie).toMatch(/samesite=lax/i);
    }
  });

  it('sets secure cookies on https', async () => {
    await under.restart({ settings: { authUrl: 'https://consent.example.org/auth' } });
    const url = new URL(await authorizationUrl());
    const response = await fetch(url, { redirect: 'manual' });
    expect(response.headers.getSetCookie().length).toBeGreaterThan(0);
    for (const cookie of response.headers.getSetCookie()) expect(cookie).toMatch(/; secure/i);
    const metadata = await (await fetch(`${url.origin}/auth/.well-known/openid-configuration`)).json();
    expect(metadata).toMatchObject({ jwks_uri: 'https://consent.example.org/auth/jwks' });
    await under.restart();
  });

  it('opens only in the browser that started the sign-in', async () => {
    const { url, html } = await open(await authorizationUrl());
    const other = createBrowserSession();
    expect((await other.fetch(url)).status).toBe(410);
    expect((await other.submit(url, html, { username: 'operator', password: 'demo' })).status).toBe(410);
    const forged = await browser.fetch(url, {
      headers: { Cookie: 'accord_interaction=x; accord_interaction.sig=y' },
    });
    expect((await forged.text()).length).toBeGreaterThan(0);
  });

  it('accepts only forms of a bounded size', async () => {
    const { url } = await open(await authorizationUrl());
    const send = (body: string, type: string) =>
      browser.fetch(url, { method: 'POST', body, headers: { 'Content-Type': type } });
    expect((await send('{}', 'application/json')).status).toBe(415);
    expect((await send(`x=${'y'.repeat(20_000)}`, 'application/x-www-form-urlencoded')).status).toBe(413);
    expect((await send('username=%ff', 'application/x-www-form-urlencoded')).status).toBe(422);
  });
});

afterEach(() => {
  for (const spy of spies) expect(spy).not.toHaveBeenCalled();
});
