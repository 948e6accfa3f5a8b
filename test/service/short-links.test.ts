import { afterAll, describe, expect, it } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { complete, problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, type LiveTransaction } from '../support/instances/live-transactions.ts';
import { leadsTo, linkIn, startMailServer } from '../support/network/mail-server.ts';

const server = await startMailServer();
const instance = useInstance({
  MAIL_URL: server.url,
  MAIL_FROM: 'consent@riverside.example',
  RATE_LIMITS: 'link=30',
});
const shop: Caller = useSetup(() => createKey(instance));
afterAll(() => server.close());

interface ShortLink {
  url: string;
  expires: string;
}

const shorten = async ({ id }: Pick<LiveTransaction, 'id'>) =>
  (await (await shop.send('POST', `/consents/${id}/link`)).json()) as ShortLink;
const tokenIn = (url: string) => new URL(url).searchParams.get('t') ?? '';
const open = (code: string) => instance.fetch(`/l/${code}`, { redirect: 'manual' });

describe('a short link', () => {
  it('leads to the form with a token that lives as long, however it is typed, and is stored as a digest', async () => {
    const made = await createTransaction(shop, { timeout: 'P1D' });
    const { url, expires } = await shorten(made);
    expect(url).toMatch(new RegExp(`^${instance.url}/l/[0-9A-HJKMNP-TV-Z]{10}$`));
    const code = url.slice(-10);
    const typed = `${code.slice(0, 5)}-${code.slice(5)}`.toLowerCase().replaceAll('0', 'o');
    const opened = await open(typed);
    expect(opened.status).toBe(303);
    expect(opened.headers.get('cache-control')).toBe('no-store');
    const location = opened.headers.get('location') ?? '';
    expect(location).toContain(`/consents/${made.id}?t=`);
    const payload = Buffer.from(tokenIn(location).split('.')[1] ?? '', 'base64url').toString();
    expect(JSON.parse(payload).exp).toBe(Math.ceil(Date.parse(expires) / 1000));
    const answered = await subjectOf(instance, { id: made.id, token: tokenIn(location) }).submit();
    expect((await transactionIn(answered)).state).toBe('COMMITTED');
    expect(JSON.stringify(await rowsOf(instance, 'SELECT * FROM transactions.short_links'))).not.toContain(
      code,
    );
  });

  it('is another one each time, and is for the organisation to make', async () => {
    const made = await createTransaction(shop);
    expect((await shorten(made)).url).not.toBe((await shorten(made)).url);
    const { id, token } = made;
    expect((await subjectOf(instance, { id, token }).post('/link')).status).toBe(403);
    expect((await instance.fetch(`/consents/${id}/link`, { method: 'POST' })).status).toBe(401);
  });

  it('of an invitation leads to the form, and later to the receipt as long as that is valid', async () => {
    const subjectInfos = { emailAddress: 'ann@example.org' };
    const context = { subjectInfos, sendInvitation: true, timeout: 'P1D', validity: 'P1M' };
    const made = await createTransaction(shop, context);
    const { mail } = await server.waitFor('ann@example.org');
    const link = linkIn(mail);
    const { id, token } = { id: made.id, token: tokenIn(await leadsTo(link)) };
    await subjectOf(instance, { id, token }).submit();
    await letTimePass(instance, '5 days');
    const later = tokenIn(await leadsTo(link));
    expect((await subjectOf(instance, { id, token: later }).get()).status).toBe(200);
    expect((await subjectOf(instance, { id, token: later }).submit(complete)).status).toBe(403);
    await letTimePass(instance, '2 months');
    expect(await leadsTo(link)).toBe('404');
    await letTimePass(instance, '0 days');
  });

  it('ends with an erasure', async () => {
    const made = await createTransaction(shop, { subject: 'eve' });
    const { url } = await shorten(made);
    const admin = await signIn(instance, 'admin');
    expect((await admin.send('POST', '/subjects/eve/erasure', { reason: 'asked' })).status).toBeLessThan(300);
    await expect.poll(() => leadsTo(url), { timeout: 20_000 }).toBe('404');
  });

  it('cannot be guessed: a network has so many tries a minute, and right ones do not count', async () => {
    const { url } = await shorten(await createTransaction(shop));
    for (let time = 0; time < 40; time++) expect((await open(url.slice(-10))).status).toBe(303);
    const statuses = [];
    for (let time = 0; time < 40; time++) statuses.push((await open('0000000000')).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(30);
    const refused = await open('0000000000');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await problemOf(refused)).said).toBe('429 too-many-requests');
  });
});
