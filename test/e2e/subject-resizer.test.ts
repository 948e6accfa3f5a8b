import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FrameLocator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTransaction, expire } from '../support/instances/live-transactions.ts';
import { type HostSite, startHostSite } from '../support/pages/host-site.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession();
let host: HostSite;

beforeAll(async () => {
  host = await startHostSite();
});
afterAll(() => host?.close());

/** The host part of iframe-resizer 4, as a site has had it for years. */
const resizer = readFileSync(
  path.join(
    path.dirname(fileURLToPath(import.meta.resolve('iframe-resizer/js/iframeResizer.js'))),
    'iframeResizer.min.js',
  ),
  'utf8',
);
const one = { layoutData: { type: 'layout', elements: ['processing.001'] } };
const create = (context: object = {}) =>
  createTransaction(session.operator, { ...one, ...context } as Record<string, unknown>);
const form = (): FrameLocator => session.page.frameLocator('iframe');
const told = <Value>(expression: string) => session.page.evaluate<Value>(expression);
const until = (condition: string) => session.page.waitForFunction(condition);

/** Opens a page that frames a form and listens with iframe-resizer. */
async function frame(url: string): Promise<void> {
  const page =
    host.show(`<iframe id="form" title="Form" width="600" frameborder="0" src="${url}"></iframe><script>${resizer}</script><script>
    iFrameResize({ onMessage: ({ message }) => resizer.push(message), onClose: () => { closing += 1; return false; } }, '#form');
  </script>`);
  await session.open(`${host.origin}${page}`, {}, [host.origin]);
}

async function accept(): Promise<void> {
  await form().getByLabel('Accept').check();
  await form().getByRole('button', { name: 'Send my choices' }).click();
  await form().getByRole('heading', { name: 'Your answers are saved' }).waitFor();
}

/** The form's own script and the resizer's have both said that they are there. */
const isReady = () => until("document.querySelector('iframe').offsetHeight > 200 && told.length > 1");

describe('a site that listens with iframe-resizer', () => {
  it('is told "sent" as soon as the answers are saved, and nothing before', async () => {
    await frame((await create()).url);
    await isReady();
    expect(await told('resizer')).toEqual([]);
    await accept();
    await until('resizer.length > 0');
    expect(await told('resizer')).toEqual(['sent']);
  });

  it('is told the callback after its delay, and not before', async () => {
    const callback = 'https://shop.example/thanks?a=1&b=%C3%A9';
    await frame((await create({ callback })).url);
    await session.page.clock.install();
    await session.page.reload();
    await accept();
    await until('resizer.length > 0');
    await session.page.clock.runFor(2_000);
    expect(await told('resizer')).toEqual(['sent']);
    await session.page.clock.runFor(2_500);
    await until('resizer.length > 1');
    expect(await told('resizer')).toEqual(['sent', `consent-callback/${callback}`]);
    expect(await form().getByRole('heading', { name: 'Your answers are saved' }).isVisible()).toBe(true);
    expect(await told('closing')).toBe(0);
  });

  it('is asked to close when the subject presses Close, and only then', async () => {
    await frame((await create()).url);
    await accept();
    await until('resizer.length > 0');
    expect(await told('closing')).toBe(0);
    await form().getByRole('button', { name: 'Close' }).click();
    await until('closing === 1');
  });

  it('sees the frame fit its content', async () => {
    await frame((await create()).url);
    await isReady();
    const height = () =>
      session.page
        .locator('iframe')
        .evaluate((element) => (element as { offsetHeight: number }).offsetHeight);
    const before = await height();
    await accept();
    await expect.poll(height).not.toBe(before);
    const content = await form()
      .locator('body')
      .evaluate((element) => (element as { offsetHeight: number }).offsetHeight);
    await expect.poll(async () => Math.abs((await height()) - content)).toBeLessThan(3);
  });

  it('is told the same by a form that was made for it alone', async () => {
    const { url } = await create({ iframeOrigin: host.origin });
    await frame(url);
    await accept();
    await until('resizer.length > 0');
    expect(await told('resizer')).toEqual(['sent']);
  });

  it('is told the code of an error page and nothing else', async () => {
    const { id, url } = await create();
    await frame(url);
    await isReady();
    await expire(session.instance, { id });
    await told('void (told.length = 0)');
    await form().getByLabel('Accept').check();
    await form().getByRole('button', { name: 'Send my choices' }).click();
    await form().getByRole('heading', { name: 'The time to answer is over' }).waitFor();
    await form().locator('body.page-error').waitFor();
    const errors = 'told.filter((data) => data.type)';
    expect(await told(errors)).toEqual([{ type: 'accord:error', code: 'expired' }]);
    expect(await told('resizer')).toEqual([]);
    await frame(`${session.instance.url}/consents/${id}?t=garbled`);
    await form().getByRole('heading', { name: 'This link is not valid, or no longer valid' }).waitFor();
    expect(await told(errors)).toEqual([{ type: 'accord:error', code: 'unauthorized' }]);
    expect(await told('resizer')).toEqual([]);
  });

  it('does without iframe-resizer if the layout says so, and is still told where things stand', async () => {
    const { id, url } = await create({ layoutData: { ...one.layoutData, includeIFrameResizer: false } });
    await frame(url);
    await accept();
    await until('told.filter(({ type }) => type).length === 2');
    expect(await told('told.filter(({ type }) => type).at(-1)')).toEqual({
      type: 'accord:state',
      transaction: id,
      state: 'COMMITTED',
    });
    expect(await told('resizer')).toEqual([]);
    expect(await form().locator('script[src*=resizer]').count()).toBe(0);
  });
});

describe('a form that is not embedded', () => {
  it('goes on to the callback after its delay', async () => {
    const { url } = await create({ callback: `${host.origin}/thanks` });
    await session.open(url, {}, [host.origin]);
    await session.page.clock.install();
    await session.page.getByLabel('Accept').check();
    await session.press('Send my choices');
    await session.heading('Your answers are saved');
    await session.page.getByText('You will be taken to').first().waitFor();
    await session.page.clock.runFor(2_000);
    expect(new URL(session.page.url()).origin).toBe(session.instance.url);
    await session.page.clock.runFor(2_500);
    await session.page.waitForURL(`${host.origin}/thanks`);
  });

  it('stays where the subject wants to stay, with the callback as a link', async () => {
    const { url } = await create({ callback: `${host.origin}/thanks`, callbackTriggerDelay: 600_000 });
    await session.open(url, {}, [host.origin]);
    await session.page.getByLabel('Accept').check();
    await session.press('Send my choices');
    await session.press('Stay on this page');
    expect(await session.page.getByText('You will be taken to').count()).toBe(0);
    await session.page.getByRole('link', { name: `Continue to ${new URL(host.origin).host}` }).click();
    await session.page.waitForURL(`${host.origin}/thanks`);
  });

  it('leads to the callback by a link where there is no JavaScript', async () => {
    const { url } = await create({ callback: `${host.origin}/thanks`, callbackTriggerDelay: 0 });
    await session.open(url, { javaScriptEnabled: false }, [host.origin]);
    await session.page.getByLabel('Refuse').check();
    await session.press('Send my choices');
    await session.page.getByRole('link', { name: 'Continue to' }).click();
    await session.page.waitForURL(`${host.origin}/thanks`);
  });

  it.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,hello',
    '//shop.example',
  ])('has no callback %j', async (callback) => {
    const response = await session.operator.send('POST', '/consents', { subject: 'alice', ...one, callback });
    expect(response.status).toBe(422);
  });
});
