import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ConfirmPage } from '#lib/contracts/pages.ts';
import type { Drawn } from '../../services/forms/pages/page-model.ts';
import { assets, renderer } from '../support/pages/page-renderer.ts';
import { type PageServer, startPageServer } from '../support/pages/page-server.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import type { SampleLanguage } from '../support/samples/sample-content.ts';

const browser = useBrowser();
let server: PageServer;
let host: PageServer;
let page: Page;

/** Paths are `/<language>/<sample>`; the forms of a page post to the page after a wrong code. */
function samplePage(path: string): Drawn<ConfirmPage> | null {
  const [, language = 'en', name = 'confirm-wrong'] = path.split('/');
  const model = samplePages(language as SampleLanguage)[name] as Drawn<ConfirmPage> | undefined;
  if (!model) return null;
  const { context, links, ...transaction } = model.transaction;
  return {
    ...model,
    transaction: {
      ...transaction,
      links: links && { ...links, confirm: '/en/confirm-wrong' },
      context: context && { ...context, iframeOrigin: undefined },
    },
    actions: { resend: '/en/confirm-resent', cancel: '/en/confirm-over' },
  };
}

beforeAll(async () => {
  server = await startPageServer({ renderer, assets }, samplePage);
  const frame = (path: string) => ({
    type: 'text/html; charset=utf-8',
    body: `<!doctype html><html lang="en"><title>Host</title><button>Before</button>
      <script>addEventListener('message', ({ data }) => (window.told ??= []).push(data))</script>
      <iframe title="Code" src="${server.origin}${path}"></iframe>`,
  });
  host = await startPageServer({ renderer, assets }, () => null, {
    '/first': frame('/en/confirm'),
    '/wrong': frame('/en/confirm-wrong'),
  });
});

afterEach(() => page?.close());
afterAll(async () => {
  await server?.close();
  await host?.close();
});

async function open(path: string, options: BrowserContextOptions = {}, origin = server.origin) {
  server.posts.length = 0;
  page = await browser.newPage(options);
  await page.goto(`${origin}${path}`);
}

it.each([true, false])(
  'a code is typed at once and sent by Enter (JavaScript: %s)',
  async (javaScriptEnabled) => {
    await open('/en/confirm', { javaScriptEnabled });
    await page.locator('#code:focus').waitFor();
    await page.keyboard.type('123 456');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(server.posts).toEqual([{ path: '/en/confirm-wrong', fields: [['code', '123 456']] }]);
    expect(await page.title()).toBe('Error: Confirm your answers');
    await page.locator('#code:focus').waitFor();
  },
);

it.each([true, false])(
  'another code and a cancellation are requests without a code (JavaScript: %s)',
  async (javaScriptEnabled) => {
    await open('/en/confirm', { javaScriptEnabled });
    await page.getByLabel('Code').fill('123456');
    await page.getByRole('button', { name: 'Send another code' }).click();
    await page.getByRole('status').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'can no longer be confirmed' }).waitFor();
    expect(server.posts).toEqual([
      { path: '/en/confirm-resent', fields: [] },
      { path: '/en/confirm-over', fields: [] },
    ]);
  },
);

it.each([true, false])('the summary leads to the field (JavaScript: %s)', async (javaScriptEnabled) => {
  await open('/en/confirm-wrong', { javaScriptEnabled, viewport: { width: 360, height: 640 } });
  await page.getByRole('button', { name: 'Confirm' }).focus();
  await page.getByRole('alert').getByRole('link').click();
  await page.locator('#code:focus').waitFor();
  expect(await page.getByText('This code is not correct').last().isVisible()).toBe(true);
});

it('a code that can no longer be entered has the focus on the explanation', async () => {
  await open('/en/confirm-expired');
  await page.locator('.notice-fault:focus').waitFor();
});

it('a code that is shown can be selected by one click and pasted', async () => {
  await open('/ar/confirm-shown');
  await page.locator('.code-shown').click();
  const selected = await page.evaluate<string>('getSelection().toString()');
  expect(selected.trim()).toBe('048 213');
  await page.locator('#code').fill(selected.trim());
  expect(await page.locator('#code').inputValue()).toBe('048 213');
});

it('in a frame the focus is left where it is, until a code was entered', async () => {
  const origin = host.origin.replace('127.0.0.1', 'localhost');
  await open('/first', {}, origin);
  await page.waitForFunction('window.told?.some(({ state }) => state === "SUBMITTED")');
  expect(await page.evaluate('document.activeElement.localName')).toBe('body');
  await page.goto(`${origin}/wrong`);
  await page.waitForFunction('document.activeElement.localName === "iframe"');
  const frame = page.frames().find((each) => each !== page.mainFrame());
  await frame?.locator('#code:focus').waitFor();
});
