import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import {
  type ConsolePerson,
  createConsolePerson,
  signInToConsole,
  submitSignIn,
} from '../support/console/console-person.ts';
import { changedFields, type Fields } from '../support/console/sent-form.ts';
import { choosePassword, goodPassword } from '../support/instances/account-callers.ts';
import { signIn } from '../support/instances/callers.ts';
import { startTestInstance, useInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';

const instance = useInstance();
const demo = (username: string) => ({ username, password: 'demo' });
const sessionOf = (person: ConsolePerson) =>
  person.browser.cookies().find((raw) => /^accord_console_\d+=/.test(raw)) ?? '';
const isIssuer = (path: string) => path.startsWith('/auth/interaction/');
/** Runs a statement in the console's schema. */
const run = <Row extends object>(statement: string) => rowsOf<Row>(instance, statement);
const refreshTokens = `model = 'RefreshToken'`;
const count = async (table: string, where = 'true') =>
  (await run<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} WHERE ${where}`))[0]?.n ?? 0;

describe('signing in to the console', () => {
  it('leads to the page that was opened', async () => {
    const person = createConsolePerson(instance.url);
    const asked = await person.open('/console/?days=7');
    expect(isIssuer(asked.path)).toBe(true);
    expect((await submitSignIn(person, asked, demo('admin'))).path).toBe('/console/?days=7');
  });

  it.each([
    'https://evil.example/console',
    '//evil.example/console',
    '/\\evil.example',
    '/keys',
    '/consoles',
  ])('never leads to %s', async (to) => {
    const person = createConsolePerson(instance.url);
    const asked = await person.open(`/console/sign-in?to=${encodeURIComponent(to)}`);
    expect((await submitSignIn(person, asked, demo('admin'))).path).toBe('/console');
  });

  it('begins at the address of the instance, whatever host was opened', async () => {
    const opened = instance.url.replace('localhost', '127.0.0.1');
    const person = createConsolePerson(opened);
    const asked = await person.open('/console/sign-in?to=%2Fconsole%2Faudit');
    const page = await submitSignIn(createConsolePerson(instance.url, person.browser), asked, demo('admin'));
    expect(page.path).toBe('/console/audit');
  });

  it('makes a new session each time, and ends the one before', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    const before = sessionOf(person);
    await submitSignIn(person, await person.open('/console/sign-in'), demo('admin'));
    expect(sessionOf(person)).not.toBe(before);
    const stranger = createConsolePerson(instance.url);
    const response = await stranger.browser.fetch(`${instance.url}/console`, {
      headers: { Cookie: before.split(';', 1)[0] ?? '' },
    });
    expect(response.status).toBe(303);
  });

  it('lasts when the same browser signs in at another instance on this machine', async () => {
    const other = await startTestInstance();
    try {
      const person = await signInToConsole(instance.url, 'admin');
      const there = createConsolePerson(other.url, person.browser);
      const arrived = await submitSignIn(there, await there.open('/console'), demo('operator'));
      expect(arrived).toMatchObject({ path: '/console', status: 200 });
      expect(await person.open('/console')).toMatchObject({ path: '/console', status: 200 });
      // Names without the port would be one cookie at both.
      const names = person.browser.cookies().map((raw) => raw.split('=', 1)[0]);
      for (const { url } of [instance, other])
        expect(
          names.some((name) => name?.includes(`_${new URL(url).port}`)),
          url,
        ).toBe(true);
    } finally {
      await other.stop();
    }
  });

  it('ignores a session id that somebody else has chosen', async () => {
    const chosen = 'A'.repeat(43);
    const stranger = createConsolePerson(instance.url);
    const response = await stranger.browser.fetch(`${instance.url}/console`, {
      headers: { Cookie: `accord_console_${new URL(instance.url).port}=${chosen}` },
    });
    expect(response.headers.get('location')).toContain('/console/sign-in');
  });

  it('refuses the callback of another browser', async () => {
    const person = createConsolePerson(instance.url);
    const begun = await person.browser.fetch(`${instance.url}/console/sign-in`);
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state');
    const other = createConsolePerson(instance.url);
    const page = await other.open(`/console/callback?code=stolen&state=${state}`);
    expect(page.status).toBe(400);
  });

  it('keeps no token in cookies, and cookies out of reach of scripts', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    expect(sessionOf(person)).toMatch(/^accord_console_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(person.browser.cookies().join()).not.toMatch(/eyJ/);
  });

  it('has cookies for this host alone, over TLS alone, if BASE_URL is https', async () => {
    const port = await freePort();
    const origin = 'https://consent.example.org';
    const behindProxy = await startTestInstance({ PORT: String(port), BASE_URL: origin });
    // The proxy that ends TLS: it passes requests on as they are.
    const person = createConsolePerson(origin);
    const pass = person.browser.fetch;
    person.browser.fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('X-Forwarded-Proto', 'https');
      return pass(url.replace(origin, `http://localhost:${port}`), { ...init, headers });
    };
    const asked = await person.open('/console/sign-in?here=1');
    const page = await submitSignIn(person, asked, demo('admin'));
    await behindProxy.stop();
    expect(page.path).toBe('/console');
    const cookie = person.browser.cookies().find((raw) => raw.startsWith('__Host-accord_console='));
    expect(cookie).toMatch(/=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
  });

  it('stores tokens so that the database alone does not reveal them', async () => {
    await signInToConsole(instance.url, 'admin');
    const rows = await run<{ sealed: Buffer }>('SELECT sealed FROM console.sessions');
    expect(rows.length).toBeGreaterThan(0);
    for (const { sealed } of rows) expect(sealed.toString('latin1')).not.toMatch(/eyJ|admin/);
  });
});

describe('an error page of the issuer', () => {
  it.each(['/auth/interaction/ofABookmark12345678901', '/auth/nowhere', '/auth/authorize?client_id=unknown'])(
    'leads to the console: %s',
    async (path) => {
      const page = await fetch(`${instance.url}${path}`, { headers: { Accept: 'text/html' } });
      expect(page.status).toBeGreaterThanOrEqual(400);
      expect(await page.text()).toMatch(/<a [^>]*href="\/console"/);
    },
  );
});

describe('a session of the console', () => {
  it('ends with the sign-out, and is deleted', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    const cookie = sessionOf(person).split(';', 1)[0] ?? '';
    const page = await person.post('/console/sign-out', {});
    expect(page.path).toBe('/console/signed-out');
    const response = await createConsolePerson(instance.url).browser.fetch(`${instance.url}/console`, {
      headers: { Cookie: cookie },
    });
    expect(response.status).toBe(303);
  });

  it('ends when it is unused for too long', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    await run(`UPDATE console.sessions SET used_at = used_at - interval '31 minutes'`);
    const response = await person.browser.fetch(`${instance.url}/console`);
    expect(response.headers.get('location')).toContain('/console/sign-in');
  });

  it('ends after its longest time, however much it is used', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    await run(`UPDATE console.sessions SET signed_in_at = signed_in_at - interval '12 hours 1 minute'`);
    const response = await person.browser.fetch(`${instance.url}/console`);
    expect(response.headers.get('location')).toContain('/console/sign-in');
  });

  it('renews its token once for twenty tabs, which wait as long as it takes on a busy machine', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    await run(`UPDATE console.sessions SET renew_at = clock_timestamp()`);
    const before = await count('auth.issuer_items', refreshTokens);
    // The renewal waits for this lock, and all tabs for the renewal.
    const busy = new pg.Client({ connectionString: instance.databaseUrl });
    await busy.connect();
    await busy.query('BEGIN; SELECT FROM console.sessions FOR UPDATE');
    const asked = Array.from({ length: 20 }, () => person.browser.fetch(`${instance.url}/console/receipts`));
    // Other requests are refused after two seconds in a queue.
    const isWaiting = `datname = current_database() AND wait_event_type = 'Lock'
      AND clock_timestamp() - query_start > interval '2 seconds'`;
    await vi
      .waitFor(async () => expect(await count('pg_stat_activity', isWaiting)).toBe(1), 5_000)
      .finally(() => busy.end());
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect((await count('auth.issuer_items', refreshTokens)) - before).toBe(1);
  });

  it('ends when the issuer has ended its grant', async () => {
    const person = await signInToConsole(instance.url, 'operator');
    await run(`DELETE FROM auth.issuer_items WHERE model IN ('RefreshToken', 'Grant')`);
    await run(`UPDATE console.sessions SET renew_at = clock_timestamp()`);
    const response = await person.browser.fetch(`${instance.url}/console`);
    expect(response.headers.get('location')).toContain('/console/sign-in');
  });

  it('ends with the next renewal when its account was disabled', async () => {
    const { headers } = await signIn(instance, 'admin');
    const send = (method: string, path: string, body: object) =>
      instance.fetch(path, {
        method,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    const made = await send('POST', '/accounts', { name: 'ann', role: 'operator' });
    const { id, link } = (await made.json()) as { id: string; link: string };
    await choosePassword(link);
    const person = await signInToConsole(instance.url, 'ann', { password: goodPassword });
    await send('PUT', `/accounts/${id}`, { disabled: true });
    await run(`UPDATE console.sessions SET renew_at = clock_timestamp()`);
    const response = await person.browser.fetch(`${instance.url}/console`);
    expect(response.headers.get('location')).toContain('/console/sign-in');
  });

  it('goes on in another process with the same secrets and database', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    const PORT = String(await freePort());
    const other = await startTestInstance(
      { PORT, BASE_URL: instance.url, DATABASE_URL: instance.databaseUrl },
      instance.secrets,
    );
    const response = await person.browser.fetch(`http://localhost:${PORT}/console`);
    await other.stop();
    expect(response.status).toBe(200);
  });

  it('begins with the second factor for a person who wants to set one up', async () => {
    const person = await signInToConsole(instance.url, 'operator');
    const you = await person.open('/console/settings/you');
    const link =
      /href="(\/console\/sign-in\?[^"]*factor=1)"/.exec(you.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const { headers } = await person.browser.fetch(instance.url + link);
    expect(new URL(headers.get('location') ?? '').searchParams.get('acr_values')).toBe('second-factor');
  });

  it('is listed for its person, who ends the others', async () => {
    const person = await signInToConsole(instance.url, 'operator');
    const other = await signInToConsole(instance.url, 'operator');
    await signInToConsole(instance.url, 'admin');
    const list = await person.open('/console/settings/you');
    expect(list.html).toContain('Unknown');
    expect(list.html).toMatch(/<a class="who" href="\/console\/settings\/you"/);
    const handle = /you\/sessions\/([0-9a-f]{16})"/.exec(list.html)?.[1];
    expect(list.html).toContain('This one');
    const ended = await person.post(`/console/settings/you/sessions/${handle}`, {});
    expect(ended.html).toContain('The session has ended.');
    await person.post('/console/settings/you/sessions', {});
    const isOpen = async ({ browser }: ConsolePerson) =>
      (await browser.fetch(`${instance.url}/console`)).status === 200;
    expect(await Promise.all([person, other].map(isOpen))).toEqual([true, false]);
    expect(await count('console.sessions', `person LIKE '%demo-admin'`)).toBeGreaterThan(0);
  });

  it('opens nothing of the API', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    const cookie = sessionOf(person).split(';', 1)[0] ?? '';
    for (const path of ['/keys', '/models', '/transactions', '/webhooks', '/peers', '/user']) {
      const response = await fetch(instance.url + path, {
        headers: { Cookie: cookie, Accept: 'application/json' },
      });
      expect(response.status, path).toBe(401);
    }
  });
});

describe('a form', () => {
  it.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another host of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    ['a page of another origin in an older browser', { Origin: 'https://evil.example' }],
    ['a program without these headers', {}],
  ])('is refused from %s', async (_from, headers) => {
    const person = await signInToConsole(instance.url, 'admin');
    const response = await person.browser.fetch(`${instance.url}/console/sign-out`, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: new URLSearchParams(),
    });
    expect(response.status).toBe(403);
    expect((await person.browser.fetch(`${instance.url}/console`)).status).toBe(200);
  });

  it.each(['', ' that ended'])('in a frame is not followed to the sign-in: session%s', async (ended) => {
    const person = await signInToConsole(instance.url, 'admin');
    if (ended) await run(`UPDATE console.sessions SET used_at = used_at - interval '31 minutes'`);
    const before = await run('SELECT FROM console.kept_posts');
    for (const method of ['GET', 'POST']) {
      const send = ended ? person.browser.fetch : fetch;
      const response = await send(`${instance.url}/console/elements/x/edit/preview`, {
        method,
        headers: { 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Site': 'same-origin', Accept: 'text/html' },
        ...(method === 'POST' && { body: new URLSearchParams({ preview: 'en' }) }),
      });
      expect(response.status).toBe(401);
      expect(response.headers.get('content-security-policy')).toContain(`frame-ancestors 'self'`);
      expect(await response.text()).toContain('What you typed is still here');
    }
    expect(await run('SELECT FROM console.kept_posts')).toEqual(before);
  });

  it('that was sent after the end of the session is kept, and shown to its person alone', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    await run(`UPDATE console.sessions SET used_at = used_at - interval '31 minutes'`);
    const user = await signIn(instance, 'user');
    const { id } = (await (await user.send('POST', '/choices/erasure', {})).json()) as { id: string };
    const path = `/console/subjects/erasures/${id}/refuse`;
    const typed = '\r\nZoë’s “letter”\r\n < & > ';
    const asked = await person.post(path, { ground: typed });
    const back = await submitSignIn(person, asked, demo('admin'));
    expect(back.path).toMatch(new RegExp(`^${path}\\?kept=[\\w-]{22}$`));
    const shown = /<textarea[^>]* name="ground"[^>]*>\n([^<]*)</.exec(back.html)?.[1];
    expect(shown).toBe('\nZoë’s “letter”\n &lt; &amp; &gt; ');
    expect(back.html).toContain('it is not saved yet');
    const other = await signInToConsole(instance.url, 'operator');
    expect((await other.open(back.path)).html).not.toContain('letter');
    const erasure = await (await signIn(instance, 'admin')).get(`/erasures/${id}`);
    expect(await erasure.json()).toMatchObject({ state: 'REQUESTED' });
    const rows = await run<{ person: string; sealed: Buffer }>(
      'SELECT person, sealed FROM console.kept_posts',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.person).toMatch(/^http\S+ /);
    expect(rows[0]?.sealed.toString('utf8')).not.toContain('letter');
  });

  it('whose act needs a recent sign-in is kept, shown as it was typed, and not carried out by itself', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    const form = await person.open('/console/integration/security/new');
    const once = /name="once" value="([^"]+)"/.exec(form.html)?.[1] ?? '';
    // As if the sign-in had been eleven minutes ago.
    await run(`
      UPDATE auth.issuer_items SET payload = jsonb_set(payload, '{authTime}', to_jsonb((payload ->> 'authTime')::int - 660))
       WHERE model = 'RefreshToken'`);
    await run(`UPDATE console.sessions SET renew_at = clock_timestamp()`);
    const before = await count('auth.api_keys');
    const fields = { once, name: 'Zoë’s shop & <co>', scope: 'OWNER' };
    const asked = await person.post('/console/integration/security/new', fields);
    expect(isIssuer(asked.path)).toBe(true);
    expect(asked.html).toContain('<h1>Confirm that it is you</h1>');
    expect(asked.html).toMatch(/name="username"[^>]* readonly[^>]* value="admin"/);
    const back = await submitSignIn(person, asked, demo('admin'));
    expect(back.path).toMatch(/^\/console\/integration\/security\/new\?kept=/);
    expect(back.html).toContain('value="Zoë’s shop &amp; &lt;co&gt;"');
    expect(await count('auth.api_keys')).toBe(before);
    expect((await person.post('/console/integration/security/new', fields)).status).toBe(200);
    expect(await count('auth.api_keys')).toBe(before + 1);
  });

  it('that decides an erasure long after the sign-in asks for the password first, and keeps what was typed', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    const user = await signIn(instance, 'user');
    const { id } = (await (await user.send('POST', '/choices/erasure', {})).json()) as { id: string };
    await run(`
      UPDATE auth.issuer_items SET payload = jsonb_set(payload, '{authTime}', to_jsonb((payload ->> 'authTime')::int - 660))
       WHERE model = 'RefreshToken'`);
    await run(`UPDATE console.sessions SET renew_at = clock_timestamp()`);
    const path = `/console/subjects/erasures/${id}/refuse`;
    const asked = await person.post(path, { ground: 'A claim is pending' });
    expect(isIssuer(asked.path)).toBe(true);
    const back = await submitSignIn(person, asked, demo('admin'));
    expect(back.html).toContain('A claim is pending');
    const erasure = async () => (await signIn(instance, 'admin')).get(`/erasures/${id}`);
    expect(await (await erasure()).json()).toMatchObject({ state: 'REQUESTED' });
    expect((await person.post(path, { ground: 'A claim is pending' })).status).toBe(200);
    expect(await (await erasure()).json()).toMatchObject({ state: 'REFUSED' });
  });

  it('that changes something shows its calls on the next page, once, however long they are', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    const form = await person.open('/console/elements/new');
    const once = /name="once" value="([^"]+)"/.exec(form.html)?.[1] ?? '';
    expect(form.html).not.toContain('curl -X');
    const fields = { once, type: 'conditions', name: 'Our terms' };
    const made = await person.post('/console/elements/new', fields);
    const madeBy = /These calls made the change([\s\S]*)These calls were made for this page/;
    expect(madeBy.exec(made.html)?.[1]).toMatch(/curl -X POST[\s\S]*Our terms[\s\S]*\/models'/);
    expect((await person.open(made.path)).html).not.toMatch(madeBy);
    const text = `<p>${'All is well. '.repeat(700)}</p>`;
    const saving: Fields = [
      ['op', 'save'],
      ['en:title', 'Terms'],
      ['en:body', text],
    ];
    const saved = await person.post(made.path, changedFields(made.html, saving));
    expect(madeBy.exec(saved.html)?.[1]).toContain('All is well. '.repeat(700));
    expect((await run<{ sealed: Buffer }>('SELECT sealed FROM console.kept_posts')).join()).not.toContain(
      'well',
    );
    const ended = await person.browser.fetch(`${instance.url}${made.path.replace('/edit', '')}/delete`, {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams(),
    });
    const [id = ''] = /accord_console_\d+_calls=[^;]+/.exec(ended.headers.get('set-cookie') ?? '') ?? [];
    expect(id).not.toBe('');
    const shownTo = async (each: ConsolePerson) => {
      const headers = { Cookie: `${sessionOf(each).split(';', 1)[0]}; ${id}` };
      return (await fetch(`${instance.url}/console/receipts`, { headers })).text();
    };
    expect(await shownTo(await signInToConsole(instance.url, 'operator'))).not.toMatch(madeBy);
    expect(await shownTo(person)).toMatch(madeBy);
  });

  it.each([
    ['an element', '/console/elements/processing.001/edit', 'de:title', ['add-language', 'language']],
  ])('of %s keeps languages that were added and not yet saved', async (_what, path, text, [op, field]) => {
    const person = await signInToConsole(instance.url, 'admin');
    const send = (html: string, more: Fields) => person.post(path, changedFields(html, more));
    const sendLate = async (html: string, more: Fields) => {
      await run(`UPDATE console.sessions SET used_at = used_at - interval '31 minutes'`);
      return submitSignIn(person, await send(html, more), demo('admin'));
    };
    const adding: Fields = [
      ['op', op as string],
      [field as string, 'de'],
    ];
    const opened = await person.open(path);
    const asked = await sendLate(opened.html, adding);
    expect(asked.path).toContain(`${path}?kept=`);
    expect(asked.html).toMatch(new RegExp(`name="${field}" value="de"`));
    const added = await send(asked.html, adding);
    const typed = ' Zoë’s “Brief” <b>&amp; ';
    const kept = await sendLate(added.html, [
      ['op', 'save'],
      [text, typed],
    ]);
    expect(kept.html).toContain(`name="${text}" value=" Zoë’s “Brief” &lt;b&gt;&amp;amp; "`);
    expect((await person.open(path)).html, 'not carried out').not.toContain(text);
    // Meanwhile another person saves. The kept form is merged, it does not replace.
    const other = await signInToConsole(instance.url, 'admin');
    const theirs = text.replace('de', 'en').replace('en:title', 'en:usage');
    const page = await other.open(path);
    await other.post(
      path,
      changedFields(page.html, [
        ['op', 'save'],
        [theirs, 'Theirs'],
      ]),
    );
    const merged = await send(kept.html, [['op', 'save']]);
    expect(merged.status).toBe(412);
    expect((await send(merged.html, [['op', 'save']])).status).toBe(200);
    const saved = new Map(changedFields((await person.open(path)).html, []));
    expect(saved.get(text)).toBe(typed.trim());
    expect(saved.get(theirs)).toBe('Theirs');
  });

  it('of a session that was ended from another browser is kept, and nothing of its tokens', async () => {
    const person = await signInToConsole(instance.url, 'operator');
    const other = await signInToConsole(instance.url, 'operator');
    await other.post('/console/settings/you/sessions', {});
    const asked = await person.post('/console/subjects/new', { name: 'zoë' });
    const page = await submitSignIn(person, asked, demo('operator'));
    expect(page.path).toMatch(/\/console\/subjects\/new\?kept=[\w-]{22}$/);
    expect(page.html).toContain('value="zoë"');
    expect(await count('console.sessions', `ended_at IS NOT NULL AND sealed <> ''`)).toBe(0);
    await run(`UPDATE console.sessions SET ended_at = ended_at - interval '61 minutes'`);
  });

  it('of another person shows nothing', async () => {
    const person = await signInToConsole(instance.url, 'admin');
    await run(`UPDATE console.sessions SET used_at = used_at - interval '31 minutes'`);
    const asked = await person.post('/console/integration/webhooks/new', { name: 'A secret plan' });
    const page = await submitSignIn(person, asked, demo('operator'));
    expect(page.path).toMatch(/\?kept=/);
    expect(page.status).toBe(200);
    expect(page.html).not.toContain('A secret plan');
  });

  it('without a session nobody knows whose it is, so it is not kept', async () => {
    const before = await count('console.kept_posts');
    const response = await createConsolePerson(instance.url).browser.fetch(`${instance.url}/console`, {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ name: 'x' }),
    });
    expect(response.status).toBe(303);
    // The browser keeps it: assets/unsent.js.
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('to')).toBe(
      '/console?kept=browser',
    );
    expect(await count('console.kept_posts')).toBe(before);
  });
});
