import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GivenAnswer, startApiBetween } from '../support/console/api-between.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
let api: { url: string; close(): void };
let pages: ConsolePages;
const browser = useBrowser();
let held: PromiseWithResolvers<GivenAnswer | undefined>;
beforeAll(async () => {
  // A count of many records: it ends when the test says so.
  api = await startApiBetween(instance, (target) => (target.startsWith('/stats') ? held.promise : undefined));
  pages = await openPages(instance, 'admin', { apiUrl: api.url });
});
afterAll(async () => {
  await pages?.close();
  api?.close();
});

it.each([
  { path: '', name: 'expiring', text: 'No valid answer expires', javaScriptEnabled: true },
  { path: '', name: 'transactions', text: 'No transaction', javaScriptEnabled: true },
  { path: '', name: 'expiring', text: 'No valid answer expires', javaScriptEnabled: false },
  { path: '/elements/processing.001', name: 'answers', text: 'Nobody has a', javaScriptEnabled: true },
])(
  'the page "$path" does not wait for a long count, and shows it later, with javaScriptEnabled $javaScriptEnabled',
  async ({ path, name, text, javaScriptEnabled }) => {
    held = Promise.withResolvers();
    const watched = await openWatchedPage(browser, [pages.origin], { javaScriptEnabled });
    const { page } = watched;
    const panel = page.locator(`#panel-${name}`);
    await page.goto(`${pages.origin}/console${path}?done=repeated`, { waitUntil: 'commit' });
    await panel.getByText('The numbers are being counted').waitFor();
    const link = panel.getByRole('link', { name: 'Wait for them' });
    if (javaScriptEnabled) expect(await auditPage(page)).toEqual([]);
    if (javaScriptEnabled) await link.focus();
    const isClicked = javaScriptEnabled ? undefined : link.click();
    held.resolve(undefined);
    await isClicked;
    await expect.poll(() => panel.textContent()).toContain(text);
    expect(await link.count()).toBe(0);
    if (javaScriptEnabled) {
      // The page has changed by itself: the focus is not lost, and what was told before stays.
      await panel.locator('h2:focus').waitFor();
      expect(await page.textContent('#status')).toContain('Nothing was made a second time.');
    }
    // Previews have the styles of the service forms, which is not at this origin.
    expect((await watched.complaints()).filter((each) => !each.includes(' /assets/'))).toEqual([]);
    await watched.close();
  },
);

it.each([true, false])(
  'a long count that fails says when to try again, with javaScriptEnabled %s',
  async (javaScriptEnabled) => {
    held = Promise.withResolvers();
    const watched = await openWatchedPage(browser, [pages.origin], { javaScriptEnabled });
    const { page } = watched;
    const panel = page.locator('#panel-expiring');
    await page.goto(`${pages.origin}/console`, { waitUntil: 'commit' });
    await panel.getByText('The numbers are being counted').waitFor();
    const link = panel.getByRole('link', { name: 'Wait for them' });
    const isClicked = javaScriptEnabled ? undefined : link.click();
    held.resolve({ status: 503, headers: { 'Retry-After': '7' }, body: { code: 'unavailable' } });
    await isClicked;
    await panel.getByText('Try again in 7 seconds').waitFor();
    expect(await link.count()).toBe(0);
    await watched.close();
  },
);

it('the page of an element does not wait for a long count, unless a file is asked for', async () => {
  held = Promise.withResolvers();
  const path = '/console/elements/processing.001';
  const html = await (await pages.get(path)).text();
  expect(html).toContain(`hx-get="${path}?wait=answers"`);
  expect(html).not.toContain('Nobody has a valid answer');
  const later = Promise.all(
    [`${path}?wait=answers`, `${path}?format=csv&table=answers`].map(async (each) =>
      (await pages.get(each)).text(),
    ),
  );
  held.resolve(undefined);
  const [page, file] = await later;
  expect(page).toContain('Nobody has a valid answer');
  expect(file).toMatch(/^\uFEFF?Day/);
});

it('the first page with its files weighs at most 60 kB, and each later panel sends itself alone', async () => {
  held = Promise.withResolvers();
  const weigh = async (path: string, headers: Record<string, string> = {}) => {
    const response = await pages.get(path, { 'Accept-Encoding': 'br, gzip', ...headers });
    expect(response.status, path).toBe(200);
    const text = await response.text();
    // Without a coding, the length says what was sent.
    return { text, bytes: Number(response.headers.get('content-length') ?? Buffer.byteLength(text)) };
  };
  const first = await weigh('/console');
  const files = [...first.text.matchAll(/(?:src|rel="stylesheet" href)="([^"]+)"/g)].map(
    ([, url = '']) => url,
  );
  const panels = [...first.text.matchAll(/hx-get="([^"]+)"/g)].map(([, url = '']) => url);
  expect([files.length, panels.length]).toEqual([4, 3]);
  held.resolve(undefined);
  const loaded = await Promise.all([
    ...files.map((file) => weigh(new URL(file, pages.origin).pathname)),
    ...panels.map((panel) => weigh(panel.replaceAll('&amp;', '&'), { 'HX-Request': 'true' })),
  ]);
  for (const { text } of loaded.slice(files.length)) expect(text).toMatch(/^<section[^>]*>.*<\/section>$/s);
  const bytes = [first, ...loaded].reduce((sum, each) => sum + each.bytes, 0);
  expect(bytes).toBeLessThanOrEqual(60_000);
});
