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

const create = (context: object = {}) =>
  createTransaction(session.operator, {
    layoutData: { type: 'layout', elements: ['processing.001'] },
    ...context,
  } as Record<string, unknown>);
const form = (): FrameLocator => session.page.frameLocator('iframe');
const eventNames = () => session.page.evaluate<string[]>('events.map(([name]) => name)');
const heading = (name: string) => form().getByRole('heading', { name, level: 1 }).waitFor();

/** Makes a host page that its browser isolates from other origins. */
function pathOf(policy: string, url: string): string {
  const body = `<div id="consent"></div><script src="${session.instance.url}/assets/embed.js" data-target="#consent" data-src="${url}"></script>`;
  return host.show(body, {
    'Cross-Origin-Embedder-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
  });
}

async function openIn(policy: string, url: string): Promise<void> {
  await session.open(`${host.origin}${pathOf(policy, url)}`, {}, [host.origin]);
  expect(await session.page.evaluate('crossOriginIsolated')).toBe(true);
  await session.page.waitForFunction('events.length > 0');
}

async function accept(): Promise<void> {
  await form().getByLabel('Accept').check();
  await form().getByRole('button', { name: 'Send my choices' }).click();
}

describe.each(['require-corp', 'credentialless'])('in a page that is isolated by %s', (policy) => {
  it('a form is shown, sent, and followed by its result and its receipt', async () => {
    await openIn(policy, (await create()).url);
    await accept();
    await session.page.waitForFunction('events.length > 1');
    expect(await eventNames()).toEqual(['ready', 'committed']);
    await heading('Your answers are saved');
    await form().locator('a.button[href*="/receipts/"]:not([href*="format="])').click();
    await form().locator('.page-receipt h1').waitFor();
  });

  it('the page for a code is shown', async () => {
    const subjectInfos = { emailAddress: 'ann@example.org' };
    await openIn(policy, (await create({ confirmation: 'EMAIL_CODE', subjectInfos })).url);
    await accept();
    await form().getByRole('textbox').waitFor();
  });

  it('error pages are shown: a token that is not valid, and a form that is too late', async () => {
    const { id } = await create();
    await openIn(policy, `${session.instance.url}/consents/${id}?t=garbled`);
    expect(await eventNames()).toEqual(['error']);
    const late = await create();
    await expire(session.instance, late);
    await openIn(policy, late.url);
    expect(await eventNames()).toEqual(['timeout']);
  });

  it('the page of a request with too many headers is shown, and its cause is told', async () => {
    const { url } = await create();
    const page = await session.browser.newPage();
    await page.goto(`${host.origin}${pathOf(policy, `${url}&padding=${'x'.repeat(33_000)}`)}`);
    await page.waitForFunction('events.length > 0');
    expect(await page.evaluate('events[0]')).toEqual(['error', { code: 'too-large' }]);
    await page.frameLocator('iframe').getByRole('heading', { name: 'Header Fields Too Large' }).waitFor();
    await page.close();
  });
});
