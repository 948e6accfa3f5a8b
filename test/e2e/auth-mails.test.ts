import { afterAll, expect, it } from 'vitest';
import { enterConsole } from '../support/console/walk-console.ts';
import { goodPassword } from '../support/instances/account-callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { type ReceivedMail, startMailServer } from '../support/network/mail-server.ts';
import { auditPage, looksIn } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const server = await startMailServer();
afterAll(() => server.close());
const instance = useInstance({ MAIL_URL: server.url });
const browser = useBrowser();

const linkIn = ({ mail }: ReceivedMail) => /https?:\/\/\S+token=[\w-]+/.exec(mail.text ?? '')?.[0] ?? '';
const otherPassword = 'another long phrase';

it.each(['en', 'fr', 'ar'])(
  'a colleague is invited by mail, forgets the password, and gets in again (%s)',
  async (locale) => {
    const admin = await openWatchedPage(browser, [instance.url], { locale });
    await enterConsole(admin.page, instance.url, 'admin');
    const email = `jane-${locale}@clinic.example`;
    await admin.page.goto(`${instance.url}/console/settings/accounts/new`);
    await admin.page.fill('[name="name"]', `jane-${locale}`);
    await admin.page.fill('[name="email"]', email);
    await admin.page.click('button.primary');
    await admin.page.locator('main p', { hasText: email }).first().waitFor();
    await admin.close();

    const watched = await openWatchedPage(browser, [instance.url], { locale });
    const { page } = watched;
    const looks = async (at: string) => expect(await auditPage(page, looksIn(locale)), at).toEqual([]);
    const choose = async (password: string) => {
      await page.fill('#password', password);
      await page.fill('#repeated', password);
      await page.click('button.primary');
      await page.locator('a[href="/console"]').click();
      await page.fill('#username', `jane-${locale}`);
      await page.fill('#password', password);
    };
    await page.goto(linkIn(await server.waitFor(email)));
    await looks('the page of the invitation');
    await choose(goodPassword);
    // On the page of the sign-in, instead of signing in.
    await page.locator('a[href$="/forgotten"]').click();
    await looks('the page of a forgotten password');
    await page.fill('#username', email);
    await page.click('button.primary');
    await page.locator('#username').waitFor({ state: 'detached' });
    await looks('the answer');
    await page.goto(linkIn(await server.waitFor(email, 2)));
    await choose(otherPassword);
    await page.click('button.primary');
    await page.waitForSelector('nav.places', { state: 'attached' });

    const moved = `jane-new-${locale}@clinic.example`;
    await page.locator('.person a.who').click();
    await page.fill('[name="email"]', moved);
    await page.locator('form[action$="/you/address"] button').click();
    await page.goto(linkIn(await server.waitFor(moved)));
    await looks('the page that confirms an address');
    await page.click('button.primary');
    await page.locator('form').waitFor({ state: 'detached' });
    await page.goto(`${instance.url}/console/settings/you`);
    expect(await page.inputValue('[name="email"]')).toBe(moved);
    await watched.close();
  },
  120_000,
);
