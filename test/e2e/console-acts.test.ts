import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createKeyboard, createMouse } from '../support/console/input-devices.ts';
import { type Caller, callerWith, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { deliveryThat, startEndpoint, subscribe } from '../support/instances/webhook-endpoint.ts';
import { leadsTo, linkIn, startMailServer } from '../support/network/mail-server.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage, type WatchedPage } from '../support/pages/watched-page.ts';
import { patience } from '../support/run/patience.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const [mails, gateway] = await Promise.all([startMailServer(), startSmsGateway()]);
const instance = useInstance({ MAIL_URL: mails.url, SMS_URL: `${gateway.origin}/send` });
const lab = useInstance({ INSTANCE_NAME: 'Northern Lab' });
const admin: Caller = useSetup(() => signIn(instance, 'admin'));
const browser = useBrowser();
afterAll(() => Promise.all([mails.close(), gateway.close()]));

const jsonOf = async <T>(response: Promise<Response>) => (await (await response).json()) as T;

describe.each([
  { way: 'by mouse', createDevice: createMouse, javaScriptEnabled: true },
  { way: 'by keyboard', createDevice: createKeyboard, javaScriptEnabled: true },
  { way: 'by mouse without JavaScript', createDevice: createMouse, javaScriptEnabled: false },
])('$way an administrator', ({ way, createDevice, javaScriptEnabled }) => {
  let watched: WatchedPage;
  let page: Page;
  let device: ReturnType<typeof createDevice>;
  const messages: string[] = [];
  beforeAll(async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const viewport = { width: 1280, height: 900 };
    watched = await openWatchedPage(browser, [instance.url], { javaScriptEnabled, permissions, viewport });
    ({ page } = watched);
    page.on('console', (message) => {
      // A panel that is still loading when its page is left; the server's faults are in `complaints`.
      if (!message.text().includes('TypeError: Failed to fetch')) messages.push(message.text());
    });
    device = createDevice(page);
    await page.goto(`${instance.url}/console`);
    await device.type(field('Username'), 'admin');
    await device.type(field('Password'), 'demo');
    await device.open(button('Sign in'));
  });
  // The console and the issuer have a session each.
  afterEach(async () => {
    const complaints = (await watched.complaints()).filter((each) => !each.startsWith('set the cookie'));
    expect([...complaints, ...messages.splice(0)]).toEqual([]);
  });
  afterAll(() => watched?.close());

  const link = (name: string) => page.getByRole('link', { name, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const field = (name: string | RegExp) => page.getByLabel(name);
  const openPage = (path: string) => page.goto(`${instance.url}/console${path}`);
  /** Looks once at what only acts lead to. */
  const audit = async () => way === 'by mouse' && expect(await auditPage(page)).toEqual([]);
  async function told(text: string) {
    await page.locator('#status').getByText(text, { exact: true }).waitFor();
    await audit();
  }

  /** What the issuer asks of a person who has signed in, but too long ago for an act. */
  async function confirmIdentity() {
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
    await audit();
    await device.type(field('Password'), 'demo');
    await device.open(button('Confirm'));
  }

  it('activates a major version after the page told how many people are asked again', async () => {
    const subject = `ada, ${way}`;
    const content = { ...sampleContent.processing, thirdParties: [] };
    const letter = await makeLiveModel(admin, 'processing', { en: content });
    await recordAnswers(admin, subject, { [`element/processing/${letter.key}/1.0`]: ['accepted'] });
    const data = { en: { ...content, usage: 'News each week' } };
    await admin.send('POST', `/models/${letter.id}/versions`, { defaultLanguage: 'en', data });
    await openPage(`/elements/${letter.key}`);
    await device.open(link('Activate'));
    await device.tick(
      page.getByRole('radio', {
        name: /^Major: 1 valid answer stops counting, and this person is asked again/,
      }),
    );
    await device.open(button('Activate'));
    await told('The major version is active. Ask people again');
    const { versions } = await jsonOf<{ versions: object[] }>(admin.get(`/models/${letter.id}`));
    expect(versions).toContainEqual(expect.objectContaining({ serial: '2.0', status: 'ACTIVE' }));
    expect((await recordsOf(admin, subject))[letter.key]).toMatchObject([
      { status: 'IRRELEVANT', statusExplanation: 'BODY_SERIAL_ARCHIVED' },
    ]);
  });

  it('finds a person by the search, and records an answer on behalf after a review', async () => {
    const name = `bea, ${way}`;
    await admin.send('POST', '/subjects', { name });
    await openPage('');
    await device.type(field('Person, e-mail or transaction'), name);
    await device.open(button('Search'));
    await device.open(link('Answer on behalf'));
    if ((await link('Another form, another language, or single elements').count()) > 0)
      await device.open(link('Another form, another language, or single elements'));
    await device.tick(page.locator('[name=elements][value="processing.001"]'));
    await device.open(button('Continue'));
    await device.tick(field('Accepted'));
    await device.choose(field('How the answer came'), 'In person');
    await device.type(field('Comment'), 'At the counter');
    await device.open(button('Review'));
    expect(await recordsOf(admin, name)).toEqual({});
    await audit();
    await device.open(button('Record'));
    await told('The answers are recorded.');
    expect((await recordsOf(admin, name))['processing.001']).toMatchObject([
      { values: ['accepted'], status: 'VALID', origin: 'OPERATOR', comment: 'At the counter' },
    ]);
  });

  it('cancels a transaction, but not if the question whether to cancel is left', async () => {
    const { id } = await createTransaction(admin);
    await openPage(`/transactions/${id}`);
    const state = async () => (await jsonOf<{ state: string }>(admin.get(`/consents/${id}`))).state;
    await device.open(link('Cancel the transaction'));
    await device.open(link('Cancel'));
    expect(await state()).toBe('CREATED');
    await device.open(link('Cancel the transaction'));
    await device.open(button('Cancel the transaction'));
    await told('The transaction is cancelled.');
    expect(await state()).toBe('CANCELLED');
  });

  it('makes an API key after a fresh sign-in, copies it, and revokes it', async () => {
    const name = `Shop, ${way}`;
    await openPage('');
    await device.open(link('Integration'));
    await device.open(link('New API key'));
    await device.type(field('Name'), name);
    await signedInElevenMinutesAgo();
    await device.open(button('Generate'));
    await confirmIdentity();
    await page.getByText('This is as you typed it; it is not saved yet.').waitFor();
    await audit();
    await device.open(button('Generate'));
    const key = await page.getByLabel('API key', { exact: true }).inputValue();
    const copy = button('Copy').first();
    if (javaScriptEnabled) {
      await device.press(copy);
      await told('Copied.');
      // Some browsers refuse, as in a page of another site.
      await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("refused"))');
      await device.press(copy);
      await told('The browser does not permit it. The text is selected: press Ctrl+C, or ⌘C.');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    } else expect(await copy.count()).toBe(0);
    const shop = callerWith(instance, { CM_KEY: key });
    expect((await shop.get('/user')).status).toBe(200);
    await device.open(link('All API keys'));
    expect(await page.content()).not.toContain(key);
    await device.open(page.getByRole('row').filter({ hasText: name }).getByRole('link'));
    await device.open(button('Revoke'));
    await told('The key was revoked.');
    await until(async () => expect((await shop.get('/user')).status).toBe(401));
  });

  it('tests a webhook, and sends again what its endpoint has refused', async () => {
    const endpoint = await startEndpoint();
    const webhook = await subscribe(admin, endpoint.url);
    endpoint.answerWith(500);
    await openPage(`/integration/webhooks/${webhook.id}`);
    await device.open(button('Send a test message'));
    await told('A test message is on its way.');
    // By a script the page follows its delivery.
    const shown = async (text: string | RegExp) => {
      if (!javaScriptEnabled) await page.reload();
      await page.getByText(text).waitFor(javaScriptEnabled ? patience : { timeout: 500 });
    };
    await until(() => shown('The answer was an error (500).'));
    await page.getByText('"type": "io.accord.webhook.test.v1"').waitFor();
    await audit();
    endpoint.answerWith(204);
    await openPage(`/integration/webhooks/${webhook.id}`);
    await device.open(page.getByRole('link', { name: 'webhook.test' }));
    await device.open(button('Send again'));
    await told('The events are sent again.');
    await until(() => shown(/^204 after \d+ ms$/));
    const [first, second] = await endpoint.called(2);
    expect(second).toMatchObject({ message: first?.message, event: { type: 'io.accord.webhook.test.v1' } });
    await deliveryThat(admin, webhook, ({ status, redelivery }) => redelivery && status === 'DELIVERED');
  });

  it('pairs with a peer, and ends the pairing after typing its host', async () => {
    const { key } = await createKey(lab, 'for the theatre', 'PEER');
    const peers = () => jsonOf<object[]>(admin.get('/peers'));
    await openPage('/integration/peers');
    await device.open(link('Pair with a peer'));
    // The search of every page has a label with this word, too.
    await device.type(page.getByLabel('Address', { exact: true }), lab.url);
    await device.type(field('One-time key'), key);
    await device.open(button('Pair'));
    await told('The instances are paired. Compare the keys now.');
    expect(await peers()).toMatchObject([{ url: lab.url, state: 'PAIRED' }]);
    const [labKey] = lab.secrets.instanceSigning;
    await page.getByText(labKey?.kid ?? '').waitFor();
    await device.open(link('End the pairing'));
    await device.type(field(/^Type \S+ to confirm/), new URL(lab.url).host);
    await device.open(button('End the pairing'));
    await told('The pairing has ended.');
    expect(await peers()).toEqual([]);
  });

  it('invites a person to a form by e-mail', async () => {
    const emailAddress = `${way.replaceAll(' ', '.')}@example.org`;
    const { id } = await createTransaction(admin, { subjectInfos: { emailAddress } });
    await openPage(`/transactions/${id}`);
    await device.open(link('Send an invitation'));
    await device.open(button('Invite'));
    await told('The invitation is on its way.');
    const { mail } = await mails.waitFor(emailAddress);
    expect(await leadsTo(linkIn(mail))).toContain(`${instance.url}/consents/${id}`);
  });

  it('invites a person to a form by text message', async () => {
    const phoneNumber = `+336399803${String(way.length).padStart(2, '0')}`;
    const { id } = await createTransaction(admin, { subjectInfos: { phoneNumber } });
    await openPage(`/transactions/${id}`);
    await device.open(link('Send an invitation'));
    await audit();
    // It is chosen already, because only a number is known.
    expect(await field(`By text message, to ${phoneNumber}`).isChecked()).toBe(true);
    await device.open(button('Invite'));
    await told('The invitation is on its way.');
    const { text = '' } = (await gateway.waitFor(phoneNumber)).fields;
    expect(await leadsTo(linkIn({ text }))).toContain(`${instance.url}/consents/${id}`);
  });

  it('invites a colleague by a link that is shown once', async () => {
    const name = way.replaceAll(' ', '.');
    await openPage('/settings/accounts');
    await device.open(link('Invite a person'));
    await device.type(field('Username'), name);
    await device.tick(field(/^User:/));
    await device.open(button('Invite'));
    await audit();
    const address = await page.getByLabel('Link', { exact: true }).inputValue();
    expect((await fetch(address)).status).toBe(200);
    await device.open(link('All accounts'));
    expect(await page.content()).not.toContain(address);
    expect(await jsonOf(admin.get('/accounts'))).toContainEqual(
      expect.objectContaining({ name, role: 'user', state: 'INVITED' }),
    );
  });
});

/** As if everybody had signed in eleven minutes ago, and the console had to renew its tokens. */
async function signedInElevenMinutesAgo(): Promise<void> {
  await runInDatabase(
    instance,
    `UPDATE auth.issuer_items SET payload = payload || jsonb_build_object('authTime', (payload ->> 'authTime')::int - 660)
      WHERE model = 'RefreshToken'`,
  );
  await runInDatabase(instance, 'UPDATE console.sessions SET renew_at = clock_timestamp()');
}
