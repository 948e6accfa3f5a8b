import type { FrameLocator, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { letter } from '../support/instances/live-subject.ts';
import { createTransaction, expire, recordAnswers } from '../support/instances/live-transactions.ts';
import { type HostSite, startHostSite } from '../support/pages/host-site.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession();
let host: HostSite;
beforeAll(async () => {
  host = await startHostSite();
});
afterAll(() => host?.close());

const layoutData = { type: 'layout', elements: ['processing.001'], cancelVisible: true };
const create = (context: object = {}) => createTransaction(session.operator, { layoutData, ...context });
const fixed = async (colorScheme: string) =>
  (await makeLiveModel(session.admin, 'theme', { en: { name: 'Fixed', colorScheme } })).key;

/** Light or dark, as it is painted. */
async function colorsOf(page: Pick<FrameLocator, 'locator'>): Promise<string> {
  const background = (body: Locator) =>
    body.evaluate((element) => {
      const { ownerDocument } = element as unknown as {
        ownerDocument: { defaultView: { getComputedStyle(node: object): { backgroundColor: string } } };
      };
      return ownerDocument.defaultView.getComputedStyle(element).backgroundColor;
    });
  const [red = 0] = (await background(page.locator('body'))).match(/\d+/g)?.map(Number) ?? [];
  return red < 128 ? 'dark' : 'light';
}

describe('the colours that an address asks for', () => {
  it.each([
    ['dark', 'light'],
    ['light', 'dark'],
  ] as const)('%s on a %s device stay to the end of the path', async (wanted, device) => {
    const { id, url } = await create({
      callback: 'https://shop.example/thanks',
      callbackTriggerDelay: 600_000,
    });
    const isRight = async (title: string) => {
      await session.heading(title);
      expect(await colorsOf(session.page), title).toBe(wanted);
    };
    await session.open(`${url}&colorScheme=${wanted}`, { colorScheme: device });
    const formTitle = await session.page.getByRole('heading', { level: 1 }).innerText();
    await isRight(formTitle);
    await session.press('Send my choices');
    await session.page.locator('.notice-fault').waitFor();
    await isRight(formTitle);
    await session.page.getByLabel('Accept').check();
    await session.press('Send my choices');
    await isRight('Your answers are saved');
    const final = session.page.url();
    await session.page.getByRole('link', { name: 'See the receipt' }).click();
    await session.page.waitForURL(/receipts/);
    expect(await colorsOf(session.page)).toBe(wanted);
    await session.page.goto(final);
    await session.button('Change or withdraw my answers').click();
    await session.page.waitForURL(/submit/);
    expect(session.page.url()).not.toContain(id);
    await isRight(formTitle);
  });

  it('stay when the transaction is cancelled, when its time is over, and on pages of errors', async () => {
    const transaction = await create({ cancellable: true });
    await session.open(`${transaction.url}&colorScheme=dark`);
    await session.press('Cancel');
    const confirm = session.page.getByRole('button', { name: /^(Discard|Yes)/ });
    if (await confirm.isVisible()) await confirm.click();
    await session.page.locator('.page-cancelled').waitFor();
    expect(await colorsOf(session.page)).toBe('dark');
    const late = await create();
    await session.open(`${late.url}&colorScheme=dark`);
    await expire(session.instance, late);
    await session.page.getByLabel('Accept').check();
    await session.press('Send my choices');
    await session.page.locator('.page-error').waitFor();
    expect(await colorsOf(session.page)).toBe('dark');
    await session.open(`${session.instance.url}/consents/${late.id}?t=garbled&colorScheme=dark`);
    expect(await colorsOf(session.page)).toBe('dark');
  });

  it('stay in every link and form, also those that withdraw and that show the other questions', async () => {
    const { id, subject } = await recordAnswers(session.operator, 'ann', { [letter]: ['accepted'] });
    const both = { type: 'layout', elements: ['processing.001', 'processing.002'] };
    const asked = await create({ subject, layoutData: both, ask: 'CHANGED' });
    const urlsOn = async (path: string) => {
      const response = await session.operator.get(`${path}?colorScheme=dark`, { Accept: 'text/html' });
      const shown = parsePage(await response.text());
      const links = [...shown.tagged('a'), ...shown.tagged('form')];
      const urls = links.map(({ attribs }) => attribs.href ?? attribs.action ?? '');
      return urls.filter((url) => url.startsWith(session.instance.url));
    };
    for (const [path, expected] of [
      [`/consents/${id}`, '/withdraw'],
      [`/consents/${id}/child`, '/withdraw'],
      [`/receipts/${id}`, '/withdraw'],
      [`/receipts/${id}`, 'format='],
      [`/consents/${asked.id}/submit`, 'existingElementsVisible=true'],
    ] as const) {
      const urls = await urlsOn(path);
      expect(urls.join(), path).toContain(expected);
      for (const url of urls) expect(new URL(url).searchParams.getAll('colorScheme'), url).toEqual(['dark']);
    }
  });

  it('win over the theme when they are fixed, and else give way to it', async () => {
    const { url } = await create({ theme: await fixed('dark') });
    for (const [query, shown] of [
      ['', 'dark'],
      ['&colorScheme=auto', 'dark'],
      ['&colorScheme=auto-light', 'dark'],
      ['&colorScheme=light', 'light'],
    ] as const) {
      await session.open(`${url}${query}`, { colorScheme: 'light' });
      expect(await colorsOf(session.page), query).toBe(shown);
    }
  });

  it('are those of the device when the address asks for what does not exist', async () => {
    const { url } = await create();
    for (const device of ['light', 'dark'] as const) {
      expect(await session.open(`${url}&colorScheme=purple`, { colorScheme: device })).toBe(200);
      expect(await colorsOf(session.page)).toBe(device);
    }
  });

  it('are not set by a theme that names others than auto, light and dark', async () => {
    const made = await session.admin.send('POST', '/models', { type: 'theme', name: 'Purple' });
    const { id } = (await made.json()) as { id: string };
    const data = { en: { name: 'Purple', colorScheme: 'purple' } };
    const reply = await session.admin.send('POST', `/models/${id}/versions`, { defaultLanguage: 'en', data });
    expect([400, 422]).toContain(reply.status);
  });
});

describe('a form embedded by embed.js', () => {
  const shown = async (style: string, device: 'light' | 'dark', attributes = '', context = {}) => {
    const { url } = await create(context);
    const path = host.show(`<style>${style}</style><div id="consent"></div>
      <script src="${session.instance.url}/assets/embed.js" data-target="#consent" data-src="${url}" ${attributes}></script>`);
    await session.open(`${host.origin}${path}`, { colorScheme: device }, [host.origin]);
    await session.page.waitForFunction('events.length === 1');
    return colorsOf(session.page.frameLocator('iframe'));
  };

  it.each([
    ['a page without colours, which is light everywhere', '', 'dark', 'light'],
    ['a page with a dark background', 'body { background: oklch(0.2 0.02 250) }', 'light', 'dark'],
    ['a dark part of a light page', '#consent { background: #123 }', 'light', 'dark'],
    ['a page that is dark by its color scheme', ':root { color-scheme: dark }', 'light', 'dark'],
    ['a page that follows a dark device', ':root { color-scheme: light dark }', 'dark', 'dark'],
    ['a page that follows a light device', ':root { color-scheme: light dark }', 'light', 'light'],
  ] as const)('is as %s', async (_, style, device, expected) => {
    expect(await shown(style, device)).toBe(expected);
  });

  it('is as the attribute says, whatever the page and the theme are', async () => {
    const theme = await fixed('light');
    expect(await shown('', 'light', 'data-color-scheme="dark"', { theme })).toBe('dark');
  });

  it('is as its theme says on a page of other colours', async () => {
    expect(await shown('body { background: #123 }', 'dark', '', { theme: await fixed('light') })).toBe(
      'light',
    );
  });
});
