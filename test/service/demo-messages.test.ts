import { afterAll, describe, expect, it, vi } from 'vitest';
import { type Caller, createKey } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop: Caller = useSetup(() => createKey(instance));
const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

interface Kept {
  to: string;
  channel: string;
  subject?: string;
  text: string;
}

const kept = async () => (await (await instance.fetch('/demo/messages')).json()) as Kept[];
const invite = (emailAddress: string) =>
  createTransaction(shop, { sendInvitation: true, subjectInfos: { emailAddress } });

describe('the messages of a demonstration', () => {
  it('are shown newest first, as JSON and as a page, and never sent', async () => {
    await invite('first@example.org');
    await vi.waitFor(async () => expect(await kept()).toHaveLength(1), { timeout: 20_000 });
    const made = await invite('second@example.org');
    await vi.waitFor(async () => expect(await kept()).toHaveLength(2), { timeout: 20_000 });
    expect((await kept()).map(({ to }) => to)).toEqual(['second@example.org', 'first@example.org']);
    expect((await kept())[0]).toMatchObject({ channel: 'mail', subject: expect.any(String) });
    expect((await kept())[0]?.text).toContain(`/consents/${made.id}?t=`);
    const page = await instance.fetch('/demo/messages', { headers: { Accept: 'text/html' } });
    expect(await page.text()).toMatch(/second@example\.org[\s\S]*first@example\.org/);
  });

  it('are linked from the first page', async () => {
    const page = await instance.fetch('/', { headers: { Accept: 'text/html' } });
    expect(await page.text()).toContain('href="/demo/messages"');
  });

  it('do not exist if mail and SMS are configured', async () => {
    const settings = { MAIL_URL: 'smtp://localhost:2525', SMS_URL: 'http://localhost:2526' };
    const other = await startTestInstance(settings);
    stops.push(() => other.stop());
    expect((await other.fetch('/demo/messages')).status).toBe(404);
  });
});
