import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rooms } from '../../services/console/rooms/rooms.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { launchChromium } from '../support/pages/chromium.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
  const admin = await signIn(instance, 'admin');
  const layoutData = { elements: ['processing.001', 'preference.003'] };
  for (const [subject, decision] of [
    ['anna', 'accepted'],
    ['bert', 'refused'],
  ]) {
    const values = { 'element/processing/processing.001/1.0': [decision] };
    await admin.send('POST', '/consents/singlestep', { context: { subject, layoutData }, values });
  }
  await admin.send('POST', '/keys', { name: 'shop', scope: 'OWNER' });
  const targetUrl = 'https://shop.example.org/hooks';
  await admin.send('POST', '/webhooks', {
    name: 'shop',
    targetUrl,
    subscribedActions: ['consent.committed'],
  });
});
afterAll(() => browser?.close());

/** Longest walk through the console, in pages. */
const maxPages = 80;

/** Signs in on the page of the built-in issuer. */
async function enter(page: Page, username: string): Promise<void> {
  await page.goto(`${instance.url}/console`);
  await page.fill('#username', username);
  await page.fill('#password', 'demo');
  await page.click('button.primary');
  await page.waitForSelector('nav.places', { state: 'attached' });
}

/** The paths of the console to which the page has links, without files; of several with one pattern, one. */
async function linksOf(page: Page): Promise<string[]> {
  const hrefs = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))`,
  );
  return hrefs
    .filter((href) => href.startsWith('/console') && !/format=csv|\/export$/.test(href))
    .filter((href) => rooms.some(({ path }) => path !== '' && href.startsWith(`/console${path}`)));
}

const patternOf = (href: string) => href.replace(/\?.*/, '').replaceAll(/\/[\w-]{20,}/g, '/*');

describe.each([
  ['en', 'admin'],
  ['fr', 'operator'],
  ['ar', 'admin'],
])('in %s, what the %s sees', (locale, username) => {
  it('has no dead link, is accessible light, dark and narrow, and reports nothing', async () => {
    const watched = await openWatchedPage(browser, [instance.url], { locale });
    const { page } = watched;
    await enter(page, username);
    const found: Record<string, unknown> = {};
    const seen = new Set(['/console']);
    const waiting = ['/console'];
    for (let next = waiting.shift(); next !== undefined && seen.size < maxPages; next = waiting.shift()) {
      const response = await page.goto(instance.url + next);
      const faults = [
        ...(response?.status() === 200 ? [] : [`status ${response?.status()}`]),
        ...(await auditPage(page)),
      ];
      if (faults.length > 0) found[next] = faults;
      for (const href of await linksOf(page)) {
        if (seen.has(patternOf(href))) continue;
        seen.add(patternOf(href));
        waiting.push(href);
      }
    }
    expect(found).toEqual({});
    expect(seen.size).toBeGreaterThan(rooms.length);
    await page.goto(`${instance.url}/console`);
    await page.click('.person button');
    await page.waitForURL(/\/console\/signed-out$/);
    expect(await auditPage(page)).toEqual([]);
    expect(await page.locator('dialog').count()).toBe(0);
    // The cookies of the console and of the issuer are wanted here.
    const complaints = (await watched.complaints()).filter((each) => !each.startsWith('set the cookie'));
    expect(complaints).toEqual([]);
    await watched.close();
  });
});
