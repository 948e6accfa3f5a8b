import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FrameLocator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ResultPage } from '#lib/contracts/pages.ts';
import type { Drawn, FormModel, PageModel } from '../../services/forms/pages/page-model.ts';
import { assets, renderer } from '../support/pages/page-renderer.ts';
import { type PageServer, startPageServer } from '../support/pages/page-server.ts';
import { sampleForm, samplePages } from '../support/pages/sample-pages.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { sampleElements } from '../support/samples/sample-content.ts';

const { newsletter, channel } = sampleElements('en');
/** The host part of iframe-resizer 4, as a site of its own has it. */
const resizerHost = readFileSync(
  path.join(
    path.dirname(fileURLToPath(import.meta.resolve('iframe-resizer/js/iframeResizer.js'))),
    'iframeResizer.min.js',
  ),
  'utf8',
);
type Context = components['schemas']['StoredContext'];

const callback = 'http://localhost:1/done?a=1&b=%C3%A9';

const browser = useBrowser();
let accord: PageServer;
let host: PageServer;
let page: Page;
/** What the pages say of themselves in the test at hand. */
let embedding: Partial<Context> & { includeIFrameResizer?: boolean };

/** A page with the {@link embedding}. */
function embedded<Page extends FormModel | Drawn<ResultPage>>(page: Page): Page {
  const { includeIFrameResizer, ...told } = embedding;
  const { callback } = told;
  const context = { ...page.transaction?.context, iframeOrigin: undefined, ...told } as Context;
  return {
    ...page,
    transaction: page.transaction && { ...page.transaction, callback, context },
    ...(includeIFrameResizer !== undefined && { layout: { ...page.layout, includeIFrameResizer } }),
  };
}

/** The pages of one transaction: its form, what follows on sending it, and an error. */
function transactionPage(path: string): PageModel | null {
  const samples = samplePages('en');
  if (path === '/form') {
    const form = embedded(sampleForm('en', [newsletter, channel] as never));
    return { ...form, form: { ...form.form, links: { submit: '/sent', all: '/form' } } };
  }
  if (path === '/faulty') return embedded(samples['form-faults'] as FormModel);
  if (path === '/sent') return embedded(samples.committed as Drawn<ResultPage>);
  if (path === '/error') return samples['error-not-found'] as PageModel;
  return null;
}

/**
 * A page of another site; `window.told` collects every message it gets, `window.events` the events of the
 * element.
 */
function hostPage(lines: string): string {
  return `<!doctype html><html lang="en"><title>Host</title><p>Before<script>
    window.told = []; window.events = []; window.resizer = [];
    addEventListener('message', ({ data }) => told.push(data));
    for (const name of ['ready', 'committed', 'close', 'callback']) addEventListener('accord:' + name, (event) => events.push([name, event.detail]));
  </script>${lines}<p>After`;
}

beforeAll(async () => {
  accord = await startPageServer({ renderer, assets }, transactionPage);
  const files = (path: string) => ({ type: 'text/html; charset=utf-8', body: hostPage(path) });
  const three = `<div id="consent"></div>
    <script src="${accord.origin}/assets/embed.js" data-target="#consent" data-src="${accord.origin}/form"></script>`;
  const own = (path: string) => `<iframe id="frame" title="Form" src="${accord.origin}${path}"></iframe>
    <script>${resizerHost}</script>
    <script>iFrameResize({ onMessage: ({ message }) => resizer.push(message), onClose: () => false }, '#frame')</script>`;
  host = await startPageServer({ renderer, assets }, () => null, {
    '/three-lines': files(three),
    '/own-resizer': files(own('/sent#sent')),
    '/own-resizer-form': files(own('/form')),
    '/own-resizer-error': files(own('/error')),
    '/own-resizer-faulty': files(own('/faulty')),
  });
});

afterEach(() => page?.close());
afterAll(async () => {
  await accord?.close();
  await host?.close();
});

async function open(path: string, options: { javaScriptEnabled?: boolean } = {}): Promise<FrameLocator> {
  page = await browser.newPage({ viewport: { width: 800, height: 600 }, ...options });
  await page.goto(`${host.origin.replace('127.0.0.1', 'localhost')}${path}`);
  return page.frameLocator('iframe');
}

const told = () => page.evaluate<unknown[]>('told.filter((data) => typeof data === "object")');
const heardByResizer = () => page.evaluate<unknown[]>('resizer');
const until = (condition: string) => page.waitForFunction(condition);

describe('a form in a page of another site', () => {
  it('is embedded by three lines, fits its content and reports its end', async () => {
    embedding = {};
    const form = await open('/three-lines');
    await form.getByLabel('Accept').check();
    await form.getByLabel('Email').check();
    const fits =
      'Math.abs(document.querySelector("iframe").offsetHeight - 640) > 50 && document.scrollingElement.scrollHeight > 1200';
    await until(fits);
    await form.getByRole('button', { name: 'Send my choices' }).click();
    await form.getByRole('heading', { name: 'Your answers are saved' }).waitFor();
    await until('events.length === 2');
    const detail = { transaction: '6Yd3kQ2mWzX8RtB5vNcJ1a', state: 'COMMITTED' };
    expect(await page.evaluate('events')).toEqual([
      ['ready', { ...detail, state: 'CREATED' }],
      ['committed', detail],
    ]);
    // The reader was far down the form; the shorter page that follows is in view.
    expect(await page.locator('iframe').boundingBox()).toMatchObject({ y: expect.closeTo(0, 0) });
    await form.getByRole('button', { name: 'Close' }).click();
    await page.locator('iframe').waitFor({ state: 'detached' });
    expect(await page.evaluate('events.at(-1)')).toEqual(['close', detail]);
  });

  it('tells iframe-resizer hosts "sent" at once and the callback after its delay', async () => {
    embedding = { callback, callbackTriggerDelay: 300 };
    await open('/own-resizer');
    await until('resizer.length === 2');
    expect(await heardByResizer()).toEqual(['sent', `consent-callback/${callback}`]);
    expect(await told()).toEqual([
      { type: 'accord:state', transaction: '6Yd3kQ2mWzX8RtB5vNcJ1a', state: 'COMMITTED' },
    ]);
  });

  it('says nothing of an end before there is one', async () => {
    embedding = { callback, callbackTriggerDelay: 0 };
    await open('/own-resizer-form');
    await until('told.some((data) => String(data).includes("init"))');
    expect(await heardByResizer()).toEqual([]);
  });

  it('keeps its messages from a page that is not the one it was made for', async () => {
    embedding = { iframeOrigin: 'https://elsewhere.example' };
    const form = await open('/own-resizer');
    await form.getByRole('heading', { name: 'Your answers are saved' }).waitFor();
    expect(await told()).toEqual([]);
    expect(await heardByResizer()).toEqual([]);
  });

  it('says only which kind of error it is when it is one', async () => {
    const form = await open('/own-resizer-error');
    await form.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    expect(await page.evaluate('told')).toEqual([{ type: 'accord:error', code: 'not-found' }]);
  });

  it('has the focus on its summary of faults, as a page of its own has', async () => {
    embedding = {};
    const form = await open('/own-resizer-faulty');
    const summary = form.getByRole('group', { name: '3 answers need your attention' });
    await summary.waitFor();
    await expect
      .poll(() => summary.evaluate((element) => element.ownerDocument.activeElement === element))
      .toBe(true);
    await page.goto(`${accord.origin}/faulty`);
    await page.locator('.notice-fault:focus').waitFor();
  });
});

describe('a form on its own', () => {
  it('goes on to the callback after its delay', async () => {
    embedding = { callback: `${host.origin}/three-lines`, callbackTriggerDelay: 100 };
    page = await browser.newPage();
    await page.goto(`${accord.origin}/sent#sent`);
    await page.waitForURL(`${host.origin}/three-lines`);
  });

  it('stays where the reader wants to stay', async () => {
    embedding = { callback, callbackTriggerDelay: 60_000 };
    page = await browser.newPage();
    await page.goto(`${accord.origin}/sent#sent`);
    await page.getByRole('button', { name: 'Stay on this page' }).click();
    expect(await page.getByText('You will be taken to').isVisible()).toBe(false);
    expect(await page.getByRole('link', { name: 'Continue to localhost:1' }).getAttribute('href')).toBe(
      callback,
    );
  });

  it('says that it can be closed when it cannot close itself', async () => {
    embedding = {};
    page = await browser.newPage();
    await page.goto(`${accord.origin}/sent`);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('You can close this window now.').waitFor();
  });

  it('works without JavaScript from the first choice to the last word', async () => {
    embedding = {};
    accord.posts.length = 0;
    page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(`${accord.origin}/form`);
    await page.getByLabel('Refuse').check();
    await page.getByLabel('Telephone').check();
    await page.getByRole('button', { name: 'Send my choices' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.getByText('You can close this window now.').isVisible()).toBe(true);
    expect(accord.posts).toEqual([
      {
        path: '/sent',
        fields: [
          ['info', 'element/information/information.001/1.0'],
          ['accord-shown', newsletter?.identifier],
          ['accord-shown', channel?.identifier],
          [newsletter?.identifier, 'refused'],
          [channel?.identifier, 'Telephone'],
          ['accord-action', 'submit'],
        ],
      },
    ]);
  });

  it('sends the choices made, and never everything at once, on the Enter key', async () => {
    embedding = {};
    accord.posts.length = 0;
    page = await browser.newPage();
    await page.goto(`${accord.origin}/form`);
    await page.getByLabel('Refuse').check();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your answers are saved' }).waitFor();
    expect(accord.posts[0]?.fields).toContainEqual(['accord-action', 'submit']);
  });
});
