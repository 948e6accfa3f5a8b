import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FrameLocator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { type HostSite, startHostSite } from '../support/pages/host-site.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession();
let host: HostSite;

beforeAll(async () => {
  host = await startHostSite();
});
afterAll(() => host?.close());

const resizer = readFileSync(
  path.join(
    path.dirname(fileURLToPath(import.meta.resolve('iframe-resizer/js/iframeResizer.js'))),
    'iframeResizer.min.js',
  ),
  'utf8',
);
const thanks = () => `${host.origin}/thanks`;
const create = (context: object = {}) =>
  createTransaction(session.operator, {
    layoutData: { type: 'layout', elements: ['processing.001'], cancelVisible: true },
    callback: thanks(),
    cancellable: true,
    ...context,
  });

/** Answers a form, so that its final page counts down while the browser's clock stands still. */
async function answer(url: string): Promise<void> {
  await session.open(url, {}, [host.origin]);
  await session.page.clock.install();
  await session.page.getByLabel('Accept').check();
  await session.press('Send my choices');
  await session.heading('Your answers are saved');
  await note().waitFor();
}

const note = (page: Page | FrameLocator = session.page) => page.getByRole('status').filter({ hasText: /./ });
/** What the note shows, which is not what it says aloud. */
const secondsLeft = async () => Number(/(\d+) second/.exec(await note().innerText())?.[1]);
const isOurs = () => new URL(session.page.url()).origin === session.instance.url;
const later = () => session.page.clock.runFor(60_000);

describe('a final page with a callback, after the answers were sent', () => {
  it('says directly under its title where it goes and when, and counts down', async () => {
    await answer((await create({ callbackTriggerDelay: 100_000 })).url);
    expect(await note().innerText()).toContain(`You will be taken to ${new URL(host.origin).host} in `);
    expect(await secondsLeft()).toBeGreaterThan(60);
    await session.page.clock.runFor(50_000);
    expect(await secondsLeft()).toBeLessThanOrEqual(50);
    expect(await session.page.locator('h1 + .follow [role=status]').count()).toBe(1);
    await session.page.clock.runFor(50_000);
    await session.page.waitForURL(thanks());
  });

  it('is read out once, not every second', async () => {
    await answer((await create({ callbackTriggerDelay: 100_000 })).url);
    const exposed = () => note().ariaSnapshot();
    const before = await exposed();
    expect(before).toMatch(/in \d+ seconds\./);
    await session.page.clock.runFor(20_000);
    expect(await exposed()).toBe(before);
    expect(await secondsLeft()).toBeLessThanOrEqual(80);
  });

  it.each<[string, (page: Page) => Promise<void>]>([
    [
      'presses "Stay on this page"',
      (page) => page.getByRole('button', { name: 'Stay on this page' }).click(),
    ],
    ['presses a key', (page) => page.keyboard.press('Shift')],
    ['presses the pointer anywhere', (page) => page.locator('h1').click()],
    ['turns the wheel', (page) => page.mouse.wheel(0, 100)],
    ['moves the focus', (page) => page.getByRole('button', { name: 'Close' }).focus()],
  ])('stays for good when the person %s', async (_, act) => {
    await answer((await create({ callbackTriggerDelay: 50_000 })).url);
    await act(session.page);
    await session.page.getByText('You stay on this page.').first().waitFor();
    await later();
    expect(isOurs()).toBe(true);
    await session.heading('Your answers are saved');
  });

  it('does not move anything below a pointer that is pressed', async () => {
    await answer((await create()).url);
    const close = session.button('Close');
    const before = await close.boundingBox();
    await session.page.locator('h1').click();
    expect(await close.boundingBox()).toEqual(before);
  });

  it('does not go on by itself when the person comes back to it', async () => {
    await answer((await create()).url);
    await session.page.clock.runFor(5_000);
    await session.page.waitForURL(thanks());
    await session.page.goBack();
    await session.heading('Your answers are saved');
    await later();
    expect(isOurs()).toBe(true);
    expect(await note().count()).toBe(0);
  });

  it('does not go on by itself when it is loaded again or its address is opened once more', async () => {
    await answer((await create()).url);
    const address = session.page.url();
    await session.page.locator('h1').click();
    await session.page.reload();
    await session.heading('Your answers are saved');
    await later();
    expect(isOurs()).toBe(true);
    await session.open(address, {}, [host.origin]);
    await session.page.clock.install();
    await session.heading('Your answers are saved');
    await later();
    expect(isOurs()).toBe(true);
    expect(await note().count()).toBe(0);
    expect(await session.page.getByRole('link', { name: 'Continue to' }).getAttribute('href')).toBe(thanks());
  });

  it('goes on after a cancellation, too', async () => {
    await session.open((await create({ callbackTriggerDelay: 100 })).url, {}, [host.origin]);
    await session.press('Cancel');
    await session.page.waitForURL(thanks());
  });

  it('is a link and nothing timed without JavaScript', async () => {
    const { url } = await create({ callbackTriggerDelay: 0 });
    await session.open(url, { javaScriptEnabled: false }, [host.origin]);
    await session.page.getByLabel('Refuse').check();
    await session.press('Send my choices');
    await session.heading('Your answers are saved');
    expect(await session.button('Stay on this page').count()).toBe(0);
    expect(await session.page.locator('meta[http-equiv=refresh]').count()).toBe(0);
    await session.page.getByRole('link', { name: 'Continue to' }).click();
    await session.page.waitForURL(thanks());
  });
});

describe('an embedded final page with a callback', () => {
  const form = () => session.page.frameLocator('iframe');
  const told = <Value>(expression: string) => session.page.evaluate<Value>(expression);

  async function answerInFrame(url: string): Promise<void> {
    const page =
      host.show(`<iframe id="form" title="Form" width="600" src="${url}"></iframe><script>${resizer}</script><script>
      iFrameResize({ onMessage: ({ message }) => resizer.push(message), onClose: () => false }, '#form');
    </script>`);
    await session.open(`${host.origin}${page}`, {}, [host.origin]);
    await session.page.clock.install();
    await session.page.reload();
    await form().getByLabel('Accept').check();
    await form().getByRole('button', { name: 'Send my choices' }).click();
    await session.page.waitForFunction('resizer.length > 0');
  }

  it('shows the same note, and tells the host after the delay', async () => {
    await answerInFrame((await create()).url);
    expect(await note(form()).innerText()).toMatch(/in [1-4] seconds?\./);
    await session.page.clock.runFor(4_500);
    await session.page.waitForFunction('resizer.length > 1');
    expect(await told('resizer')).toEqual(['sent', `consent-callback/${thanks()}`]);
  });

  it('leaves the host where it is when the person stays, and tells it so', async () => {
    await answerInFrame((await create()).url);
    await form().getByRole('button', { name: 'Stay on this page' }).click();
    await session.page.waitForFunction("told.some(({ type }) => type === 'accord:stay')");
    await later();
    expect(await told('resizer')).toEqual(['sent']);
  });

  it('never says that a window can be closed', async () => {
    await answerInFrame((await create({ callback: undefined })).url);
    await form().getByRole('button', { name: 'Close' }).click();
    await form().getByText('You have finished here.').waitFor();
    expect(await form().getByText('You can close this window').count()).toBe(0);
  });
});
