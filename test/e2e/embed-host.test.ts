import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FrameLocator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { createTransaction, expire } from '../support/instances/live-transactions.ts';
import { reactBody, vueBody } from '../support/pages/framework-page.ts';
import { type HostSite, startHostSite } from '../support/pages/host-site.ts';
import { subjectSession } from '../support/pages/subject-session.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const session = subjectSession();
let host: HostSite;
beforeAll(async () => {
  host = await startHostSite();
});
afterAll(() => host?.close());

const one = { layoutData: { type: 'layout', elements: ['processing.001'] } };
const create = (context: object = {}) =>
  createTransaction(session.operator, { ...one, ...context } as Record<string, unknown>);
const form = (): FrameLocator => session.page.frameLocator('iframe');
const until = (condition: string) => session.page.waitForFunction(condition);
const told = <Value>(expression: string) => session.page.evaluate<Value>(expression);

const open = (body: string) => session.open(`${host.origin}${host.show(body)}`, {}, [host.origin]);
const scriptTag = (url: string, attributes = '') =>
  `<div id="consent"></div><script src="${session.instance.url}/assets/embed.js" data-target="#consent" data-src="${url}" ${attributes}></script>`;

async function accept(): Promise<void> {
  await form().getByLabel('Accept').check();
  await form().getByRole('button', { name: 'Send my choices' }).click();
}

/** `listeners` holds what the script has added to the window and the document and has not removed. */
const watchListeners = `<script>
  window.listeners = [];
  for (const target of [window, document]) {
    const { addEventListener, removeEventListener } = target;
    target.addEventListener = (...args) => {
      if (new Error().stack.includes('/assets/embed')) listeners.push(args);
      return addEventListener.apply(target, args);
    };
    target.removeEventListener = (...args) => {
      listeners = listeners.filter(([type, listener]) => type !== args[0] || listener !== args[1]);
      return removeEventListener.apply(target, args);
    };
  }
</script>`;

describe('an embedded form', () => {
  it('is taken away with every listener, and without an event', async () => {
    const { url } = await create();
    await open(`${watchListeners}<div id="consent"></div><script src="${session.instance.url}/assets/embed.js"></script>
      <script>window.form = Accord.embed('#consent', ${JSON.stringify(url)})</script>`);
    await until("events.some(([name]) => name === 'ready')");
    expect(await told('listeners.length')).toBe(1);
    expect(await told('form.frame === document.querySelector("iframe")')).toBe(true);
    await told('form.remove(), form.remove()');
    expect(await session.page.locator('iframe').count()).toBe(0);
    expect(await told('listeners.length')).toBe(0);
    expect(await told('events.map(([name]) => name)')).toEqual(['ready']);
  });

  it('fits its content', async () => {
    const { url } = await create();
    await open(scriptTag(url));
    const heights = () =>
      Promise.all(
        [session.page.locator('iframe'), form().locator('body')].map((each) =>
          each.evaluate((element) => (element as { offsetHeight: number }).offsetHeight),
        ),
      );
    await expect
      .poll(async () => Math.abs(((await heights())[0] ?? 0) - ((await heights())[1] ?? 9e9)))
      .toBeLessThan(3);
  });

  it('begins at the address of a form, without a server of the page', async () => {
    const admin = await signIn(session.instance, 'admin');
    const content = { ...one.layoutData, public: { identify: 'ANONYMOUS' } };
    const { key } = await makeLiveModel(admin, 'layout', { en: content });
    await open(scriptTag(`${session.instance.url}/f/${key}`));
    await until('parseFloat(document.querySelector("iframe").style.height) > 200');
    expect(await told('events.map(([name]) => name)')).toEqual([]);
    await form().getByRole('button', { name: 'Go to the form' }).click();
    await accept();
    await until("events.some(([name]) => name === 'committed')");
    expect(await told('events.map(([name]) => name)')).toEqual(['ready', 'committed']);
  });

  it('works as a module of another origin', async () => {
    const { id, url } = await create();
    await open(`<div id="consent"></div><script type="module">
      import { embed } from '${session.instance.url}/assets/embed.mjs';
      embed(document.querySelector('#consent'), ${JSON.stringify(url)});</script>`);
    await accept();
    await until('events.length === 2');
    expect(await told('events[1]')).toEqual(['committed', { transaction: id, state: 'COMMITTED' }]);
  });

  it.each(['script', 'module'] as const)(
    'works with the integrity that embed.json names for the %s',
    async (kind) => {
      const reply = await session.instance.fetch('/assets/embed.json');
      const named = (await reply.json()) as Record<string, Record<string, string>>;
      const { src = '', integrity } = named[kind] ?? {};
      const { url } = await create();
      const address = `${session.instance.url}${src}`;
      const attributes = `src="${address}" integrity="${integrity}" crossorigin="anonymous"`;
      await open(
        kind === 'script'
          ? `<div id="consent"></div><script ${attributes} data-target="#consent" data-src="${url}"></script>`
          : `<div id="consent"></div><link rel="modulepreload" href="${address}" integrity="${integrity}" crossorigin="anonymous">
           <script type="module">import { embed } from '${address}'; embed('#consent', ${JSON.stringify(url)});</script>`,
      );
      await until('events.length === 1');
      const file = await session.instance.fetch(src);
      expect(file.headers.get('cache-control')).toContain('immutable');
    },
  );
});

describe('a component of docs/embedding.md', () => {
  it('for React is mounted once by StrictMode, reports the end, and is gone when it is unmounted', async () => {
    const { url } = await create();
    await open(`${reactBody(url)}`);
    await until("heard.includes('accord:ready')");
    expect(await session.page.locator('iframe').count()).toBe(1);
    await accept();
    await until("heard.includes('accord:committed')");
    await told('unmount()');
    expect(await session.page.locator('iframe').count()).toBe(0);
    expect(await told('heard')).toEqual(['accord:ready', 'accord:committed']);
    expect(await told('events.map(([name]) => name)')).toEqual(['ready', 'committed']);
  });

  it('for Vue reports the end to its parent, and is gone when it is unmounted', async () => {
    const { url } = await create();
    await open(vueBody(url));
    await accept();
    await until("heard.includes('accord:committed')");
    await told('unmount()');
    expect(await session.page.locator('iframe').count()).toBe(0);
    expect(await told('heard')).toEqual(['accord:ready', 'accord:committed']);
  });
});

describe('a form that cannot be shown', () => {
  it('tells the code of its error page: a token that is not valid', async () => {
    const { id } = await create();
    await open(scriptTag(`${session.instance.url}/consents/${id}?t=garbled`));
    await until('events.length === 1');
    expect(await told('events')).toEqual([['error', { code: 'unauthorized' }]]);
  });

  it('tells the code of its error page: an answer after the deadline', async () => {
    const transaction = await create();
    await open(scriptTag(transaction.url));
    await until('events.length === 1');
    await expire(session.instance, transaction);
    await accept();
    await until("events.some(([name]) => name === 'error' || name === 'timeout')");
    expect(await told('events[1]')).toEqual(['error', { code: 'expired' }]);
  });

  it('is told apart from one that was opened after the deadline, which is a state', async () => {
    const transaction = await create();
    await expire(session.instance, transaction);
    await open(scriptTag(transaction.url));
    await until('events.length === 1');
    expect(await told('events')).toEqual([['timeout', { transaction: transaction.id, state: 'TIMEOUT' }]]);
  });

  /** Opens a page in which the browser blocks the frame, which the console says. */
  async function blocked(url: string, whenOpen: (page: Page) => Promise<void>): Promise<void> {
    const page = await session.browser.newPage();
    try {
      await page.clock.install();
      await page.goto(url, { waitUntil: 'load' });
      await page.waitForFunction("document.querySelector('iframe')");
      await whenOpen(page);
    } finally {
      await page.close();
    }
  }
  const events = 'events.map(([name]) => name)';

  it('is unreachable within 10 s: made for another origin', async () => {
    const { url } = await create({ iframeOrigin: host.origin });
    await blocked(`${host.otherOrigin}${host.show(scriptTag(url))}`, async (page) => {
      await page.clock.runFor(8_000);
      expect(await page.evaluate(events)).toEqual([]);
      await page.clock.runFor(2_000);
      expect(await page.evaluate(events)).toEqual(['unreachable']);
    });
  });

  it('is unreachable within 10 s: in a file', async () => {
    const { url } = await create({ iframeOrigin: host.origin });
    const file = path.join(await temporaryFolder(), 'page.html');
    await writeFile(
      file,
      `<!doctype html><title>File</title><script>window.events = [];
       for (const name of ['ready', 'error', 'unreachable']) addEventListener('accord:' + name, (event) => events.push([name, event.detail]));
       </script>${scriptTag(url)}`,
    );
    await blocked(pathToFileURL(file).href, async (page) => {
      await page.clock.runFor(10_000);
      expect(await page.evaluate(events)).toEqual(['unreachable']);
    });
  });

  it('is not unreachable once it was shown or was removed', async () => {
    const { url } = await create();
    await open(`<div id="consent"></div><script src="${session.instance.url}/assets/embed.js"></script>`);
    await session.page.clock.install();
    await told(`void (window.form = Accord.embed('#consent', ${JSON.stringify(url)}))`);
    await until('events.length === 1');
    await told(`Accord.embed('#consent', ${JSON.stringify(url)}).remove()`);
    await session.page.clock.runFor(20_000);
    expect(await told(events)).toEqual(['ready']);
  });
});

describe('a form in a window of its own', () => {
  const opener = (url: string) =>
    host.show(
      `<button onclick="window.open(${JSON.stringify(url).replaceAll('"', '&quot;')})">Open</button>`,
    );

  async function openWindow(origin: string, url: string): Promise<Page> {
    await session.open(`${origin}${opener(url)}`, {}, [host.origin, host.otherOrigin]);
    const [popup] = await Promise.all([
      session.page.waitForEvent('popup'),
      session.page.getByRole('button').click(),
    ]);
    await popup.getByLabel('Accept').check();
    await popup.getByRole('button', { name: 'Send my choices' }).click();
    await popup.getByRole('heading', { name: 'Your answers are saved' }).waitFor();
    return popup;
  }

  it('tells the page that opened it, if the transaction names its origin', async () => {
    const { id, url } = await create({ iframeOrigin: host.origin });
    await openWindow(host.origin, url);
    await until('told.length === 2');
    expect(await told('told')).toEqual(
      ['CREATED', 'COMMITTED'].map((state) => ({ type: 'accord:state', transaction: id, state })),
    );
  });

  it.each(['no origin', 'another origin'])('tells nobody if it names %s', async (named) => {
    const { url } = await create(named === 'no origin' ? {} : { iframeOrigin: 'https://elsewhere.example' });
    const popup = await openWindow(host.origin, url);
    // A message of the test's own comes after those of the page.
    await popup.evaluate("opener.postMessage('last', '*')");
    await until("told.includes('last')");
    expect(await told('told')).toEqual(['last']);
  });
});
