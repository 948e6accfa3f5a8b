import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
const browser = useBrowser();
let pages: ConsolePages;
beforeAll(async () => {
  pages = await openPages(instance, 'operator');
});
afterAll(() => pages?.close());

it.each([true, false])(
  'a verified receipt is a statement on paper, without menus (javaScriptEnabled %s)',
  async (javaScriptEnabled) => {
    const caller = await signIn(instance, 'operator');
    const letter = 'element/processing/processing.001/1.0';
    const { id } = await recordAnswers(caller, `printed ${javaScriptEnabled}`, { [letter]: ['accepted'] });
    const jws = await (await caller.get(`/receipts/${id}?format=jose`)).text();
    const { page, complaints, close } = await openWatchedPage(browser, [pages.origin], { javaScriptEnabled });
    try {
      await page.goto(`${pages.origin}/console/receipts`);
      await page.getByLabel('Signed receipt').fill(jws);
      await page.getByRole('button', { name: 'Verify' }).click();
      await page.getByRole('heading', { name: 'The receipt is genuine' }).waitFor();
      const print = page.locator('[data-print]');
      expect(await print.isVisible()).toBe(javaScriptEnabled);
      if (javaScriptEnabled) {
        await page.evaluate("window.print = () => document.body.setAttribute('data-printed', '')");
        await print.click();
        await page.waitForSelector('[data-printed]');
      }
      await page.emulateMedia({ media: 'print' });
      for (const hidden of ['.places', '.search', '.person', '.api', '[data-print]', 'main .button'])
        expect([hidden, await page.locator(hidden).first().isVisible()]).toEqual([hidden, false]);
      for (const said of ['Riverside', 'Verified on', 'Digest (SHA-256)', 'What was answered'])
        expect([said, await page.getByText(said).first().isVisible()]).toEqual([said, true]);
      expect(await complaints()).toEqual([]);
    } finally {
      await close();
    }
  },
);
