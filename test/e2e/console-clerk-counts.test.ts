import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enterConsole } from '../support/console/walk-console.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { complete } from '../support/instances/live-subject.ts';
import { recordsOf } from '../support/instances/live-transactions.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

const instance = useInstance();
const browser = useBrowser();
const shop: Caller = useSetup(() => signIn(instance, 'operator'));

/** What every act of a clerk may take at most, from the search field on (docs/roles.md). */
const mostClicks = 4;

/** A person with an address, who has answered the form, and was asked again since. */
async function meet(name: string): Promise<string> {
  const emailAddress = `${name}@example.org`;
  await shop.send('POST', '/subjects', { name, emailAddress, defaultLanguage: 'en' });
  const answered = { context: { subject: name, layout: 'layout.001' }, values: complete };
  expect((await shop.send('POST', '/consents/singlestep', answered)).status).toBe(201);
  const asked = { subject: name, layout: 'layout.001', object: 'again' };
  expect((await shop.send('POST', '/consents', asked)).status).toBe(201);
  return emailAddress;
}

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('a clerk, %s', (_how, javaScriptEnabled) => {
  let page: Page;
  let clicks = 0;
  beforeAll(async () => {
    const context = await browser.newContext({ javaScriptEnabled, locale: 'en', acceptDownloads: true });
    context.setDefaultTimeout(10_000);
    page = await context.newPage();
    await enterConsole(page, instance.url, 'clerk');
  });
  afterAll(() => page?.context().close());

  /** Types into the search field of the first page and sends it: the first click. */
  async function search(word: string) {
    clicks = 0;
    await page.goto(`${instance.url}/console`);
    await page.locator('header input[name="word"]').fill(word);
    await click(page.locator('header').getByRole('button', { name: 'Search' }));
  }
  async function click(target: ReturnType<Page['locator']>) {
    clicks += 1;
    await target.first().click();
    await page.waitForLoadState('domcontentloaded');
  }
  const link = (name: string | RegExp) => page.locator('main').getByRole('link', { name });
  const button = (name: string) => page.locator('main').getByRole('button', { name, exact: true });
  const more = () => click(page.getByText('More', { exact: true }));
  async function choose(label: string, option: string) {
    clicks += 1;
    await page.getByLabel(label).selectOption({ label: option });
  }
  const told = (text: string) => page.locator('#status').getByText(text, { exact: true }).waitFor();
  /** A file that a link leads to. */
  async function fetched(target: ReturnType<Page['locator']>): Promise<Download> {
    const [file] = await Promise.all([page.waitForEvent('download'), click(target)]);
    return file;
  }
  const acts: Record<string, (name: string, address: string) => Promise<void>> = {
    async 'finds a person by the identifier'(name) {
      await search(name);
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    },
    async 'finds a person by the e-mail address'(name, address) {
      await search(address);
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    },
    async 'invites a person again to a form that is open'(name) {
      await search(name);
      await click(page.getByRole('row').filter({ hasText: 'Open' }).locator('a[href*="/transactions/"]'));
      await click(link('Send an invitation'));
      await click(button('Invite'));
      await told('The invitation is on its way.');
    },
    async 'sends a form again'(name) {
      await search(name);
      await click(link('Send a form'));
      await click(button('Invite'));
      await told('The form was sent.');
    },
    async 'withdraws one consent alone'(name) {
      await search(name);
      await click(link('Withdraw'));
      await choose('How the person has asked for it', 'By telephone');
      await click(button('Withdraw'));
      await told('The consent is withdrawn.');
      const records = await recordsOf(shop, name);
      expect(records['processing.001']?.[0]).toMatchObject({ value: 'refused' });
      expect(records['preference.001']).toHaveLength(1);
    },
    async 'records answers on paper, beside what the paper says'(name) {
      await search(name);
      await click(link('Answer on behalf'));
      for (const question of await page.locator('form.form fieldset').all())
        await question.locator('input').first().check();
      await page.getByLabel('How the answer came').selectOption({ label: 'On paper' });
      await click(button('Review'));
      await click(button('Record'));
      await told('The answers are recorded.');
    },
    async 'reads out what a person agreed to'(name) {
      await search(name);
      await click(page.locator('#panel-records').getByRole('link', { name: 'Show' }));
      await page.frameLocator('main iframe').getByRole('heading', { level: 1 }).waitFor();
    },
    async 'gets a receipt to print'(name) {
      await search(name);
      await click(page.locator('#panel-records').getByRole('link', { name: 'Show' }));
      expect(await link('PDF').getAttribute('href')).toMatch(/format=pdf/);
      clicks += 1;
    },
    async 'exports the data of a person, for the person'(name) {
      await search(name);
      await more();
      const file = await fetched(link(/^Copy of all data/));
      expect(file.suggestedFilename()).toMatch(/\.html$/);
    },
    async 'corrects an address'(name) {
      await search(name);
      await more();
      await click(link('Change e-mail address or language'));
      await page.getByLabel('E-mail address').fill(`${name}@new.example.org`);
      await click(button('Save'));
      await told('The changes are saved.');
    },
    async 'cancels what is open'(name) {
      await search(name);
      await click(page.getByRole('row').filter({ hasText: 'Open' }).locator('a[href*="/transactions/"]'));
      await click(link('Cancel the transaction'));
      await click(button('Cancel the transaction'));
      await told('The transaction is cancelled.');
    },
  };

  it.for(Object.entries(acts))('%s', async ([what, act], { annotate }) => {
    const name = `${what.replaceAll(/\W+/g, '-').slice(0, 30)}-${javaScriptEnabled}`;
    await act(name, await meet(name));
    await annotate(`${clicks} clicks`);
    expect(clicks).toBeLessThanOrEqual(mostClicks);
  });
});
