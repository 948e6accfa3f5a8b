import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { leadsTo, linkIn, startMailServer } from '../support/network/mail-server.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';

const [server, gateway] = await Promise.all([startMailServer(), startSmsGateway()]);
const instance = useInstance({
  MAIL_URL: server.url,
  SMS_URL: `${gateway.origin}/send`,
  SMS_PREFIX_LIMIT: '6',
});
const shop: Caller = useSetup(() => signIn(instance, 'operator'));
let clerk: ConsolePages;
beforeAll(async () => {
  clerk = await openPages(instance, 'clerk');
});
afterAll(async () => {
  await clerk?.close();
  await Promise.all([server.close(), gateway.close()]);
});

/** Numbers of Arcep for fiction. */
let numbers = 0;
const nextNumber = () => {
  numbers += 1;
  return `+336399802${String(numbers).padStart(2, '0')}`;
};
const textOf = async (path: string) => (await clerk.get(path)).text();
const locationOf = (response: Response) => response.headers.get('location') ?? '';
/** The page on which a form is sent to a person, who may be known by a number. */
async function formFor(name: string, subjectInfos?: object): Promise<string> {
  const values = { 'element/processing/processing.001/1.0': ['accepted'] };
  await recordAnswers(shop, name, values, subjectInfos ? { subjectInfos } : {});
  return `${locationOf(await clerk.post('/console/subjects', { word: name }))}/link`;
}
const invitePage = ({ id }: { id: string }) => `/console/transactions/${id}/invite`;
const chosenIn = (html: string) => /name="way" value="(\w+)" checked/.exec(html)?.[1];
/** The button that ends the form. */
const buttonOf = (html: string) => /class="primary"[^>]*>([^<]+)<\/button>/.exec(html)?.[1];
const waysIn = (html: string) => [...html.matchAll(/name="way" value="(\w+)"/g)].map(([, way]) => way);

describe('a form for a person who has only a mobile number', () => {
  it('goes there by text message, which is chosen already; the number is filled in', async () => {
    const phoneNumber = nextNumber();
    const path = await formFor('only mobile', { phoneNumber });
    expect(await textOf(path.replace('/link', ''))).toContain(phoneNumber);
    const html = await textOf(path);
    expect([waysIn(html), chosenIn(html)]).toEqual([['mail', 'sms', 'link'], 'sms']);
    expect(html).toContain(`name="phoneNumber" value="${phoneNumber}"`);
    expect(html).toContain('The known telephone number is filled in.');
    const made = await clerk.fill(path, { layout: 'layout.001', way: 'sms', phoneNumber });
    expect(locationOf(made)).toMatch(/\?done=invited$/);
    const { text = '' } = (await gateway.waitFor(phoneNumber)).fields;
    expect(await leadsTo(linkIn({ text }))).toContain('/consents/');
  });

  it('goes to the number that is entered, and is known from then on', async () => {
    const phoneNumber = nextNumber();
    const path = await formFor('new mobile');
    expect(await textOf(path)).toContain('No telephone number of this person is known.');
    const fields = { layout: 'layout.001', way: 'sms', emailAddress: '', phoneNumber: '' };
    for (const number of ['', '0639980201']) {
      const refused = await clerk.fill(path, { ...fields, phoneNumber: number });
      expect(refused.status).toBe(422);
      expect(await refused.text()).toContain('href="#field-phoneNumber">Telephone number: ');
    }
    const made = await clerk.fill(path, { ...fields, phoneNumber });
    expect(locationOf(made)).toMatch(/\?done=invited$/);
    await gateway.waitFor(phoneNumber);
    expect(await textOf(path)).toContain(`value="${phoneNumber}"`);
    expect(await (await shop.get('/subjects/new%20mobile')).json()).not.toHaveProperty('emailAddress');
  });

  it('asks at the number for one that a code needs', async () => {
    const path = await formFor('code by text');
    const fields = { layout: 'layout.001', way: 'link', confirmation: 'SMS_CODE', phoneNumber: '' };
    const refused = await clerk.fill(path, fields);
    expect(await refused.text()).toContain('href="#field-phoneNumber">Telephone number: Fill in');
  });
});

describe('an invitation to an open form', () => {
  it('says for each way where it goes, and goes there', async () => {
    const phoneNumber = nextNumber();
    const subjectInfos = { emailAddress: 'both@example.org', phoneNumber };
    const path = invitePage(await createTransaction(shop, { subjectInfos }));
    const html = await textOf(path);
    expect([waysIn(html), chosenIn(html)]).toEqual([['mail', 'sms', 'link'], 'mail']);
    expect(html).toContain('By e-mail, to both@example.org');
    expect(html).toContain(`By text message, to ${phoneNumber}`);
    expect(html).not.toMatch(/name="(phoneNumber|emailAddress)"/);
    expect(locationOf(await clerk.fill(path, { way: 'sms' }))).toMatch(/\?done=invited$/);
    await gateway.waitFor(phoneNumber);
    expect(locationOf(await clerk.fill(path, { way: 'mail' }))).toMatch(/\?done=invited$/);
    await server.waitFor('both@example.org');
    const shown = await (await clerk.fill(path, { way: 'link' })).text();
    expect(shown).toMatch(/<textarea class="code"[^>]*>\s*http\S+\/l\/\w{10}</);
  });

  it('goes to the number of the person if the form has none, else to one that is entered', async () => {
    const phoneNumber = nextNumber();
    const { subject } = await createTransaction(shop, { subjectInfos: { phoneNumber } });
    const inline = { layoutData: { elements: ['processing.001'] } };
    const known = invitePage(await createTransaction(shop, { subject, ...inline }));
    expect(await textOf(known)).toContain(`By text message, to ${phoneNumber}`);
    await clerk.fill(known, { way: 'sms' });
    await gateway.waitFor(phoneNumber);
    const entered = nextNumber();
    const path = invitePage(await createTransaction(shop));
    expect(await textOf(path)).toContain('Only this message goes to the number that you enter');
    for (const number of ['', 'my mobile']) {
      const refused = await clerk.fill(path, { way: 'sms', phoneNumber: number });
      expect(refused.status).toBe(422);
      expect(await refused.text()).toContain('href="#field-phoneNumber">Telephone number: ');
    }
    expect(locationOf(await clerk.fill(path, { way: 'sms', phoneNumber: entered }))).toMatch(/invited$/);
    await gateway.waitFor(entered);
  });

  it('says when the limit of text messages is reached', async () => {
    const path = invitePage(await createTransaction(shop));
    const send = (index: number) => clerk.fill(path, { way: 'sms', phoneNumber: `+4479001230${10 + index}` });
    for (let index = 0; index < 6; index += 1) expect((await send(index)).status).toBe(303);
    const refused = await send(6);
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('role="alert"')]);
  });

  it.each(['en', 'fr', 'ar'])('has all its words in %s', async (language) => {
    const subjectInfos = { emailAddress: 'words@example.org', phoneNumber: nextNumber() };
    const pages = [
      invitePage(await createTransaction(shop)),
      invitePage(await createTransaction(shop, { subjectInfos })),
      await formFor(`words in ${language}`),
    ];
    for (const path of pages) {
      const html = await (await clerk.get(path, { 'Accept-Language': language })).text();
      expect(html, path).not.toMatch(/>(transactions|invite|link|subjects)\.[a-zA-Z.-]+</);
    }
  });
});

describe('an instance offers only ways that are possible', () => {
  it.each([
    ['without SMS_URL', { MAIL_URL: server.url }, ['mail', 'link'], 'emailAddress'],
    ['without MAIL_URL', { SMS_URL: `${gateway.origin}/send` }, ['sms', 'link'], 'phoneNumber'],
    ['without both', {}, [], undefined],
  ])('%s', async (what, channels, ways, field) => {
    // The console asks the database of the instance, in which this one notes its channels.
    const environment = { DEMO: 'false', DATABASE_URL: instance.databaseUrl, ...channels };
    const other = await startTestInstance(environment, instance.secrets);
    onTestFinished(() => other.stop());
    const made = await createTransaction(shop);
    const [invite, form] = [invitePage(made), await formFor(what)];
    for (const path of [invite, form]) {
      const html = await textOf(path);
      expect([waysIn(html), chosenIn(html)], path).toEqual([ways, ways[0]]);
      // Nothing is sent if a link is chosen.
      if (field) expect(buttonOf(html), path).toBe('Invite');
      const asked = [...html.matchAll(/name="(phoneNumber|emailAddress)"/g)].map(([, name]) => name);
      expect(asked, path).toEqual(field ? [field] : []);
      if (!field) expect(html).toContain('neither e-mails nor text messages');
    }
    if (field) return;
    expect(await textOf(invite)).not.toContain('<form class="form"');
    expect(buttonOf(await textOf(form))).toBe('Show a link to pass on');
    const link = await clerk.fill(form, { layout: 'layout.001' });
    expect(await link.text()).toMatch(/<textarea class="code"[^>]*>\s*http\S+\/l\/\w{10}</);
  });
});
