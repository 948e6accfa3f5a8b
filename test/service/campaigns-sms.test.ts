import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import {
  type AskedElement,
  draftCampaign,
  forecastOf,
  makeAskedElement,
  membersOf,
  readCampaign,
  setCampaign,
  untilCounts,
} from '../support/instances/live-campaigns.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';
import { until } from '../support/run/until.ts';

const gateway = await startSmsGateway();
afterAll(() => gateway.close());
const instance = useInstance({ SMS_URL: `${gateway.origin}/send`, SMS_FROM: 'Riverside' });
const admin = useSetup(() => signIn(instance, 'admin'));
const operator = useSetup(() => signIn(instance, 'operator'));

/** Numbers of Arcep for fiction. */
let numbers = 0;
const nextNumber = () => {
  numbers += 1;
  return `+336399800${String(numbers).padStart(2, '0')}`;
};

/** Has somebody answer who is known by a telephone number alone. @returns name and number. */
async function answeredBy(element: AskedElement, phoneNumber = nextNumber()) {
  const name = await element.answered('accepted', {
    name: `by telephone ${randomUUID()}`,
    context: { subjectInfos: { phoneNumber } },
  });
  return { name, phoneNumber };
}

async function run(element: AskedElement, more: object = {}) {
  const id = await draftCampaign(operator, element, { channel: 'SMS', ...more });
  expect((await setCampaign(operator, id, 'RUNNING')).status).toBe(200);
  return id;
}

const textTo = async (phoneNumber: string, count = 1) =>
  (await gateway.waitFor(phoneNumber, count)).fields.text ?? '';
const linksIn = (text: string) => text.match(/http:\/\/localhost:\d+\/\S+/g) ?? [];
const asPage = { headers: { Accept: 'text/html' } };

describe('a campaign by text message', () => {
  it('reaches the number that is known, and its last link leads to the form, where an answer ends it', async () => {
    const element = await makeAskedElement(admin);
    const { name, phoneNumber } = await answeredBy(element);
    const byMail = await element.answered();
    await element.change();
    const id = await draftCampaign(operator, element, { channel: 'SMS' });
    expect(await forecastOf(operator, id)).toMatchObject({
      people: 2,
      asked: 1,
      excluded: [{ why: 'NO_ADDRESS', people: 1 }],
    });
    expect((await setCampaign(operator, id, 'RUNNING')).status).toBe(200);
    await untilCounts(operator, id, { SENT: 1, PICKED: 0 });
    const form = linksIn(await textTo(phoneNumber)).at(-1) ?? '';
    const opened = await fetch(form, asPage);
    expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('Send my choices')]);

    const [member] = await membersOf(operator, id);
    expect(member).toMatchObject({ subject: name, state: 'SENT', to: `…${phoneNumber.slice(-4)}` });
    const context = await (await operator.get(`/consents/${member?.transaction}/context`)).json();
    expect(context).toMatchObject({ ask: 'CHANGED', origin: 'WEBFORM', subject: name });
    const submitted = await operator.send('POST', `/consents/${member?.transaction}/submit`, {
      [`element/processing/${element.key}/2.0`]: ['refused'],
    });
    expect(submitted.ok).toBe(true);
    await untilCounts(operator, id, { SENT: 0, ANSWERED: 1 });
    await until(async () => expect(await readCampaign(operator, id)).toMatchObject({ state: 'DONE' }));
    expect(gateway.requests.filter(({ fields }) => fields.to === byMail)).toEqual([]);
  });

  it('is ended by its first link, by one click, for mails as well', async () => {
    const element = await makeAskedElement(admin);
    const { name, phoneNumber } = await answeredBy(element);
    await element.change();
    const id = await run(element);
    const [stop = ''] = linksIn(await textTo(phoneNumber));
    const page = await fetch(stop, asPage);
    expect(await page.text()).toContain('End these messages');
    await untilCounts(operator, id, { SENT: 1 });
    await fetch(page.url, { method: 'POST' });
    await untilCounts(operator, id, { UNSUBSCRIBED: 1, SENT: 0 });
    await element.answered('accepted', { name, address: 'also-by-mail@example.org', serial: '2.0' });
    await element.change();
    const mailed = await draftCampaign(operator, element, { channel: 'EMAIL' });
    expect(await forecastOf(operator, mailed)).toMatchObject({
      asked: 0,
      excluded: [{ why: 'UNSUBSCRIBED', people: 1 }],
    });
  });

  it('is FAILED if the gateway refuses the number, sent later if it is busy, and UNSURE if it broke off', async () => {
    onTestFinished(() => letTimePass(instance, '0'));
    const element = await makeAskedElement(admin);
    await answeredBy(element);
    await element.change();
    gateway.reply(400);
    const refused = await run(element);
    await untilCounts(operator, refused, { FAILED: 1 });

    const busy = await makeAskedElement(admin);
    const later = await answeredBy(busy);
    await busy.change();
    gateway.reply(503);
    const waiting = await run(busy);
    await until(() =>
      expect(gateway.requests.some(({ fields }) => fields.to === later.phoneNumber)).toBe(true),
    );
    gateway.reply(202);
    await letTimePass(instance, '1 hour');
    await untilCounts(operator, waiting, { SENT: 1 });
    expect(await textTo(later.phoneNumber)).toContain('http');

    const broken = await makeAskedElement(admin);
    const unsure = await answeredBy(broken);
    await broken.change();
    gateway.reply(500);
    const lost = await run(broken);
    await untilCounts(operator, lost, { UNSURE: 1 });
    gateway.reply(202);
    await letTimePass(instance, '2 hours');
    const sent = gateway.requests.filter(({ fields }) => fields.to === unsure.phoneNumber);
    expect(sent).toHaveLength(1);
  });

  it('is reminded of after seven days', async () => {
    onTestFinished(() => letTimePass(instance, '0'));
    const element = await makeAskedElement(admin);
    const { phoneNumber } = await answeredBy(element);
    await element.change();
    const id = await run(element, { reminders: 1 });
    await untilCounts(operator, id, { SENT: 1 });
    await letTimePass(instance, '8 days');
    const [first, second] = [await textTo(phoneNumber), await textTo(phoneNumber, 2)];
    expect([linksIn(first).length, linksIn(second).length]).toEqual([2, 2]);
  });
});
