import type { FrameLocator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { createTransaction, expire } from '../support/instances/live-transactions.ts';
import { type HostSite, startHostSite } from '../support/pages/host-site.ts';
import { subjectSession } from '../support/pages/subject-session.ts';
import type { OpenBrowser } from '../support/pages/use-browser.ts';

const session = subjectSession();
let host: HostSite;

beforeAll(async () => {
  host = await startHostSite();
});
afterAll(() => host?.close());

const letter = 'The programme letter';
const one = { layoutData: { type: 'layout', elements: ['processing.001'] } };
const accepted = { 'element/processing/processing.001/1.0': ['accepted'] };
const create = (context: object = {}) =>
  createTransaction(session.operator, { ...one, ...context } as Record<string, unknown>);
const form = (): FrameLocator => session.page.frameLocator('iframe');
const told = <Value>(expression: string) => session.page.evaluate<Value>(expression);
const until = (condition: string) => session.page.waitForFunction(condition);
const events = () => told<[string, Record<string, string>][]>('events');

/** Opens a page of the host that embeds a form with three lines. @param more a script of the host's own. */
async function embed(url: string, more = '', options = {}): Promise<void> {
  const path = host.show(`<h1>My account</h1><div id="consent"></div>
    <script src="${session.instance.url}/assets/embed.js" data-target="#consent" data-src="${url}"></script>${more}<p>After`);
  await session.open(`${host.origin}${path}`, options, [host.origin]);
}

async function send(): Promise<void> {
  await form().getByLabel('Accept').check();
  await form().getByRole('button', { name: 'Send my choices' }).click();
}

async function accept(): Promise<void> {
  await send();
  await form().getByRole('heading', { name: 'Your answers are saved' }).waitFor();
}

describe('a form embedded by three lines in a page of another site', () => {
  it('is as high as its content, whatever happens in it', async () => {
    const { url } = await createTransaction(session.operator);
    await embed(url);
    await form().getByRole('button', { name: 'Save my choices' }).waitFor();
    const fits = async () => {
      const frame = await session.page
        .locator('iframe')
        .evaluate((element) => (element as { offsetHeight: number }).offsetHeight);
      const content = await form()
        .locator('body')
        .evaluate((element) => (element as { offsetHeight: number }).offsetHeight);
      return Math.abs(frame - content);
    };
    const height = () =>
      session.page
        .locator('iframe')
        .evaluate((element) => (element as { offsetHeight: number }).offsetHeight);
    await expect.poll(fits).toBeLessThan(3);
    const closed = await height();
    await form().locator('details:not(.languages) > summary').first().click();
    await expect.poll(height).toBeGreaterThan(closed + 40);
    await expect.poll(fits).toBeLessThan(3);
    await form().getByRole('button', { name: 'Save my choices' }).click();
    await form().getByRole('group', { name: '2 answers need your attention' }).waitFor();
    await expect.poll(fits).toBeLessThan(3);
    await session.page.setViewportSize({ width: 340, height: 600 });
    await expect.poll(fits).toBeLessThan(3);
  });

  it('tells that it is ready, answered and to be closed, and closes, without a word in the console', async () => {
    const { id, url } = await create();
    const said: string[] = [];
    session.browser.once('context', (context) =>
      context.on('console', (message) => said.push(message.text())),
    );
    await embed(url);
    await accept();
    await until('events.length === 2');
    await form().getByRole('button', { name: 'Close' }).click();
    await session.page.locator('iframe').waitFor({ state: 'detached' });
    expect(await events()).toEqual([
      ['ready', { transaction: id, state: 'CREATED' }],
      ['committed', { transaction: id, state: 'COMMITTED' }],
      ['close', { transaction: id, state: 'COMMITTED' }],
    ]);
    expect(said).toEqual([]);
  });

  it('stays if the page wants to keep it', async () => {
    const { url } = await create();
    await embed(url, "<script>kept.push('close')</script>");
    await accept();
    await form().getByRole('button', { name: 'Close' }).click();
    await until("events.at(-1)[0] === 'close'");
    expect(await session.page.locator('iframe').count()).toBe(1);
  });

  it('tells that it was cancelled, or that the time was over', async () => {
    const layoutData = { ...one.layoutData, cancelVisible: true };
    const { id, url } = await create({ layoutData, cancellable: true });
    await embed(url);
    await form().getByRole('button', { name: 'Cancel' }).click();
    await until("events.at(-1)[0] === 'cancelled'");
    expect((await events()).at(-1)).toEqual(['cancelled', { transaction: id, state: 'CANCELLED' }]);
    const late = await create();
    await expire(session.instance, late);
    await embed(late.url);
    await until('events.length === 1');
    expect(await events()).toEqual([['timeout', { transaction: late.id, state: 'TIMEOUT' }]]);
  });

  it('takes the page to the callback when its delay is over', async () => {
    const { url } = await create({ callback: `${host.origin}/thanks`, callbackTriggerDelay: 200 });
    await embed(url);
    // Its final page is shown for that long only.
    await send();
    await session.page.waitForURL(`${host.origin}/thanks`);
  });

  it('leaves the page where it is if the page wants to stay', async () => {
    const callback = `${host.origin}/thanks?order=7`;
    const { id, url } = await create({ callback, callbackTriggerDelay: 100 });
    await embed(url, "<script>kept.push('callback')</script>");
    await accept();
    await until("events.at(-1)[0] === 'callback'");
    expect((await events()).at(-1)).toEqual([
      'callback',
      { transaction: id, state: 'COMMITTED', url: callback },
    ]);
    expect(new URL(session.page.url()).pathname).not.toBe('/thanks');
  });

  it('never tells what was answered, nor by whom', async () => {
    const { subject, url } = await createTransaction(session.operator);
    await embed(url);
    await form().getByRole('group', { name: letter }).getByLabel('Accept').check();
    await form().getByRole('group', { name: 'A study of our audience' }).getByLabel('Refuse').check();
    await form().getByLabel('Once a month').check();
    await form().getByRole('button', { name: 'Save my choices' }).click();
    await until("events.at(-1)[0] === 'committed'");
    const heard = JSON.stringify([await told('told'), await events()]);
    expect(heard).toContain('COMMITTED');
    for (const secret of [subject, 'accepted', 'refused', 'processing', 'Once a month', '?t='])
      expect(heard).not.toContain(secret);
  });

  it('can be answered without JavaScript', async () => {
    const { url } = await create();
    const path = host.show(`<iframe title="Form" src="${url}"></iframe>`);
    await session.open(`${host.origin}${path}`, { javaScriptEnabled: false }, [host.origin]);
    await accept();
  });
});

describe('a form made for one page', () => {
  const frame = (url: string) => host.show(`<iframe title="Form" src="${url}"></iframe>`);

  it('is shown by that page, which alone is told', async () => {
    const { id, url } = await create({ iframeOrigin: host.origin });
    await session.open(`${host.origin}${frame(url)}`, {}, [host.origin]);
    await accept();
    await until('told.filter(({ type }) => type).length === 2');
    expect(await told('told.filter(({ type }) => type)')).toEqual([
      { type: 'accord:state', transaction: id, state: 'CREATED' },
      { type: 'accord:state', transaction: id, state: 'COMMITTED' },
    ]);
  });

  it('is not shown by any other page', async () => {
    const { url } = await create({ iframeOrigin: host.origin });
    const page = await refusedPage(session.browser, `${host.otherOrigin}${frame(url)}`);
    expect(await page.evaluate('told')).toEqual([]);
    expect(await page.frameLocator('iframe').getByText(letter).count()).toBe(0);
    await page.close();
  });

  it('keeps its result from other pages, too', async () => {
    const transaction = await create({ iframeOrigin: host.origin });
    const { id, token } = transaction;
    await session.operator.send('POST', `/consents/${id}/submit?t=${token}`, accepted);
    const page = await refusedPage(session.browser, `${host.otherOrigin}${frame(transaction.url)}`);
    expect(await page.evaluate('told')).toEqual([]);
    await page.close();
  });
});

describe('a themed form', () => {
  it('has the colours and the logo of its theme, wherever it is embedded', async () => {
    const content = { name: 'Plum', css: ':root { --accord-accent: #7a1f5c; } h1 { letter-spacing: 3px; }' };
    const theme = await makeLiveModel(session.admin, 'theme', { en: content });
    await session.open(session.instance.url);
    const image = await session.page.screenshot({ clip: { x: 0, y: 0, width: 90, height: 30 } });
    const upload = await session.instance.fetch(`/models/${theme.id}/logo`, {
      method: 'PUT',
      headers: { ...session.admin.headers, 'Content-Type': 'image/png' },
      body: new Uint8Array(image),
    });
    const { logoPath } = (await upload.json()) as { logoPath: string };
    const logo = { logoPath, logoAltText: 'The plum tree', logoPosition: 'RIGHT' };
    await activateContent(session.admin, theme, { en: { ...content, ...logo } });
    await embed((await create({ theme: theme.key })).url);
    const shown = form().getByRole('img', { name: 'The plum tree' });
    await expect.poll(() => shown.evaluate((img) => (img as { naturalWidth: number }).naturalWidth)).toBe(90);
    expect(await form().locator('h1').evaluate(styleOf, 'letterSpacing')).toBe('3px');
    const themed = await form().locator('button.primary').evaluate(styleOf, 'backgroundColor');
    await embed((await create()).url);
    expect(await form().locator('button.primary').evaluate(styleOf, 'backgroundColor')).not.toBe(themed);
  });
});

describe('the demonstration', () => {
  it.each(['localhost', '127.0.0.1'])('shows a form that can be answered in place, at %s', async (name) => {
    const address = session.instance.url.replace('localhost', name);
    for (const page of ['/', '/demo']) {
      await session.open(`${address}${page}`, {}, [address]);
      await form().getByRole('group', { name: letter }).getByLabel('Refuse').check();
      await form().getByRole('group', { name: 'A study of our audience' }).getByLabel('Refuse').check();
      await form().getByLabel('Once a month').check();
      await form().getByRole('button', { name: 'Save my choices' }).click();
      await form().getByRole('heading', { name: 'Your answers are saved' }).waitFor();
    }
    await session.page.locator('#events li', { hasText: 'accord:committed' }).waitFor();
  });
});

/** Opens a page whose frame its browser refuses to show, and waits until it has. */
async function refusedPage(browser: OpenBrowser, url: string): Promise<Page> {
  const page = await browser.newPage();
  const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
  await page.goto(url);
  await refused;
  return page;
}

function styleOf(element: object, property: string): string | undefined {
  const { ownerDocument } = element as {
    ownerDocument: { defaultView: { getComputedStyle(node: object): Record<string, string> } };
  };
  return ownerDocument.defaultView.getComputedStyle(element)[property];
}
