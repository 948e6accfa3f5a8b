import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enterConsole } from '../support/console/walk-console.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { launchChromium } from '../support/pages/chromium.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Opens a new processing in the editor, and expects that no page did anything wrong. */
async function inEditor(
  options: Parameters<typeof openWatchedPage>[2],
  test: (page: Page) => Promise<void>,
): Promise<void> {
  const watched = await openWatchedPage(browser, [instance.url], options);
  try {
    const { page } = watched;
    await enterConsole(page, instance.url, 'admin');
    await page.goto(`${instance.url}/console/elements/new`);
    await page.fill('[name="name"]', 'Letter');
    await page.click('form.form button.primary');
    await page.waitForSelector('form.editor');
    await test(page);
    const complaints = await watched.complaints();
    // The console has a session, and so has the issuer.
    expect(complaints.filter((each) => !each.startsWith('set the cookie'))).toEqual([]);
  } finally {
    await watched.close();
  }
}

const shown = (page: Page) => page.frameLocator('iframe:not([hidden])').locator('body');

describe('the editor of an element', () => {
  it('shows what is typed as people will see it, saves nothing, and adds nothing to the history', () =>
    inEditor({}, async (page) => {
      const before = await page.evaluate<number>('history.length');
      await page.fill('[name="en:title"]', 'A letter each month');
      await shown(page).getByText('A letter each month').first().waitFor();
      await page.fill('[name="en:usage"]', 'We write <b>to you</b>.');
      await shown(page).getByText('We write <b>to you</b>.').first().waitFor();
      expect(await page.locator('iframe').count()).toBe(1);
      await page.waitForSelector('[name="en:usage"]:focus');
      expect(await page.evaluate<number>('history.length')).toBe(before);
      expect(await auditPage(page)).toEqual([]);
      page.once('dialog', (dialog) => dialog.accept());
      await page.reload();
      expect(await page.inputValue('[name="en:title"]')).toBe('');
    }));

  it('says in the preview why something cannot be shown', () =>
    inEditor({}, async (page) => {
      await page.fill('[name="*:retention.value"]', '-4');
      await shown(page).getByText('This cannot be shown yet').waitFor();
    }));

  it('without JavaScript has a button for the preview of each language', () =>
    inEditor({ javaScriptEnabled: false, locale: 'ar' }, async (page) => {
      await page.fill('[name="language"]', 'ar');
      await page.click('button[value="add-language"]');
      await page.fill('[name="ar:title"]', 'رسالة شهرية');
      await page.click('button[name="preview"][value="ar"]');
      await shown(page).getByText('رسالة شهرية').first().waitFor();
      expect(await page.inputValue('[name="ar:title"]')).toBe('رسالة شهرية');
    }));
});
