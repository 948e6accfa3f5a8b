import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gallery } from '../support/console/gallery/room.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage, looksIn } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage, type WatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
let pages: ConsolePages;
const browser = useBrowser();
beforeAll(async () => {
  pages = await openPages(instance, 'admin', { shown: [gallery] });
});
afterAll(() => pages?.close());

/** Runs a test in a page of its own, and expects that the page did nothing wrong. */
async function inPage(
  options: Parameters<typeof openWatchedPage>[2],
  test: (page: Page) => Promise<void>,
  origin = pages.origin,
): Promise<void> {
  const watched: WatchedPage = await openWatchedPage(browser, [origin], options);
  try {
    await test(watched.page);
    expect(await watched.complaints()).toEqual([]);
  } finally {
    await watched.close();
  }
}

const at = (path: string) => `${pages.origin}/console/gallery${path}`;

describe.each(['en', 'fr', 'ar'])('in %s', (locale) => {
  it.each(['', '?word=none', '?nothing=1', '?done=deleted', '/form', '/delete', '/failure?status=503'])(
    'the page %s is accessible light, dark and narrow, and reports nothing',
    (path) =>
      inPage({ locale }, async (page) => {
        await page.goto(at(path));
        expect(await auditPage(page, looksIn(locale))).toEqual([]);
      }),
  );

  it('a form with faults is accessible, and its summary has the focus', () =>
    inPage({ locale }, async (page) => {
      await page.goto(at('/form'));
      await page.locator('form.form').evaluate((form) => form.setAttribute('novalidate', ''));
      await page.locator('.form button.primary').click();
      await page.waitForSelector('#faults:focus');
      await page.locator('#faults a').first().click();
      await page.waitForSelector('#field-name:focus');
      expect(await auditPage(page, looksIn(locale))).toEqual([]);
    }));
});

describe.each([true, false])('with javaScriptEnabled %s', (javaScriptEnabled) => {
  it('a list is filtered, its filters are cleared, and Back restores them', () =>
    inPage({ javaScriptEnabled }, async (page) => {
      await page.goto(at(''));
      await page.fill('#filter-word', 'Row 2');
      await page.selectOption('#filter-state', 'COMMITTED');
      if (!javaScriptEnabled) await page.click('.filters button');
      await page.waitForURL(/word=Row.2.*state=COMMITTED/);
      await expect.poll(() => page.locator('#samples tbody tr').count()).toBe(1);
      await page.goto(at(''));
      await page.goBack();
      await expect.poll(() => page.inputValue('#filter-word')).toBe('Row 2');
      await expect.poll(() => page.locator('#samples tbody tr').count()).toBe(1);
    }));
});

it('a secret that is shown once is copied, and the page says so', () =>
  inPage({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    await page.goto(at('/form'));
    await page.fill('#field-name', 'x');
    await page.click('.form button.primary');
    await page.click('[data-copy=secret]');
    await page.waitForSelector('#status .done');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('k_1234567890');
    expect(await auditPage(page)).toEqual([]);
  }));

it('what was shown stays after a filter has fetched a part of the page: Copy, and how to clear the filters', () =>
  inPage({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    await page.goto(`${pages.origin}/console/gallery/code`);
    const copy = page.locator('[data-copy]:visible');
    const clear = page.getByRole('link', { name: 'Clear filters' });
    expect([await copy.count(), await clear.count()]).toEqual([1, 0]);
    await page.fill('#filter-word', 'two');
    await expect.poll(() => page.inputValue('#code textarea')).toBe('two');
    expect([await copy.count(), await clear.count()]).toEqual([1, 1]);
    await copy.click();
    await page.waitForSelector('#status .done');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('two');
    await clear.click();
    await expect.poll(() => clear.count()).toBe(0);
  }));

it('shows no button that needs a script without one', () =>
  inPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${pages.origin}/console/gallery/code`);
    expect(await page.locator('[data-copy]').count()).toBe(1);
    expect(await page.locator('[data-copy]:visible').count()).toBe(0);
  }));

it('a filtered list tells how many rows it has', () =>
  inPage({}, async (page) => {
    await page.goto(at(''));
    await page.fill('#filter-word', 'Bulletin');
    await expect.poll(() => page.textContent('#status')).toBe('One row');
    expect(await page.evaluate('document.activeElement.id')).toBe('filter-word');
  }));

it('a filter whose page fails opens the page of the failure', () =>
  inPage({}, async (page) => {
    await page.goto(at(''));
    await page.evaluate(
      `document.querySelector('.filters').setAttribute('hx-get', '/console/gallery/failure')`,
    );
    await page.fill('#filter-word', 'x');
    await page.waitForURL(/failure/);
    await page.waitForSelector('.failed');
  }));

it('the menu is folded on a narrow page and open on a wide one', () =>
  inPage({}, async (page) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(at(''));
    const link = page.locator('.places li a').first();
    expect(await link.isVisible()).toBe(false);
    await page.click('.places summary');
    expect(await link.isVisible()).toBe(true);
    await page.click('.places summary');
    await page.setViewportSize({ width: 1280, height: 740 });
    expect(await link.isVisible()).toBe(true);
  }));

it('two minutes before the end of a session a dialog offers to stay, and closes if another tab is used', async () => {
  const short = await openPages(instance, 'admin', { shown: [gallery], idleSeconds: 4 });
  await inPage(
    {},
    async (page) => {
      await page.goto(`${short.origin}/console/gallery`);
      const other = await page.context().newPage();
      await other.goto(`${short.origin}/console/gallery`);
      for (const each of [page, other]) await each.waitForSelector('#idle[open]');
      const stayed = page.waitForResponse(/\/console\/stay$/);
      await page.click('#idle button');
      expect((await stayed).status()).toBe(204);
      for (const each of [page, other])
        await each.waitForSelector('#idle:not([open])', { state: 'attached' });
      await page.waitForSelector('#idle[open]');
      expect(await auditPage(page)).toEqual([]);
    },
    short.origin,
  );
  await short.close();
});
