import { expect, it } from 'vitest';
import { enterConsole } from '../support/console/walk-console.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { auditPage, looksIn } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
const lab = useInstance({ INSTANCE_NAME: 'Northern Lab', INSTANCE_TIME_ZONE: 'Europe/Paris' });
const browser = useBrowser();

it('an administrator gives the instance another name, and the form of a person shows it', async () => {
  const watched = await openWatchedPage(browser, [instance.url], { locale: 'en' });
  const { page } = watched;
  await enterConsole(page, instance.url, 'admin');
  await page.goto(`${instance.url}/console/settings`);
  await page.getByRole('link', { name: 'Change the settings' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Lakeside Clinic');
  await page.getByLabel('Time zone').selectOption('Europe/Paris');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The settings were changed.').waitFor();
  expect(await page.locator('header .instance').innerText()).toBe('Lakeside Clinic');
  expect(await auditPage(page, looksIn('en'))).toEqual([]);
  const { url } = await createTransaction(await signIn(instance, 'operator'));
  await page.goto(url);
  expect(await page.locator('body').innerText()).toContain('Lakeside Clinic');
  await watched.close();
}, 60_000);

it('what the environment pins stands with its variable, and has no field', async () => {
  const watched = await openWatchedPage(browser, [lab.url], { locale: 'fr' });
  const { page } = watched;
  await enterConsole(page, lab.url, 'admin');
  await page.goto(`${lab.url}/console/settings`);
  expect(await page.locator('main').innerText()).toContain('Fixé par INSTANCE_TIME_ZONE');
  await page.goto(`${lab.url}/console/settings/change`);
  expect(await page.locator('[name="name"], [name="timeZone"]').count()).toBe(0);
  expect(await page.locator('[name="language"]').count()).toBe(1);
  expect(await auditPage(page, looksIn('fr'))).toEqual([]);
  await watched.close();
}, 60_000);

it.each([1280, 700, 360])(
  'the names of events stand whole beside their words, %i px wide',
  async (width) => {
    const viewport = { width, height: 900 };
    const watched = await openWatchedPage(browser, [instance.url], { locale: 'en', viewport });
    const { page } = watched;
    await enterConsole(page, instance.url, 'admin');
    await page.goto(`${instance.url}/console/integration/webhooks/new`);
    const names = page.locator('.option > .code');
    expect(await names.count()).toBeGreaterThan(20);
    const broken = await names.evaluateAll((found) =>
      found.flatMap((each) => {
        const text = each.ownerDocument.createRange();
        text.selectNodeContents(each);
        return text.getClientRects().length > 1 ? [each.textContent] : [];
      }),
    );
    expect(broken).toEqual([]);
    expect(await auditPage(page, looksIn('en'))).toEqual([]);
    await watched.close();
  },
  60_000,
);
