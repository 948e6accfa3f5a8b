import { afterAll, describe, expect, it, vi } from 'vitest';
import { type Caller, createKey } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { complete } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { leadsTo, linkIn } from '../support/network/mail-server.ts';
import { type Element, type ParsedPage, parsePage } from '../support/pages/parse-page.ts';
import { patience } from '../support/run/patience.ts';

const instance = useInstance();
const shop: Caller = useSetup(() => createKey(instance));
const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

interface Kept {
  to: string;
  channel: string;
  subject?: string;
  text: string;
  attachments: string[];
}

const kept = async () => (await (await instance.fetch('/demo/messages')).json()) as Kept[];
const openPage = () => instance.fetch('/demo/messages', { headers: { Accept: 'text/html' } });
const invite = (emailAddress: string) =>
  createTransaction(shop, { sendInvitation: true, subjectInfos: { emailAddress } });
/** Waits until no message is on its way. */
const allSent = () =>
  vi.waitFor(async () => {
    expect(await rowsOf(instance, `SELECT FROM transactions.messages WHERE state = 'PENDING'`)).toEqual([]);
  }, patience);
/** The newest message on the page. */
function newestOn(page: ParsedPage): Element | undefined {
  return page.tagged('section').find(({ attribs }) => attribs.class === 'message');
}

describe('the messages of a demonstration', () => {
  it('are shown newest first, as JSON and as a page, and never sent', async () => {
    await invite('first@example.org');
    await vi.waitFor(async () => expect(await kept()).toHaveLength(1), patience);
    const made = await invite('second@example.org');
    await vi.waitFor(async () => expect(await kept()).toHaveLength(2), patience);
    expect((await kept()).map(({ to }) => to)).toEqual(['second@example.org', 'first@example.org']);
    expect((await kept())[0]).toMatchObject({ channel: 'mail', subject: expect.any(String) });
    const [invitation = {}] = await kept();
    expect(await leadsTo(linkIn(invitation))).toContain(`/consents/${made.id}?t=`);
    expect(await (await openPage()).text()).toMatch(/second@example\.org[\s\S]*first@example\.org/);
  });

  it('are mails as they look, in a frame without scripts, with the names of their attachments', async () => {
    const subjectInfos = { emailAddress: 'third@example.org' };
    const made = await createTransaction(shop, { notification: 'email.001', subjectInfos });
    await shop.send('POST', `/consents/${made.id}/submit`, complete);
    await vi.waitFor(async () => expect((await kept())[0]?.to).toBe('third@example.org'), patience);
    const [{ subject = '', attachments } = {}] = await kept();
    expect(attachments).toEqual(['receipt.pdf']);
    const response = await openPage();
    // The frame has the policy of the page.
    expect(response.headers.get('content-security-policy')).toContain("style-src 'self' 'unsafe-inline'");
    const page = parsePage(await response.text());
    const shown = page.text(newestOn(page));
    for (const text of [subject, 'third@example.org', 'receipt.pdf']) expect(shown).toContain(text);
    const [frame] = page.tagged('iframe');
    expect(frame?.attribs.sandbox).not.toContain('allow-scripts');
    const mail = parsePage(frame?.attribs.srcdoc ?? '');
    const button = mail.tagged('a').find(({ attribs }) => attribs.href?.includes('/l/'));
    expect(button?.attribs.style).toContain('color:');
  });

  it('are text messages as text', async () => {
    const subjectInfos = { phoneNumber: '+33639981234' };
    const made = await createTransaction(shop, { confirmation: 'SMS_CODE', subjectInfos });
    await shop.send('POST', `/consents/${made.id}/submit`, complete);
    await vi.waitFor(async () => expect((await kept())[0]?.channel).toBe('sms'), patience);
    const [{ text = '', ...sms } = {}] = await kept();
    expect(sms).toMatchObject({ to: '+33639981234', attachments: [] });
    expect(sms).not.toHaveProperty('subject');
    const page = parsePage(await (await openPage()).text());
    const newest = newestOn(page);
    expect(page.text(newest)).toContain(text);
    const code = /\n@localhost #(\d{6})$/.exec(text)?.[1];
    expect((await shop.send('POST', `/consents/${made.id}/confirm`, { code })).status).toBe(200);
  });

  it('are the last hundred', async () => {
    const addresses = Array.from({ length: 101 }, (_one, index) => `guest@${index}.example.org`);
    await Promise.all(addresses.map(invite));
    await allSent();
    const shown = (await kept()).map(({ to }) => to);
    expect(shown).toHaveLength(100);
    expect(addresses).toEqual(expect.arrayContaining(shown));
    const page = parsePage(await (await openPage()).text());
    expect(page.tagged('iframe')).toHaveLength(100);
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
