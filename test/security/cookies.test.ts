import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { type ConsolePerson, createConsolePerson, submitSignIn } from '../support/console/console-person.ts';
import { changedFields } from '../support/console/sent-form.ts';
import { startTestInstance, type TestInstance, useInstance } from '../support/instances/instance.ts';

const origin = 'https://consent.example.org';
const demo = { username: 'admin', password: 'demo' };
let behindProxy: TestInstance;
let port: number;
beforeAll(async () => {
  port = await freePort();
  behindProxy = await startTestInstance({ PORT: String(port), BASE_URL: origin });
});
afterAll(() => behindProxy?.stop());

/** A person whose requests pass a proxy that ends TLS. @param set collects every Set-Cookie. */
function personOf(set: string[]): ConsolePerson {
  const person = createConsolePerson(origin);
  const pass = person.browser.fetch;
  person.browser.fetch = async (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set('X-Forwarded-Proto', 'https');
    const response = await pass(url.replace(origin, `http://localhost:${port}`), { ...init, headers });
    set.push(...response.headers.getSetCookie());
    return response;
  };
  return person;
}

/** Every page of the console that a link leads to. */
async function openEverything(person: ConsolePerson): Promise<void> {
  const known = new Set(['/console']);
  for (const path of known) {
    const { html } = await person.open(path);
    const patterns = new Set([...known].map(patternOf));
    for (const [, href = ''] of html.matchAll(/href="(\/console[^"#?]*)"/g))
      if (!/sign-out|assets|\/(export|json)$/.test(href) && !patterns.has(patternOf(href))) {
        known.add(href);
        patterns.add(patternOf(href));
      }
  }
  expect(known.size).toBeGreaterThan(20);
}

/** A page stands for those that differ from it in ids and names only. */
const patternOf = (href: string) => href.replaceAll(/[\w.-]*\d[\w.-]*/g, '*');

describe('over https every cookie of every page', () => {
  const set: string[] = [];
  beforeAll(async () => {
    const person = personOf(set);
    const cancelled = await person.open('/console/sign-in?here=1');
    await person.post(/action="([^"]*)"/.exec(cancelled.html)?.[1] ?? '', { cancel: '' });
    await submitSignIn(person, await person.open('/console/sign-in?here=1'), demo);
    await openEverything(person);
    await person.post('/console/settings/you', { language: 'fr', colors: 'dark' });
    const list = await person.open('/console/integration/webhooks/new');
    const form = changedFields(list.html, [
      ['targetUrl', 'https://example.org/'],
      ['actions', 'consent.committed'],
    ]);
    const made = await person.post('/console/integration/webhooks/new', form);
    await person.post(`${/\/console\/integration\/webhooks\/[0-9a-f-]{36}/.exec(made.html)?.[0]}/test`, {});
    await person.open('/auth/setup?token=x');
    await person.open('/auth/authorize?client_id=accord');
    await person.post('/console/sign-out', {});
    const stranger = personOf(set);
    for (const path of ['/', '/docs', '/openapi.json', '/system/config', '/user', '/nothing'])
      await stranger.open(path);
  });

  it('has a prefix, and is out of reach of scripts and other sites', () => {
    expect(set.length).toBeGreaterThan(5);
    for (const cookie of set) {
      const [pair = '', ...flags] = cookie.toLowerCase().split('; ');
      expect(flags, cookie).toEqual(expect.arrayContaining(['secure', 'httponly', 'samesite=lax']));
      expect(
        flags.some((flag) => flag.startsWith('domain')),
        cookie,
      ).toBe(false);
      // What opens something is kept from other hosts of the domain, unless each page has its own.
      if (!/^__host-/.test(pair))
        expect(cookie).toMatch(
          /^__Secure-accord_(console_looks|interaction|resume)(\.sig)?=.*; path=\/\w+(\/|;)/i,
        );
      else expect(flags, cookie).toContain('path=/');
    }
  });

  it('is listed in docs/security.md', () => {
    const documented = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
    const names = new Set(set.map((cookie) => cookie.split('=', 1)[0]?.replace(/\.sig$/, '')));
    expect([...names].sort()).toEqual([
      '__Host-accord_console',
      '__Host-accord_console_attempts',
      '__Host-accord_console_calls',
      '__Host-accord_session',
      '__Secure-accord_console_looks',
      '__Secure-accord_interaction',
      '__Secure-accord_resume',
    ]);
    for (const name of names) expect(documented).toContain(`\`${name}\``);
  });
});

describe('sign-ins that are not finished', () => {
  const instance = useInstance();

  it('add no cookies to the requests of the browser, however many there are', async () => {
    const person = createConsolePerson(instance.url);
    const tabs = [];
    const long = `/console/transactions?subject=${'x'.repeat(6_000)}`;
    for (let tab = 0; tab < 40; tab += 1)
      tabs.push(
        await person.open(tab % 2 ? '/console/receipts' : `/console/sign-in?to=${encodeURIComponent(long)}`),
      );
    const everywhere = person.browser.cookies().filter((raw) => /; path=\/(;|$)/i.test(raw));
    expect(everywhere.join('; ').length).toBeLessThan(400);
    for (const tab of [tabs[1], tabs[39], tabs[0]]) {
      const page = await submitSignIn(person, tab as NonNullable<typeof tab>, demo);
      expect(page.path).toMatch(/^\/console\/(receipts|transactions)$/);
    }
  });

  it('of tabs that were opened at once go on with the session of another tab, or begin again', async () => {
    const person = createConsolePerson(instance.url);
    const tabs = await Promise.all([1, 2, 3, 4].map(() => person.open('/console/receipts')));
    let opened = 0;
    for (const tab of tabs) {
      let page = await submitSignIn(person, tab, demo);
      if (page.path.startsWith('/auth/interaction/')) page = await submitSignIn(person, page, demo);
      if (page.path === '/console/receipts') opened += 1;
    }
    expect(opened).toBe(4);
  });

  it('cannot be finished with the cookie of another browser', async () => {
    const person = createConsolePerson(instance.url);
    const begun = await person.browser.fetch(`${instance.url}/console/sign-in`);
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state');
    const other = createConsolePerson(instance.url);
    await other.open('/console/sign-in');
    const response = await other.browser.fetch(`${instance.url}/console/callback?code=stolen&state=${state}`);
    expect(response.headers.get('location')).toContain('/console/sign-in?to=');
  });
});
