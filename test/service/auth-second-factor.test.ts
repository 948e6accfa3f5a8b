import * as client from 'openid-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { addAccount, readAccountArguments } from '../../services/auth/commands/accounts.ts';
import { codeAt } from '../../services/auth/domain/second-factor.ts';
import { type AccountCaller, callerWithToken, goodPassword } from '../support/instances/account-callers.ts';
import { readAudit } from '../support/instances/audit-reader.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { createBrowserSession } from '../support/pages/browser-session.ts';

const redirectUri = 'http://127.0.0.1:49152/callback';
let under: AuthUnderTest;
beforeEach(async () => {
  under = await startAuth({ settings: { demo: false, secondFactor: true } });
  for (const name of ['root', 'jane'])
    await addAccount(under.db, { name, role: 'admin', password: goodPassword });
});
afterEach(() => under.stop());

/** The page that answers a form, or the address of the client where the browser arrives. */
type Answer = { html: string; status: number; callback?: URL };

/** A browser at the page for the password, before it is sent. */
async function openSignIn(asked: Record<string, string> = {}) {
  const browser = createBrowserSession();
  const config = await client.discovery(new URL(under.authUrl), 'accord', undefined, client.None(), {
    execute: [client.allowInsecureRequests],
  });
  const verifier = client.randomPKCECodeVerifier();
  const begun = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...asked,
  });
  const page = new URL((await browser.fetch(begun.href)).headers.get('location') ?? '', begun).href;
  let html = await (await browser.fetch(page)).text();
  return {
    /** Sends the form of the page, with its hidden field. */
    async submit(fields: Record<string, string>): Promise<Answer> {
      const ticket = ticketOf(html);
      let response = await browser.submit(page, html, { ...(ticket && { ticket }), ...fields });
      const { status } = response;
      let location = response.headers.get('location');
      while (location?.startsWith(under.baseUrl)) {
        response = await browser.fetch(location);
        location = response.headers.get('location');
      }
      if (location) return { html: '', status, callback: new URL(location) };
      html = await response.text();
      return { html, status };
    },
    tokenOf: async (callback: URL) =>
      (await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier })).access_token,
  };
}

const ticketOf = (html: string) => /name="ticket" value="([^"]*)"/.exec(html)?.[1];
const secretOf = (html: string) =>
  (/<code[^>]*>([A-Z2-7 ]{39})<\/code>/.exec(html)?.[1] ?? '').replaceAll(' ', '');
const recoveryCodesOf = (html: string) =>
  [...html.matchAll(/<code[^>]*>([0-9A-Z]{5}-[0-9A-Z]{5})<\/code>/g)].map(([, code = '']) => code);
const credentials = (username = 'jane') => ({ username, password: goodPassword });
/** The app's code of this moment, or of so many half minutes later. */
const codeNow = (secret: string, later = 0) => codeAt(secret, Math.floor(Date.now() / 30_000) + later);

/** A code that is valid also if half a minute ends meanwhile, and later than the one of the first sign-in. */
const nextCode = (secret: string) => codeNow(secret, 1);

/** Signs in for the first time. */
async function enrol(username = 'jane') {
  const browser = await openSignIn();
  const page = await browser.submit(credentials(username));
  const secret = secretOf(page.html);
  const used = codeNow(secret);
  const recovery = recoveryCodesOf((await browser.submit({ code: used })).html);
  const { callback } = await browser.submit({});
  return { secret, used, recovery, token: await browser.tokenOf(callback as URL), html: page.html };
}
const passwordGrant = async (username: string) =>
  (await under.askToken({ grant_type: 'password', client_id: 'cmclient', ...credentials(username) })).status;

describe('an account that needs a second factor', () => {
  it('sets one up at its first sign-in, and is asked for a code at each further one', async () => {
    const { secret, recovery, token, html } = await enrol();
    expect(secret).toHaveLength(32);
    expect(html).toMatch(/<img class="qr" src="data:image\/png;base64,[^"]{200,}" alt="[^"]{10,}"/);
    expect(new Set(recovery).size).toBe(10);
    expect((await under.fetch('/user', { headers: { Authorization: `Bearer ${token}` } })).status).toBe(200);
    const browser = await openSignIn();
    const asked = await browser.submit(credentials());
    expect(asked.html).toContain('autocomplete="one-time-code"');
    const { callback } = await browser.submit({ code: nextCode(secret) });
    expect(await browser.tokenOf(callback as URL)).toBeTruthy();
  });

  it('is not signed in by the password alone, in any way', async () => {
    expect(await passwordGrant('jane')).toBe(400);
    const { secret, used } = await enrol();
    expect(await passwordGrant('jane')).toBe(400);
    const browser = await openSignIn();
    await browser.submit(credentials());
    // A wrong code, none, and one that was used to set it up.
    for (const code of [codeNow(secret, 100), '', used]) {
      const answer = await browser.submit({ code });
      expect([answer.status, answer.callback]).toEqual([422, undefined]);
    }
    // The ticket of another sign-in, a garbled one, and none.
    const other = await openSignIn();
    const ticket = ticketOf((await other.submit(credentials())).html) ?? '';
    const stranger = await openSignIn();
    for (const each of [ticket, 'garbage', ''])
      expect((await stranger.submit({ ticket: each, code: nextCode(secret) })).callback).toBeUndefined();
  });

  it('accepts each code once', async () => {
    const { secret } = await enrol();
    const code = nextCode(secret);
    const [first, second] = [await openSignIn(), await openSignIn()];
    for (const browser of [first, second]) await browser.submit(credentials());
    const answers = await Promise.all([first.submit({ code }), second.submit({ code })]);
    expect(answers.filter(({ callback }) => callback !== undefined)).toHaveLength(1);
  });

  it('is signed in once by each recovery code, which is in the log and not in the database', async () => {
    const { recovery, token } = await enrol();
    const [code = ''] = recovery;
    const signIn = async () => {
      const browser = await openSignIn();
      await browser.submit(credentials());
      return (await browser.submit({ code: code.toLowerCase() })).callback !== undefined;
    };
    expect([await signIn(), await signIn()]).toEqual([true, false]);
    const get = (path: string) => under.fetch(path, { headers: { Authorization: `Bearer ${token}` } });
    const { values } = await readAudit(get, 'auth');
    expect(values.slice(0, 2).map(({ action }) => action)).toEqual([
      'recovery-code.used',
      'second-factor.added',
    ]);
    const stored = await under.db.query(sql`
      SELECT (SELECT json_agg(f) FROM second_factors AS f)::text || (SELECT json_agg(c) FROM recovery_codes AS c)::text AS rows`);
    expect(JSON.stringify(stored)).not.toContain(code.replace('-', ''));
  });

  it('cannot be guessed: after five wrong codes none is considered', async () => {
    const { secret } = await enrol();
    const browser = await openSignIn();
    await browser.submit(credentials());
    for (let count = 0; count < 5; count += 1)
      expect((await browser.submit({ code: '000000' })).status).toBe(422);
    const late = await browser.submit({ code: nextCode(secret) });
    expect([late.status, late.callback]).toEqual([429, undefined]);
  });

  it('ends other sessions when it gets one, and when it loses it', async () => {
    const keep = (id: string) =>
      under.db.query(sql`
      INSERT INTO issuer_items (model, id, payload, expires_at)
      VALUES ('RefreshToken', ${id}, ${{ accountId: id }}, now() + interval '1 hour')`);
    const kept = async (id: string) =>
      (await under.db.query(sql`SELECT FROM issuer_items WHERE id = ${id}`)).length;
    const { id } = await under.db.one<{ id: string }>(sql`SELECT id FROM accounts WHERE name = 'jane'`);
    await keep(id);
    await enrol();
    expect(await kept(id)).toBe(0);
    const root: AccountCaller = callerWithToken(under, String((await enrol('root')).token));
    await keep(id);
    expect((await root.list()).get('jane')).toMatchObject({ secondFactor: true });
    expect((await root.send('DELETE', `/accounts/${id}/second-factor`)).status).toBe(204);
    expect(await kept(id)).toBe(0);
    expect((await root.list()).get('jane')).toMatchObject({ secondFactor: false });
    expect((await root.send('DELETE', `/accounts/${id}/second-factor`)).status).toBe(409);
  });

  it('loses it by command, too, for the last administrator who has lost the telephone', async () => {
    await enrol('root');
    const { run } = readAccountArguments(['remove-factor', 'root']);
    expect(await run(under.db, '')).toBe('Removed the second factor of root.');
    expect(await run(under.db, '')).toBe('The account root has no second factor.');
  });
});

describe('where no second factor is required', () => {
  beforeEach(() => under.restart({ settings: { demo: false, secondFactor: false } }));

  it('an account has one if it wants one, and its password alone is then not enough', async () => {
    expect(await passwordGrant('jane')).toBe(200);
    const plain = await openSignIn();
    expect((await plain.submit(credentials())).callback).toBeDefined();
    const browser = await openSignIn({ acr_values: 'second-factor' });
    const secret = secretOf((await browser.submit(credentials())).html);
    await browser.submit({ code: codeNow(secret) });
    expect((await browser.submit({})).callback).toBeDefined();
    expect(await passwordGrant('jane')).toBe(400);
    const next = await openSignIn();
    expect((await next.submit(credentials())).callback).toBeUndefined();
    expect((await next.submit({ code: nextCode(secret) })).callback).toBeDefined();
  });
});
