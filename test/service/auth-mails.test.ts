import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { createMailTransport } from '#lib/mail/mail-transport.ts';
import { addAccount } from '../../services/auth/commands/accounts.ts';
import {
  type AccountCaller,
  callerWithToken,
  choosePassword,
  goodPassword,
  type ShownAccount,
} from '../support/instances/account-callers.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { type ReceivedMail, startMailServer } from '../support/network/mail-server.ts';
import { createBrowserSession } from '../support/pages/browser-session.ts';

const server = await startMailServer();
afterAll(() => server.close());

let under: AuthUnderTest;
let root: AccountCaller;
let addresses = 0;
/** An address that no other test has. */
const newAddress = () => `person${++addresses}@clinic.example`;
beforeEach(async () => {
  const transport = createMailTransport({ url: server.url, host: 'consent.example' });
  under = await startAuth({ settings: { demo: false }, transport });
  await addAccount(under.db, { name: 'root', role: 'admin', password: goodPassword });
  root = callerWithToken(under, await under.tokenOf('root', goodPassword));
});
afterEach(() => under.stop());

const otherPassword = 'another long phrase';
const linkOf = ({ mail }: ReceivedMail) => /https?:\/\/\S+token=[\w-]+/.exec(mail.text ?? '')?.[0] ?? '';
const invite = async (body: object) =>
  (await (await root.send('POST', '/accounts', { role: 'operator', ...body })).json()) as ShownAccount;

/** A person who has chosen a password. */
async function join(name: string, email?: string): Promise<ShownAccount> {
  const made = await invite({ name, ...(email && { email }) });
  expect((await choosePassword(made.link)).status).toBe(200);
  return made;
}

/** Asks for a link on the page. @returns what it says. */
async function forget(username: string, language = 'en') {
  const browser = createBrowserSession();
  const url = `${under.authUrl}/forgotten`;
  const page = await browser.fetch(url, { headers: { 'Accept-Language': language } });
  expect(page.status).toBe(200);
  const response = await browser.fetch(url, {
    method: 'POST',
    headers: { 'Accept-Language': language },
    body: new URLSearchParams({ username }),
  });
  return { status: response.status, html: await response.text() };
}

/** Waits until no mail is on its way. */
const settled = () =>
  vi.waitFor(async () => expect(await under.db.query(sql`SELECT FROM account_mails`)).toHaveLength(0));

const auditOf = async (id: string) => {
  const response = await root.send('GET', `/audit/auth?target=account/${id}`);
  const { values } = (await response.json()) as { values: { action: string; actor: string }[] };
  return values.map(({ action, actor }) => `${action} by ${actor === id ? 'themselves' : actor}`);
};

describe('an invitation with an address', () => {
  it('is sent there, in the language of the invitation, and its link works', async () => {
    const email = newAddress();
    const made = await invite({ name: 'jane', email, language: 'fr' });
    expect(made).toMatchObject({ email, mailed: true, state: 'INVITED' });
    const mail = await server.waitFor(email);
    expect(mail.mail.subject).toBe('Votre compte chez Accord');
    expect(mail.mail.from).toMatchObject({ address: 'no-reply@localhost' });
    expect(mail.mail.html).toContain('jane');
    expect(linkOf(mail)).toBe(made.link);
    expect((await choosePassword(linkOf(mail))).status).toBe(200);
    await under.tokenOf('jane', goodPassword);
  });

  it('is sent again with a new link, and the first stops working', async () => {
    const email = newAddress();
    const made = await invite({ name: 'jane', email });
    const again = (await (
      await root.send('POST', `/accounts/${made.id}/link?language=ar`)
    ).json()) as ShownAccount;
    expect(again.mailed).toBe(true);
    const mail = await server.waitFor(email, 2);
    expect(mail.mail.html).toContain('dir="rtl"');
    expect((await choosePassword(made.link)).status).toBe(410);
    expect((await choosePassword(linkOf(mail))).status).toBe(200);
  });

  it('arrives later if the mail server is away', async () => {
    const email = newAddress();
    server.behave(email, { recipient: 451 });
    await invite({ name: 'jane', email });
    await vi.waitFor(() => expect(under.logged()).toContain('mail to an account not sent; retried'));
    server.behave(email, {});
    await server.waitFor(email);
    expect(under.logged()).not.toContain(email);
  });

  it('is only a link to copy without an address, and without a mail server', async () => {
    expect((await invite({ name: 'jane' })).mailed).toBe(false);
    await under.restart({ settings: { demo: false } });
    expect(await invite({ name: 'ann', email: newAddress() })).toMatchObject({ mailed: false });
    expect((await under.fetch('/auth/forgotten')).status).toBe(404);
  });

  it('is refused with something else than an address', async () => {
    const response = await root.send('POST', '/accounts', { name: 'jane', role: 'user', email: 'nobody' });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ pointer: '/email' }] });
  });
});

describe('a forgotten password', () => {
  it('is replaced by a link to the address of the account: the old one and all sessions end', async () => {
    const email = newAddress();
    const { id } = await join('jane', email);
    await under.db.query(sql`
      INSERT INTO issuer_items (model, id, payload, expires_at)
      VALUES ('RefreshToken', 'of jane', ${{ accountId: id }}, now() + interval '1 hour')`);
    await forget('jane', 'fr');
    const mail = await server.waitFor(email, 2);
    expect(mail.mail.subject).toBe('Un nouveau mot de passe pour votre compte chez Accord');
    const link = linkOf(mail);
    const page = await (await fetch(link, { headers: { Accept: 'text/html' } })).text();
    expect(page).toContain('Choose a new password');
    expect((await choosePassword(link, otherPassword)).status).toBe(200);
    await expect(under.tokenOf('jane', goodPassword)).rejects.toThrow('no token');
    await under.tokenOf('jane', otherPassword);
    expect(await under.db.query(sql`SELECT FROM issuer_items WHERE id = 'of jane'`)).toHaveLength(0);
    expect((await choosePassword(link, goodPassword)).status).toBe(410);
    expect(await auditOf(id)).toEqual([
      'password.changed by themselves',
      'password.reset-requested by accord',
      'password.changed by themselves',
      expect.stringMatching(/^account\.created by /),
    ]);
  });

  it('leaves the second factor as it is', async () => {
    const email = newAddress();
    const { id } = await join('jane', email);
    await under.db.query(sql`
      INSERT INTO second_factors (account, sealed, used_step, created_at) VALUES (${id}, ''::bytea, 0, now())`);
    await forget('jane');
    await choosePassword(linkOf(await server.waitFor(email, 2)), otherPassword);
    expect((await root.list()).get('jane')).toMatchObject({ secondFactor: true });
    // The password grant has no place for a code.
    await expect(under.tokenOf('jane', otherPassword)).rejects.toThrow('no token');
  });

  it('can be asked for by the address, in any case', async () => {
    const email = newAddress();
    await join('jane', email);
    await forget(` ${email.toUpperCase()} `);
    await server.waitFor(email, 2);
  });

  it('is answered alike for an account, a stranger, and an account that gets no mail', async () => {
    const email = newAddress();
    await join('jane', email);
    await join('without');
    const [invited, disabled] = [newAddress(), newAddress()];
    await invite({ name: 'invited', email: invited });
    const { id } = await join('disabled', disabled);
    await root.send('PUT', `/accounts/${id}`, { disabled: true });
    await settled();
    const answers = [];
    for (const who of ['jane', 'nobody', 'without', 'invited', 'disabled', '', '\u0000'])
      answers.push(await forget(who));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.html).not.toMatch(/jane|nobody/);
    await server.waitFor(email, 2);
    await settled();
    expect([server.to(invited).length, server.to(disabled).length]).toEqual([1, 1]);
  });

  it('has links that are valid for half an hour', async () => {
    const email = newAddress();
    await join('jane', email);
    await forget('jane');
    const link = linkOf(await server.waitFor(email, 2));
    await under.db.query(
      sql`UPDATE setup_links SET expires_at = expires_at - interval '30 minutes 1 second'`,
    );
    expect((await choosePassword(link, otherPassword)).status).toBe(410);
    await under.tokenOf('jane', goodPassword);
  });

  it('causes three mails in half an hour at most, and ends no link of an administrator', async () => {
    const email = newAddress();
    const { id } = await join('jane', email);
    const given = (await (await root.send('POST', `/accounts/${id}/link`)).json()) as ShownAccount;
    for (let time = 0; time < 6; time += 1) {
      await forget('jane');
      await vi.waitFor(async () =>
        expect((await auditOf(id)).filter((line) => line.startsWith('password.reset')).length).toBe(
          Math.min(time + 1, 3),
        ),
      );
    }
    await settled();
    expect(server.to(email)).toHaveLength(2 + 3);
    expect((await choosePassword(given.link, otherPassword)).status).toBe(200);
    // With the password all other links end.
    expect((await choosePassword(linkOf(server.to(email).at(-1) as ReceivedMail))).status).toBe(410);
  });

  it('is limited by network like failed sign-ins', async () => {
    const limits = { ...(await import('#lib/http/rate-limits.ts')).defaultRateLimits, address: 3 };
    const transport = createMailTransport({ url: server.url, host: 'consent.example' });
    await under.restart({ settings: { demo: false }, transport, limits });
    const statuses = [];
    for (let time = 0; time < 5; time += 1) statuses.push((await forget('nobody')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });
});

describe('the address of an account', () => {
  it('is set and removed by an administrator, who ends no session with it', async () => {
    const { id } = await join('jane');
    const token = await under.tokenOf('jane', goodPassword);
    const email = newAddress();
    const changed = await root.send('PUT', `/accounts/${id}`, { email });
    expect(await changed.json()).toMatchObject({ email });
    await forget('jane');
    const link = linkOf(await server.waitFor(email));
    expect(await (await root.send('PUT', `/accounts/${id}`, { email: null })).json()).not.toHaveProperty(
      'email',
    );
    expect((await choosePassword(link, otherPassword)).status, 'a link to an address that is gone').toBe(410);
    expect((await callerWithToken(under, token).send('GET', '/user')).status).toBe(200);
  });

  it('is set by its person, once the link that is sent to it is confirmed', async () => {
    await join('jane');
    const jane = callerWithToken(under, await under.tokenOf('jane', goodPassword));
    const email = newAddress();
    expect((await jane.send('PUT', '/user/email', { email, language: 'fr' })).status).toBe(204);
    const mail = await server.waitFor(email);
    expect(mail.mail.subject).toBe('Confirmez votre adresse pour Accord');
    const link = linkOf(mail);
    const browser = createBrowserSession();
    const page = await browser.fetch(link);
    expect(await (await jane.send('GET', '/user')).json()).not.toHaveProperty('email');
    const confirmed = await browser.submit(link, await page.text(), {});
    expect(confirmed.status).toBe(200);
    expect(await (await jane.send('GET', '/user')).json()).toMatchObject({ email });
    expect((await browser.submit(link, '<form method="post" action=""></form>', {})).status).toBe(410);
    expect((await jane.send('PUT', '/user/email', { email: null })).status).toBe(204);
    expect(await (await jane.send('GET', '/user')).json()).not.toHaveProperty('email');
  });

  it('sends no more than three mails to addresses of its choice in five minutes', async () => {
    await join('jane');
    const jane = callerWithToken(under, await under.tokenOf('jane', goodPassword));
    const statuses = [];
    for (let time = 0; time < 5; time += 1)
      statuses.push((await jane.send('PUT', '/user/email', { email: newAddress() })).status);
    expect(statuses).toEqual([204, 204, 204, 429, 429]);
  });

  it('gets ten mails of accounts a day, whoever causes them, and nothing tells that there were more', async () => {
    const email = newAddress();
    const spelt = (time: number) => email.replace('@', `+${time}@`).toUpperCase();
    for (let time = 0; time < 10; time += 1)
      expect(await invite({ name: `jane${time}`, email: spelt(time) })).toMatchObject({ mailed: true });
    await settled();
    await join('late');
    const late = callerWithToken(under, await under.tokenOf('late', goodPassword));
    const [known, unknown] = [
      await late.send('PUT', '/user/email', { email: spelt(10) }),
      await late.send('PUT', '/user/email', { email: newAddress() }),
    ];
    expect([known.status, await known.text()]).toEqual([unknown.status, await unknown.text()]);
    expect(await invite({ name: 'more', email: spelt(11) })).toMatchObject({ mailed: false });
    await settled();
    const isSame = (to: string) => to.toLowerCase().replace(/\+\d+@/, '@') === email;
    expect(server.received.filter(({ to }) => isSame(to))).toHaveLength(10);
    await under.db.query(sql`UPDATE account_mail_counts SET queued_at = queued_at - interval '1 day'`);
    expect(await invite({ name: 'next', email: spelt(12) })).toMatchObject({ mailed: true });
  });

  it('gets none after 300 of all in an hour, of which forgotten passwords use half', async () => {
    const email = newAddress();
    const { id } = await join('jane', email);
    const jane = callerWithToken(under, await under.tokenOf('jane', goodPassword));
    const fill = (count: number) =>
      under.db.query(sql`
        INSERT INTO account_mail_counts SELECT '\\x00'::bytea, now() FROM generate_series(1, ${count}::int)`);
    await settled();
    await fill(150);
    const [forgotten, nobody] = [await forget('jane'), await forget('nobody')];
    expect(forgotten.html).toBe(nobody.html.replaceAll('nobody', 'jane'));
    expect(await invite({ name: 'ann', email: newAddress() })).toMatchObject({ mailed: true });
    await fill(150);
    const refused = await jane.send('PUT', '/user/email', { email: newAddress() });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
    expect(await invite({ name: 'eve', email: newAddress() })).toMatchObject({ mailed: false });
    await settled();
    expect(await auditOf(id)).not.toContain('password.reset-requested by accord');
  });

  it('is not changed by a link that was forged, or of another instance', async () => {
    const response = await fetch(
      `${under.authUrl}/address?token=${Buffer.alloc(120).toString('base64url')}`,
      {
        method: 'POST',
        body: new URLSearchParams(),
      },
    );
    expect(response.status).toBe(410);
  });
});
