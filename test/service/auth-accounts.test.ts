import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { addAccount } from '../../services/auth/commands/accounts.ts';
import { addClient } from '../../services/auth/commands/clients.ts';
import { createKeyedHash } from '../../services/auth/domain/api-keys.ts';
import {
  type AccountCaller,
  callerWithToken,
  choosePassword,
  goodPassword,
  type ShownAccount,
} from '../support/instances/account-callers.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { createOutsideIssuer } from '../support/network/outside-issuer.ts';

let under: AuthUnderTest;
let root: AccountCaller;
beforeEach(async () => {
  under = await startAuth({ settings: { demo: false } });
  await addAccount(under.db, { name: 'root', role: 'admin', password: goodPassword });
  root = callerWithToken(under, await under.tokenOf('root', goodPassword));
});
afterEach(() => under.stop());

const signIn = (username: string, password = goodPassword) =>
  under.askToken({ grant_type: 'password', client_id: 'cmclient', username, password });
const codeOf = async (response: Response) => {
  const { type } = (await response.json()) as { type: string };
  return `${response.status} ${type.split('/').at(-1)}`;
};
const shownOf = async (name: string) => (await root.list()).get(name) as ShownAccount;
/** Stores a refresh token as the issuer does, because no client of these tests gets one. */
const giveRefreshToken = (id: string) =>
  under.db.query(sql`
    INSERT INTO issuer_items (model, id, payload, expires_at)
    VALUES ('RefreshToken', ${`token of ${id}`}, ${{ accountId: id }}, now() + interval '1 hour')`);
const hasRefreshToken = async (id: string) =>
  (await under.db.query(sql`SELECT FROM issuer_items WHERE id = ${`token of ${id}`}`)).length > 0;

/** An access token of a registered program with the role admin. */
async function tokenOfProgram(): Promise<string> {
  const client = { id: 'robot', role: 'admin' as const, redirectUris: [], isPublic: false };
  const added = await addClient(under.db, createKeyedHash(under.secrets.keyPepper), client);
  const Authorization = `Basic ${Buffer.from(`robot:${added.split('\n')[1]}`).toString('base64')}`;
  const asked = await under.askToken({ grant_type: 'client_credentials' }, '/auth', { Authorization });
  return ((await asked.json()) as { access_token: string }).access_token;
}

describe('an invited person', () => {
  it('chooses a password on the page of the link, and signs in with it', async () => {
    const made = await root.invite(' jane ', 'operator');
    expect(made).toMatchObject({ name: 'jane', role: 'operator', state: 'INVITED' });
    expect((await choosePassword(made.link)).status).toBe(200);
    const jane = callerWithToken(under, await under.tokenOf('jane', goodPassword));
    expect(await (await jane.send('GET', '/user')).json()).toMatchObject({ roles: ['operator', 'user'] });
    const shown = await shownOf('jane');
    expect(shown).toMatchObject({ id: made.id, state: 'ACTIVE', lastSignInDate: expect.any(Number) });
    expect(shown).not.toHaveProperty('link');
  });

  it.each([
    ['operator', '<a href="/console">'],
    ['user', '<a href="/">'],
  ] as const)('is led on with the role %s', async (role, link) => {
    const made = await root.invite('jane', role);
    expect(await (await choosePassword(made.link)).text()).toContain(link);
    const again = await (await fetch(made.link, { headers: { Accept: 'text/html' } })).text();
    expect(again).toContain('If you have chosen your password, you can sign in.');
    expect(again).not.toMatch(/link_not_valid|restart|Something went wrong/);
  });

  it('sees the own username on the page, and cannot choose another one', async () => {
    const { link } = await root.invite('jane');
    const page = await (await fetch(link, { headers: { Accept: 'text/html' } })).text();
    expect(page).toMatch(/<input[^>]*name="username"[^>]*readonly[^>]*value="jane"/);
    const body = new URLSearchParams({ username: 'root', password: goodPassword, repeated: goodPassword });
    expect((await fetch(link, { method: 'POST', body })).status).toBe(200);
    expect([...(await root.list()).keys()].sort()).toEqual(['jane', 'root']);
    expect((await signIn('jane')).status).toBe(200);
  });

  it.each([
    ['fr', 'Choisissez un mot de passe', 'ltr'],
    ['ar', 'اختر كلمة مرور', 'rtl'],
  ])('reads the page in %s', async (language, title, dir) => {
    const { link } = await root.invite('jane');
    const headers = { Accept: 'text/html', 'Accept-Language': language };
    const page = await (await fetch(link, { headers })).text();
    expect(page).toContain(`<h1>${title}</h1>`);
    expect(page).toContain(`dir="${dir}"`);
  });

  it('cannot sign in before, whatever the password', async () => {
    await root.invite('jane');
    for (const password of ['', 'jane', goodPassword, 'dummy for unknown usernames'])
      expect((await signIn('jane', password)).status).toBe(400);
  });

  it('can use the link for 24 hours, and once', async () => {
    const { link, linkExpires, creationDate } = await root.invite('jane');
    const hours = (Date.parse(linkExpires) - creationDate) / 3_600_000;
    expect(hours).toBeCloseTo(24, 2);
    await under.db.query(sql`UPDATE setup_links SET expires_at = expires_at - interval '24 hours 1 second'`);
    expect((await choosePassword(link)).status).toBe(410);
    const made = (await (await root.send('POST', await pathOf('jane', '/link'))).json()) as ShownAccount;
    expect((await choosePassword(link)).status).toBe(410);
    expect((await choosePassword(made.link)).status).toBe(200);
    expect((await choosePassword(made.link)).status).toBe(410);
  });

  it('chooses one password, even if the form is sent several times at once', async () => {
    const { link } = await root.invite('jane');
    const passwords = ['one', 'two', 'three', 'four'].map((word) => `the phrase number ${word}`);
    const answers = await Promise.all(passwords.map((password) => choosePassword(link, password)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410]);
    const signIns = await Promise.all(passwords.map((password) => signIn('jane', password)));
    expect(signIns.map(({ status }) => status)).toEqual(
      answers.map(({ status }) => (status === 200 ? 200 : 400)),
    );
  });

  it('has a link that is neither stored nor logged nor listed', async () => {
    const { link } = await root.invite('jane');
    const token = new URL(link).searchParams.get('token') ?? '';
    await choosePassword(link);
    expect(under.logged()).not.toContain(token);
    expect(JSON.stringify([...(await root.list()).values()])).not.toContain(token);
  });
});

const pathOf = async (name: string, end = '') => `/accounts/${(await shownOf(name)).id}${end}`;

describe('a change of an account', () => {
  it('of its role ends its refresh tokens, and its next access token has the new role', async () => {
    await addAccount(under.db, { name: 'jane', role: 'operator', password: goodPassword });
    const { id } = await shownOf('jane');
    await giveRefreshToken(id);
    const changed = await root.send('PUT', `/accounts/${id}`, { role: 'admin' });
    expect(await changed.json()).toMatchObject({ id, role: 'admin', state: 'ACTIVE' });
    expect(await hasRefreshToken(id)).toBe(false);
    const jane = callerWithToken(under, await under.tokenOf('jane', goodPassword));
    expect((await jane.send('GET', '/accounts')).status).toBe(200);
  });

  it('that changes nothing ends nothing', async () => {
    await addAccount(under.db, { name: 'jane', role: 'operator', password: goodPassword });
    const { id } = await shownOf('jane');
    await giveRefreshToken(id);
    for (const body of [{}, { role: 'operator' }, { disabled: false }, { role: 'operator', disabled: false }])
      expect((await root.send('PUT', `/accounts/${id}`, body)).status).toBe(200);
    expect(await hasRefreshToken(id)).toBe(true);
  });

  it('can disable it: it cannot sign in, has no sessions and no link, until it is enabled', async () => {
    const { id, link } = await root.invite('jane');
    await choosePassword(link);
    const again = (await (await root.send('POST', `/accounts/${id}/link`)).json()) as ShownAccount;
    await giveRefreshToken(id);
    const disabled = await root.send('PUT', `/accounts/${id}`, { disabled: true });
    expect(await disabled.json()).toMatchObject({ state: 'DISABLED' });
    expect((await signIn('jane')).status).toBe(400);
    expect(await hasRefreshToken(id)).toBe(false);
    expect((await choosePassword(again.link)).status).toBe(410);
    const refused = await root.send('POST', `/accounts/${id}/link`);
    expect(await refused.json()).toMatchObject({ status: 409, state: 'DISABLED' });
    const enabled = await root.send('PUT', `/accounts/${id}`, { disabled: false });
    expect(await enabled.json()).toMatchObject({ state: 'ACTIVE' });
    expect((await signIn('jane')).status).toBe(200);
  });

  it('can delete it, with its sessions and its link; the name is free again, the id is not used again', async () => {
    const { id, link } = await root.invite('jane');
    await giveRefreshToken(id);
    expect((await root.send('DELETE', `/accounts/${id}`)).status).toBe(204);
    expect(await hasRefreshToken(id)).toBe(false);
    expect((await choosePassword(link)).status).toBe(410);
    for (const path of [`/accounts/${id}`, '/accounts/whatever'])
      expect(await codeOf(await root.send('DELETE', path))).toBe('404 not-found');
    expect((await root.invite('jane')).id).not.toBe(id);
  });

  it('by a new link ends its sessions when the password is chosen, not before', async () => {
    await addAccount(under.db, { name: 'jane', role: 'operator', password: goodPassword });
    const { id } = await shownOf('jane');
    await giveRefreshToken(id);
    const { link, state } = (await (await root.send('POST', `/accounts/${id}/link`)).json()) as ShownAccount;
    expect(state).toBe('ACTIVE');
    expect((await signIn('jane')).status).toBe(200);
    expect(await hasRefreshToken(id)).toBe(true);
    await choosePassword(link, 'another long phrase');
    expect(await hasRefreshToken(id)).toBe(false);
    expect((await signIn('jane')).status).toBe(400);
    expect((await signIn('jane', 'another long phrase')).status).toBe(200);
  });
});

describe('the last active administrator', () => {
  it('cannot be demoted, disabled or deleted, not even by themselves; an invited one does not count', async () => {
    await root.invite('second', 'admin');
    const path = await pathOf('root');
    for (const body of [{ role: 'operator' }, { disabled: true }, { role: 'user', disabled: true }])
      expect(await codeOf(await root.send('PUT', path, body))).toBe('409 last-admin');
    expect(await codeOf(await root.send('DELETE', path))).toBe('409 last-admin');
    expect(await shownOf('root')).toMatchObject({ role: 'admin', state: 'ACTIVE' });
  });

  it('remains when administrators remove each other at the same time', async () => {
    const names = ['second', 'third', 'fourth'];
    for (const name of names) await addAccount(under.db, { name, role: 'admin', password: goodPassword });
    const paths = await Promise.all(['root', ...names].map((name) => pathOf(name)));
    // A program, so that all acts are of a caller that remains.
    const robot = callerWithToken(under, await tokenOfProgram());
    const answers = await Promise.all(
      paths.map((path, index) =>
        index % 2 === 0 ? robot.send('DELETE', path) : robot.send('PUT', path, { disabled: true }),
      ),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(1);
    const left = [...(await robot.list()).values()].filter(({ state }) => state === 'ACTIVE');
    expect(left).toHaveLength(1);
  });
});

describe('an invitation is rejected', () => {
  it('for a name that exists, in any normalisation', async () => {
    await root.invite('Zoe\u0308');
    const answer = await root.send('POST', '/accounts', { name: ' Zo\u00eb ', role: 'user' });
    expect(await codeOf(answer)).toBe('409 exists');
  });

  it('for a name that looks like one that exists', async () => {
    const alike = [
      'ROOT',
      'root\u200b',
      'ｒｏｏｔ',
      'r\u043eot',
      'ro0t',
      'ro\u00adot',
      '\u2800root',
      'r\u03bfot',
    ];
    for (const name of alike)
      expect(await codeOf(await root.send('POST', '/accounts', { name, role: 'user' })), name).toBe(
        '409 exists',
      );
    expect((await root.list()).size).toBe(1);
  });

  it('for a name with nothing to see, or that changes the direction of the text', async () => {
    for (const name of ['\u200b', '\u2800\u3164', '\u202etoor', 'a\u2066b'])
      expect(await codeOf(await root.send('POST', '/accounts', { name, role: 'user' })), name).toBe(
        '422 invalid',
      );
  });

  it('for an invalid name or role, with a pointer to each', async () => {
    const answer = await root.send('POST', '/accounts', { name: ' \u0007 ', role: 'key' });
    expect(await answer.json()).toMatchObject({
      status: 422,
      errors: [{ pointer: '/name' }, { pointer: '/role' }],
    });
    const changed = await root.send('PUT', await pathOf('root'), { role: 'ADMIN' });
    expect(await changed.json()).toMatchObject({ status: 422, errors: [{ pointer: '/role' }] });
  });

  it('for the name of an account of the demonstration, while there is one', async () => {
    await under.restart({ settings: { demo: true } });
    const answer = await root.send('POST', '/accounts', { name: 'operator', role: 'user' });
    expect(await codeOf(answer)).toBe('409 exists');
  });
});

describe('the list of accounts', () => {
  it('has pages, newest first', async () => {
    for (const name of ['a', 'b', 'c']) await root.invite(name);
    const first = await root.send('GET', '/accounts?limit=3');
    const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await root.send('GET', next.slice(under.baseUrl.length));
    const names = [first, second].map(async (page) =>
      ((await page.json()) as ShownAccount[]).map(({ name }) => name),
    );
    expect(await Promise.all(names)).toEqual([['c', 'b', 'a'], ['root']]);
    expect(second.headers.get('link')).toBeNull();
  });
});

describe('with an outside issuer', () => {
  it('accounts and passwords are not available', async () => {
    const issuer = await createOutsideIssuer();
    await issuer.start();
    const outsideIssuer = {
      issuer: issuer.url,
      audience: issuer.audience,
      paths: { roles: 'realm_access.roles', subject: 'preferred_username' },
    };
    await under.restart({ settings: { authUrl: issuer.url, outsideIssuer } });
    const boss = callerWithToken(under, await issuer.tokenOf('boss'));
    const id = '0197a1f3-2b40-7c5d-8e61-9a0b1c2d3e4f';
    const answers = [
      await boss.send('GET', '/accounts'),
      await boss.send('POST', '/accounts', { name: 'jane', role: 'user' }),
      await boss.send('PUT', `/accounts/${id}`, { disabled: true }),
      await boss.send('DELETE', `/accounts/${id}`),
      await boss.send('POST', `/accounts/${id}/link`),
      await boss.send('PUT', '/user/password', { current: 'x', password: goodPassword }),
    ];
    const codes = await Promise.all(answers.map(codeOf));
    await issuer.stop();
    expect(new Set(codes)).toEqual(new Set(['422 not-available']));
  });
});
