import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { useInstance } from '../support/instances/instance.ts';

const instance = useInstance();
let admin: ConsolePages;
let operator: ConsolePages;
let user: ConsolePages;
beforeAll(async () => {
  admin = await openPages(instance, 'admin');
  operator = await openPages(instance, 'operator');
  user = await openPages(instance, 'user');
});
afterAll(() => Promise.all([admin, operator, user].map((each) => each?.close())));

describe('the first page of the console', () => {
  it('is a page with one heading, a skip link, and nothing inline', async () => {
    const response = await admin.get('/console');
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(html.match(/<h1/g)).toHaveLength(1);
    expect(html).toContain('<title>Home – Riverside</title>');
    expect(html).toContain('href="#main"');
    expect(html).not.toMatch(/ style=|<style|<script>| on\w+=/);
  });

  it('shows the steps to the first consent, the API key to administrators alone', async () => {
    expect(await (await admin.get('/console')).text()).toContain('make an API key');
    const shown = await (await operator.get('/console')).text();
    expect(shown).toContain('Collect the first consent');
    expect(shown).not.toContain('make an API key');
  });

  it('is in the language of the browser, Arabic from right to left', async () => {
    const html = await (await admin.get('/console', { 'Accept-Language': 'ar' })).text();
    expect(html).toContain('<html lang="ar" dir="rtl">');
  });

  it('is shown whatever languages a browser claims to read', async () => {
    const response = await admin.get('/console', { 'Accept-Language': 'en-toolongsubtag, fr;q=0.5' });
    expect(response.status).toBe(200);
  });

  it('shows its calls as commands without a token', async () => {
    const html = await (await admin.get('/console')).text();
    expect(html).toContain('Bearer $TOKEN');
    expect(html).not.toContain('Bearer ey');
  });

  it('tells a person without a role of the console where to go on', async () => {
    expect((await user.get('/console')).url).toContain(`${instance.url}/choices?t=`);
    const response = await user.get('/console/elements');
    expect(response.status).toBe(403);
    const html = await response.text();
    expect(html).toContain('See my own choices');
    expect(html).toContain('You are signed in as user.');
    expect(html).toContain('Sign out and use another account');
  });

  it('is a 503 that says when to try again if the API does not answer', async () => {
    const pages = await openPages(instance, 'admin', { apiUrl: 'http://127.0.0.1:9' });
    const response = await pages.get('/console');
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('Try again');
    await pages.close();
  });
});

it.each([
  ['/console', 60_000],
  ['/console/elements/processing.001', 60_000],
  ['/console/elements/information.001/edit', 100_000],
  ['/console/forms/layout.001/edit', 100_000],
])('the first load of %s has at most %i bytes, compressed', async (path, limit) => {
  const html = await (await admin.get(path)).text();
  const assets = [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, url = '']) => url);
  expect(assets.length).toBeGreaterThanOrEqual(3);
  // Modules import others by name.
  const imported = html.includes('rich-text.') ? ['rich-link.js', 'rich-tree.js'] : [];
  const sizes = await Promise.all(
    [path, ...assets, ...imported.map((name) => `/console/assets/${name}`)].map(async (url) => {
      const response = await admin.get(url);
      expect(response.status, url).toBe(200);
      return gzipSync(Buffer.from(await response.arrayBuffer())).length;
    }),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(limit);
});
