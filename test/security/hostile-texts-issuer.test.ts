import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowserSession } from '../support/pages/browser-session.ts';
import { startWatchedProcess, type WatchedProcess } from './hostile-texts/process-under-test.ts';
import { sendEach } from './hostile-texts/send-each.ts';
import { encodedTexts, type HostileText, hostileTexts, shareOf } from './hostile-texts/texts.ts';

let watched: WatchedProcess;
beforeAll(async () => {
  watched = await startWatchedProcess();
}, 120_000);
afterAll(() => watched?.stop());

const patienceMs = 5 * 60_000;
const formType = 'application/x-www-form-urlencoded';

/** Bytes as they are: a form need not escape them, so that more of them fit. */
const unescaped: HostileText[] = hostileTexts.map(({ name, of }) => ({
  name: `${name}, unescaped`,
  of: (bytes) => of(bytes).replaceAll(/[%&+]/g, '').toWellFormed(),
}));

async function post(path: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${watched.instance.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    body,
    headers: { 'Content-Type': formType, ...headers },
  });
  await response.arrayBuffer();
  return response.status;
}

/** A form post of fields, one of which has the text as it is. */
const formOf = (fields: Record<string, string>, field: string, text: string, isEscaped: boolean) =>
  `${new URLSearchParams(fields)}&${field}=${isEscaped ? encodeURIComponent(text.toWellFormed()) : text}`;

/** The issuer reads 56 KiB of a token request and 16 KiB of its own pages. */
const ways = [1_040_000, 54_000].flatMap((bytes) => [
  { bytes, texts: encodedTexts, isEscaped: true },
  { bytes, texts: unescaped, isEscaped: false },
]);

describe('no text in a token request blocks other requests', () => {
  const grants: Record<string, string>[] = [
    { grant_type: 'password', client_id: 'cmclient', username: 'nobody', password: 'a long password' },
    {
      grant_type: 'authorization_code',
      client_id: 'accord',
      code: 'a',
      code_verifier: 'a',
      redirect_uri: 'http://127.0.0.1/callback',
    },
    { grant_type: 'client_credentials', client_id: 'shop', client_secret: 'a' },
  ];
  const more = [
    'scope',
    'resource',
    'client_assertion',
    'client_assertion_type',
    'refresh_token',
    'client_secret',
    'a',
  ];
  const cases = grants.flatMap((grant) =>
    [...new Set([...Object.keys(grant), ...more])].map((field, position) => ({
      grant,
      field,
      position,
      type: grant.grant_type,
    })),
  );

  /** Each field gets each text, and each text comes in each way in some field. */
  it.each(cases)(
    '$type: $field',
    async ({ grant, field, position }) => {
      const { [field]: _replaced, ...rest } = grant;
      for (const [turn, { bytes, texts, isEscaped }] of ways.entries()) {
        const share = shareOf(texts, { turn: turn + position, of: ways.length });
        const broken = await sendEach(watched, { name: field, texts: share, bytes }, (text) =>
          // Each name is locked after ten tries.
          post(
            '/auth',
            formOf({ ...rest, ...(rest.username && { username: randomUUID() }) }, field, text, isEscaped),
          ),
        );
        expect(broken).toEqual([]);
      }
    },
    patienceMs,
  );

  it('in the Authorization header of a client', async () => {
    const given = { name: 'Authorization', texts: encodedTexts, bytes: 11_000 };
    const broken = await sendEach(watched, given, (text) => {
      const value = Buffer.from(`${encodeURIComponent(text.toWellFormed())}:a`)
        .toString('base64')
        .slice(0, 14_000);
      return post('/auth', 'grant_type=client_credentials', { Authorization: `Basic ${value}` });
    });
    expect(broken).toEqual([]);
  });
});

describe('no text in the sign-in form blocks other requests', () => {
  const authorization = {
    client_id: 'accord',
    response_type: 'code',
    redirect_uri: 'http://127.0.0.1:49152/callback',
    scope: 'openid',
    code_challenge: createHash('sha256').update('a'.repeat(43)).digest('base64url'),
    code_challenge_method: 'S256',
  };

  it.each([
    ...Object.keys(authorization),
    'state',
    'login_hint',
    'ui_locales',
    'claims',
    'nonce',
    'prompt',
    'acr_values',
    'id_token_hint',
    'resource',
  ])(
    'in the address: %s',
    async (field) => {
      const broken = await sendEach(
        watched,
        { name: field, texts: encodedTexts, bytes: 12_000 },
        async (text) => {
          const query = new URLSearchParams({ ...authorization, [field]: text.toWellFormed() });
          const browser = createBrowserSession();
          const response = await browser.fetch(`${watched.instance.url}/auth/authorize?${query}`);
          const page = response.headers.get('location');
          // A fault goes back to the client.
          if (!page?.includes('/interaction/')) return response.status;
          return (await browser.fetch(new URL(page, watched.instance.url).href)).status;
        },
      );
      expect(broken).toEqual([]);
    },
    patienceMs,
  );

  it.each(['username', 'password'])(
    'in the form: %s',
    async (field) => {
      const browser = createBrowserSession();
      const start = await browser.fetch(
        `${watched.instance.url}/auth/authorize?${new URLSearchParams(authorization)}`,
      );
      const page = new URL(start.headers.get('location') ?? '', watched.instance.url).href;
      const html = await (await browser.fetch(page)).text();
      expect(html).toContain('<form');
      for (const bytes of [54_000, 15_000]) {
        const broken = await sendEach(watched, { name: field, texts: encodedTexts, bytes }, async (text) => {
          const fields = {
            username: randomUUID(),
            password: 'a long password',
            [field]: text.toWellFormed(),
          };
          return (await browser.submit(page, html, fields)).status;
        });
        expect(broken).toEqual([]);
      }
    },
    patienceMs,
  );
});
