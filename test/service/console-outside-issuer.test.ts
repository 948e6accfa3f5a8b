import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePerson, createConsolePerson, submitSignIn } from '../support/console/console-person.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { createOutsideIssuer, type OutsideIssuer } from '../support/network/outside-issuer.ts';

describe.each([
  { kind: 'that gives refresh tokens', hasRefreshTokens: true },
  { kind: 'without refresh tokens', hasRefreshTokens: false },
  { kind: 'whose name ends with a slash', hasRefreshTokens: true, path: '/tenant/' },
  { kind: 'whose name is set without its slash', hasRefreshTokens: true, path: '/tenant/', isCut: true },
])('the console beside an outside issuer $kind', ({ hasRefreshTokens, path: root, isCut }) => {
  let issuer: OutsideIssuer;
  let instance: TestInstance;
  const restart = async (tokenSeconds: number) => {
    await issuer.stop();
    const secret = String(instance.secrets.consoleClient[0]);
    await issuer.start({ secret, baseUrl: instance.url, hasRefreshTokens, tokenSeconds });
  };
  beforeAll(async () => {
    issuer = await createOutsideIssuer(root);
    instance = await startTestInstance({
      OIDC_ISSUER: isCut ? issuer.url.slice(0, -1) : issuer.url,
      OIDC_AUDIENCE: issuer.audience,
      OIDC_ROLE_CLAIM: 'realm_access.roles',
    });
    await restart(300);
  });
  afterAll(async () => {
    await instance.stop();
    await issuer.stop();
  });

  const run = <Row extends object>(statement: string) => rowsOf<Row>(instance, statement);
  const submit = async (
    person: ConsolePerson,
    asked: Awaited<ReturnType<ConsolePerson['open']>>,
    name: string,
  ) =>
    submitSignIn(
      person,
      { ...asked, html: asked.html.replace('action="', `action="${new URL(issuer.url).origin}`) },
      {
        username: name,
        password: '',
      },
    );
  async function signIn(name: string, path = '/console') {
    const person = createConsolePerson(instance.url);
    return { person, page: await submit(person, await person.open(path), name) };
  }
  const renewIsDue = () => run(`UPDATE console.sessions SET renew_at = clock_timestamp()`);
  const sessions = () =>
    run<{ n: number; since: Date }>(
      'SELECT count(*)::int AS n, min(signed_in_at) AS since FROM console.sessions',
    );

  it('signs people in with their roles there, and leads to the page that was opened', async () => {
    const { page } = await signIn('boss', '/console/settings');
    expect(page).toMatchObject({ status: 200, path: '/console/settings' });
    expect(page.html).toContain('boss');
  });

  it('tells a person without a role of the instance whom to ask', async () => {
    const { page } = await signIn('guest');
    expect(page.status).toBe(403);
    expect(page.html).toContain('administrator');
  });

  it('renews a token without asking the person', async () => {
    const { person } = await signIn('jane');
    await renewIsDue();
    const page = await person.open('/console/elements?q=x');
    expect(page).toMatchObject({ status: 200, path: '/console/elements?q=x' });
  });

  it('ends a session at its longest time, however often its token is renewed', async () => {
    await run('DELETE FROM console.sessions');
    const { person } = await signIn('jane');
    await run(`UPDATE console.sessions SET signed_in_at = signed_in_at - interval '11 hours 59 minutes'`);
    const before = (await sessions())[0]?.since;
    await renewIsDue();
    expect((await person.open('/console')).status).toBe(200);
    expect(await sessions()).toEqual([{ n: 1, since: before }]);
  });

  it('keeps a form that was sent when the token had to be renewed at the issuer, or carries it out', async () => {
    const { person } = await signIn('boss');
    await renewIsDue();
    const page = await person.post('/console/settings/you', { language: 'fr', colors: 'dark' });
    expect(page.status).toBe(200);
    expect(page.path).toMatch(
      hasRefreshTokens ? /^\/console\/settings\/you/ : /^\/console\/settings\/you\?kept=[\w-]+$/,
    );
  });

  it('ends the session here and leads to the end of the one at the issuer', async () => {
    const { person } = await signIn('jane');
    const response = await person.browser.fetch(`${instance.url}/console/sign-out`, {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams(),
    });
    expect(response.headers.get('location')).toContain(
      `${new URL('session/end', root ? issuer.url : `${issuer.url}/`).href}?`,
    );
    expect((await person.browser.fetch(`${instance.url}/console`)).status).toBe(303);
  });

  it('lets its forms be redirected to the issuer, and nowhere else', async () => {
    const { page } = await signIn('jane');
    expect(page.headers.get('content-security-policy')).toContain(
      `form-action 'self' ${new URL(issuer.url).origin};`,
    );
  });

  it('works with tokens that are valid for less than a minute', async () => {
    await restart(30);
    const { person, page } = await signIn('jane');
    expect(page.status).toBe(200);
    const response = await person.browser.fetch(`${instance.url}/console`);
    expect(response.status).toBe(200);
    await restart(300);
  });

  it('shows pages and ends sessions while the issuer is away', async () => {
    const { person } = await signIn('jane');
    await issuer.stop();
    expect((await person.open('/console')).status).toBe(200);
    const response = await person.browser.fetch(`${instance.url}/console/sign-out`, {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams(),
    });
    expect(response.status).toBe(303);
    expect((await person.browser.fetch(`${instance.url}/console`)).status).toBe(303);
    await restart(300);
  });
});

it('the console says that nobody can sign in while an outside issuer has never answered', async () => {
  const instance = await startTestInstance({ OIDC_ISSUER: 'http://127.0.0.1:9' });
  const page = await createConsolePerson(instance.url).open('/console');
  await instance.stop();
  expect(page.status).toBe(503);
  expect(page.html).toContain('The sign-in service does not answer.');
  expect(page.headers.get('retry-after')).toBe('5');
});
