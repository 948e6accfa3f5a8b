import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

const instance = useInstance();
const browser = useBrowser();
let pages: ConsolePages;
beforeAll(async () => {
  pages = await openPages(instance, 'clerk');
});
afterAll(() => pages?.close());

it.each([320, 400, 500, 760])('the open menu of a person lies within a window of %i px', async (width) => {
  const values = { 'element/processing/processing.001/1.0': ['accepted'] };
  await recordAnswers(await signIn(instance, 'operator'), `orla ${width}`, values);
  const found = await pages.post('/console/subjects', { word: `orla ${width}` });
  const page = await browser.newPage({ viewport: { width, height: 800 }, locale: 'en' });
  await page.goto(pages.origin + found.headers.get('location'));
  await page.click('.menu summary');
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
});
