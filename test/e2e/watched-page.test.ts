import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type HostSite, startHostSite } from '../support/pages/host-site.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const browser = useBrowser();
let site: HostSite;
beforeAll(async () => {
  site = await startHostSite();
});
afterAll(() => site?.close());

/** Opens a page that may fetch from the site, where `/slow` never answers. */
async function open(body: string) {
  const watched = await openWatchedPage(browser, ['http://localhost:1', site.origin]);
  onTestFinished(watched.close);
  await watched.page.route('**/slow', () => {});
  await watched.page.goto(`${site.origin}${site.show(body)}`);
  return watched;
}

it('a request that ends because its page is left is no fault of the page', async () => {
  const { page, complaints } = await open(
    `<script>fetch('/slow').catch(({ message }) => console.error(message))</script>`,
  );
  await page.goto(`${site.origin}/thanks`);
  expect(await complaints()).toEqual([]);
});

it('a request that fails while its page is open is a fault', async () => {
  const { complaints } = await open(`<script>console.error('Failed to fetch')</script>`);
  expect(await complaints()).toEqual(['said: Failed to fetch']);
});
