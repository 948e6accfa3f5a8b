import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { defaultRateLimits } from '#lib/http/rate-limits.ts';
import { addAccount } from '../../services/auth/commands/accounts.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { createBrowserSession } from '../support/pages/browser-session.ts';

const settings = { demo: false };
const password = 'a long enough phrase';
const first = { username: 'root admin', password, repeated: password };

let under: AuthUnderTest;
let link: string;
beforeEach(async () => {
  under = await startAuth({ settings });
  link = under.setupLink ?? '';
});
afterEach(() => under.stop());

const browser = createBrowserSession();
async function open(url = link): Promise<{ status: number; html: string }> {
  const response = await browser.fetch(url);
  return { status: response.status, html: await response.text() };
}
const submit = async (fields: Record<string, string>, url = link) =>
  browser.fetch(url, { method: 'POST', body: new URLSearchParams(fields) });

describe('the link for the first administrator', () => {
  it('creates one account', async () => {
    expect(link).toMatch(new RegExp(`^${under.authUrl}/setup\\?token=[\\w-]{43}$`));
    const page = await open();
    expect(page.status).toBe(200);
    const made = await browser.submit(link, page.html, first);
    expect(made.status).toBe(201);
    const done = await made.text();
    expect(done).toContain('root admin');
    expect(done).toMatch(/<a href="\/console">Sign in to the console<\/a>/);
    const token = await under.tokenOf('root admin', password);
    const who = await under.fetch('/user', { headers: { Authorization: `Bearer ${token}` } });
    expect(await who.json()).toMatchObject({ name: 'root admin', admin: true });
    expect((await open()).status).toBe(410);
    expect((await submit({ ...first, username: 'second' })).status).toBe(410);
  });

  it('says in plain words that it was used, and leads on', async () => {
    await submit(first);
    const { html } = await open();
    expect(html).toContain('This link can no longer be used');
    expect(html).toContain('<a href="/console">');
    expect(html).not.toMatch(/Something went wrong|restart|link_not_valid|_/i);
  });

  it('that has expired says how to get a new one', async () => {
    await under.db.query(sql`UPDATE setup_links SET expires_at = expires_at - interval '61 minutes'`);
    const { html } = await open();
    expect(html).toContain('the next start of Accord prints a new link');
    expect(html).not.toContain('link_not_valid');
  });

  it('creates one account of several concurrent requests', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const made = await Promise.all(names.map((username) => submit({ ...first, username })));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 410, 410, 410]);
    const { count } = await under.db.one<{ count: number }>(sql`SELECT count(*)::int AS count FROM accounts`);
    expect(count).toBe(1);
  });

  it('expires after an hour and when Accord restarts', async () => {
    await under.db.query(sql`UPDATE setup_links SET expires_at = expires_at - interval '61 minutes'`);
    expect((await open()).status).toBe(410);
    await under.restart({ settings });
    const next = under.setupLink ?? '';
    expect(next).not.toBe(link);
    expect((await open(next)).status).toBe(200);
    await under.restart({ settings });
    expect((await open(next)).status).toBe(410);
  });

  it('is neither created nor valid once an account exists', async () => {
    await addAccount(under.db, { name: 'jane', role: 'user', password });
    expect((await open()).status).toBe(410);
    expect((await submit(first)).status).toBe(410);
    await under.restart({ settings });
    expect(under.setupLink).toBeUndefined();
  });

  it('is not created in demo mode', async () => {
    await under.restart();
    expect(under.setupLink).toBeUndefined();
  });

  it('rejects an invalid name or password and stays valid', async () => {
    const faults: [changed: Record<string, string>, reason: string][] = [
      [{ password: 'eleven char', repeated: 'eleven char' }, 'at least 12 characters'],
      [{ password: 'x'.repeat(257), repeated: 'x'.repeat(257) }, 'at most 256 characters'],
      [{ username: password.toUpperCase() }, 'must differ from the username'],
      [{ repeated: `${password}!` }, 'do not match'],
      [{ username: '  ' }, 'Choose a username'],
      [{ username: 'a\u0007b' }, 'Choose a username'],
    ];
    for (const [changed, reason] of faults) {
      const refused = await submit({ ...first, ...changed });
      expect(refused.status).toBe(422);
      const html = await refused.text();
      expect(html).toContain(reason);
      expect(html).not.toContain(password);
    }
    expect((await open()).status).toBe(200);
  });

  it('rejects wrong tokens', async () => {
    for (const query of ['', '?token=', '?token=guess', '?token=a&token=b', '?token=%00']) {
      expect((await open(`${under.authUrl}/setup${query}`)).status).toBe(410);
      expect((await submit(first, `${under.authUrl}/setup${query}`)).status).toBe(410);
    }
  });

  it('limits attempts to guess it by address', async () => {
    await under.restart({ settings, limits: { ...defaultRateLimits, address: 2 } });
    const guess = () => open(`${under.authUrl}/setup?token=guess`);
    expect([(await guess()).status, (await guess()).status, (await guess()).status]).toEqual([410, 410, 429]);
  });

  it('is not logged, nor is the password', async () => {
    await submit(first);
    const token = new URL(link).searchParams.get('token') ?? '';
    expect(under.logged()).not.toContain(token);
    expect(under.logged()).not.toContain(password);
    const { row } = await under.db.one<{ row: string }>(
      sql`SELECT row_to_json(a)::text AS row FROM accounts AS a`,
    );
    expect(row).toContain('$argon2id$');
  });
});
