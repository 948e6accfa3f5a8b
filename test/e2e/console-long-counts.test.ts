import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApiBetween } from '../support/console/api-between.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { launchChromium } from '../support/pages/chromium.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
let api: { url: string; close(): void };
let pages: ConsolePages;
let browser: Browser;
let held: PromiseWithResolvers<undefined>;
beforeAll(async () => {
  // A count of many records: it ends when the test says so.
  api = await startApiBetween(instance, (target) =>
    target.startsWith('/stats/valid') ? held.promise : undefined,
  );
  pages = await openPages(instance, 'admin', { apiUrl: api.url });
  browser = await launchChromium();
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close()]);
  api?.close();
});

it.each([true, false])(
  'the first page does not wait for a long count, and shows it later, with javaScriptEnabled %s',
  async (javaScriptEnabled) => {
    held = Promise.withResolvers();
    const watched = await openWatchedPage(browser, [pages.origin], { javaScriptEnabled });
    const { page } = watched;
    const panel = page.locator('#panel-expiring');
    await page.goto(`${pages.origin}/console`, { waitUntil: 'commit' });
    await panel.getByText('The numbers are being counted').waitFor();
    const link = panel.getByRole('link', { name: 'Wait for them' });
    if (javaScriptEnabled) expect(await auditPage(page)).toEqual([]);
    const isClicked = javaScriptEnabled ? undefined : link.click();
    held.resolve(undefined);
    await isClicked;
    await expect.poll(() => panel.textContent()).toContain('No valid answer expires');
    expect(await link.count()).toBe(0);
    expect(await watched.complaints()).toEqual([]);
    await watched.close();
  },
);

it('the page of an element does not wait for a long count, unless a file is asked for', async () => {
  held = Promise.withResolvers();
  const path = '/console/elements/processing.001';
  const html = await (await pages.get(path)).text();
  expect(html).toContain(`hx-get="${path}?wait=true"`);
  expect(html).not.toContain('Nobody has a valid answer');
  const later = Promise.all(
    [`${path}?wait=true`, `${path}?format=csv&table=answers`].map(async (each) =>
      (await pages.get(each)).text(),
    ),
  );
  held.resolve(undefined);
  const [page, file] = await later;
  expect(page).toContain('Nobody has a valid answer');
  expect(file).toMatch(/^\uFEFF?Day/);
});
