import { beforeAll, describe, expect, it } from 'vitest';
import { rooms } from '../../services/console/rooms/rooms.ts';
import { enterConsole, fillInstance, walkConsole } from '../support/console/walk-console.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage, looksIn } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
const lab = useInstance({ INSTANCE_NAME: 'Northern Lab' });
const browser = useBrowser();
beforeAll(async () => {
  await fillInstance(instance, lab);
});

describe.each([
  ['en', 'admin'],
  ['fr', 'operator'],
  ['ar', 'admin'],
  // Pages that administrators do not see: with fewer parts and links.
  ['en', 'clerk'],
  ['en', 'author'],
  ['en', 'auditor'],
  ['en', 'technician'],
])('in %s, what the %s sees', (locale, username) => {
  it('has no dead link, is accessible light, dark and narrow, and reports nothing', async () => {
    const watched = await openWatchedPage(browser, [instance.url], { locale });
    const { page } = watched;
    await enterConsole(page, instance.url, username);
    const found: Record<string, unknown> = {};
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url(), request.headers().referer ?? ''));
    const paths = await walkConsole(page, instance.url, async (path, response) => {
      const faults = [
        ...(response?.status() === 200 ? [] : [`status ${response?.status()}`]),
        ...(await auditPage(page, looksIn(locale))),
        ...(await page.locator('.primary:visible').allInnerTexts())
          .slice(1)
          .map((each) => `${each} is primary, too`),
      ];
      if (faults.length > 0) found[path] = faults;
    });
    expect(found).toEqual({});
    // Names of people are in no address, no referrer and no line of the log.
    expect(asked.filter((each) => /anna|bert/.test(each))).toEqual([]);
    expect(instance.logs()).not.toMatch(/anna|bert/);
    expect(paths.length).toBeGreaterThan(rooms.length);
    await page.goto(`${instance.url}/console`);
    await page.click('.person button');
    await page.waitForURL(/\/console\/signed-out$/);
    expect(await auditPage(page, looksIn(locale))).toEqual([]);
    expect(await page.locator('dialog').count()).toBe(0);
    // The cookies of the console and of the issuer are wanted here.
    const complaints = (await watched.complaints()).filter((each) => !each.startsWith('set the cookie'));
    expect(complaints).toEqual([]);
    await watched.close();
  }, 900_000);
});

it.each(['en', 'fr', 'ar'])(
  'decisions are accessible light, dark and narrow in %s, and so are their faults',
  async (locale) => {
    const watched = await openWatchedPage(browser, [instance.url], { locale });
    const { page } = watched;
    await enterConsole(page, instance.url, 'operator');
    await page.goto(`${instance.url}/console/subjects/decisions`);
    await page.fill('#field-subject', 'anna');
    await page.fill('#field-asOf', '2999-01-01T00:00');
    for (const name of ['elements', 'purposes'])
      for (const box of await page.locator(`input[name=${name}]`).all()) await box.check();
    await page.fill('#field-others', 'no.such.key');
    await page.click('.form button.primary');
    await page.waitForSelector('#field-asOf-fault');
    expect(await auditPage(page, looksIn(locale))).toEqual([]);
    await page.fill('#field-asOf', '');
    await page.click('.form button.primary');
    await page.waitForSelector('.list .state-in-force');
    expect(await auditPage(page, looksIn(locale))).toEqual([]);
    await watched.close();
  },
  60_000,
);

it('an element that was exported is imported from its file, under another key', async () => {
  const watched = await openWatchedPage(browser, [instance.url], { acceptDownloads: true });
  const { page } = watched;
  await enterConsole(page, instance.url, 'admin');
  await page.goto(`${instance.url}/console/elements/processing.001`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('a[href$="/export"]').click(),
  ]);
  await page.goto(`${instance.url}/console/elements/import`);
  await page.setInputFiles('input[type=file]', await download.path());
  await expect.poll(() => page.inputValue('textarea')).toContain('processing.001');
  expect(await auditPage(page)).toEqual([]);
  await page.fill('input[name=key]', 'processing.from-a-file');
  await page.click('.form button.primary');
  await page.waitForURL(/processing\.from-a-file/);
  await watched.close();
});
