import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Caller, callerWith, createKey, patient } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { complete, problemOf } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordsOf,
} from '../support/instances/live-transactions.ts';
import { leadsTo, linkIn, startMailServer } from '../support/network/mail-server.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';
import { until } from '../support/run/until.ts';

const [server, gateway] = await Promise.all([startMailServer(), startSmsGateway()]);
afterAll(() => Promise.all([server.close(), gateway.close()]));
const instance = useInstance({
  MAIL_URL: server.url,
  SMS_URL: `${gateway.origin}/send`,
  SMS_FROM: 'Riverside',
  SMS_PREFIX_LIMIT: '8',
  MESSAGE_DAILY_LIMIT: '4',
});
const shop: Caller = useSetup(async () => patient(await createKey(instance)));

/** Numbers of Arcep for fiction. */
let numbers = 0;
const nextNumber = () => {
  numbers += 1;
  return `+336399801${String(numbers).padStart(2, '0')}`;
};

const invite = ({ id }: Pick<LiveTransaction, 'id'>, body?: unknown) =>
  shop.send('POST', `/consents/${id}/invitation`, body);
const byText = (made: Pick<LiveTransaction, 'id'>, more: object = {}) =>
  invite(made, { channel: 'SMS', ...more });
const textTo = async (phoneNumber: string, count = 1) =>
  (await gateway.waitFor(phoneNumber, count)).fields.text ?? '';
const requestsTo = (phoneNumber: string) =>
  gateway.requests.filter(({ fields }) => fields.to === phoneNumber);
const messagesOf = async ({ id }: Pick<LiveTransaction, 'id'>) =>
  (await (await shop.get(`/consents/${id}/messages`)).json()) as { state: string; channel: string }[];
const untilState = (made: Pick<LiveTransaction, 'id'>, state: string) =>
  until(async () => expect(await messagesOf(made)).toMatchObject([{ state }]));

describe('an invitation by text message', () => {
  it('says who asks, and its short link leads to the form, whose answers came by WEBFORM', async () => {
    const phoneNumber = nextNumber();
    const made = await createTransaction(shop, { subjectInfos: { phoneNumber }, language: 'fr' });
    const queued = await byText(made);
    const to = `…${phoneNumber.slice(-4)}`;
    expect([queued.status, await queued.json()]).toMatchObject([
      202,
      { kind: 'invitation', channel: 'sms', to, state: 'PENDING' },
    ]);
    const text = await textTo(phoneNumber);
    expect(text.split('\n')).toEqual([expect.stringMatching(/consentement/), linkIn({ text })]);
    expect((await gateway.waitFor(phoneNumber)).fields.from).toBe('Riverside');
    const url = new URL(await leadsTo(linkIn({ text })));
    expect(url.pathname).toBe(`/consents/${made.id}`);
    await untilState(made, 'SENT');

    const answered = await fetch(`${url.origin}${url.pathname}/submit${url.search}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(complete),
    });
    expect(answered.status).toBe(200);
    const records = Object.values(await recordsOf(shop, made.subject)).flat();
    expect(new Set(records.map(({ origin }) => origin))).toEqual(new Set(['WEBFORM']));
  });

  it('goes to the number of the request, else of the transaction, else the newest of the person', async () => {
    const [first, newest, own, named] = [nextNumber(), nextNumber(), nextNumber(), nextNumber()];
    const { subject } = await createTransaction(shop, { subjectInfos: { phoneNumber: first } });
    const spelt = newest.replace('+33639', '+33 6.39-');
    await createTransaction(shop, { subject, subjectInfos: { phoneNumber: spelt }, silent: true });
    const open = await createTransaction(shop, { subject, layoutData: { elements: ['processing.001'] } });
    expect(await (await shop.get(`/subjects/${subject}`)).json()).toMatchObject({ phoneNumber: newest });
    expect((await byText(open)).status).toBe(202);
    await gateway.waitFor(newest);
    const other = await createTransaction(shop, { subject, subjectInfos: { phoneNumber: own } });
    expect((await byText(other)).status).toBe(202);
    await gateway.waitFor(own);
    expect((await byText(other, { phoneNumber: named.replace('+336', '+33 (6) ') })).status).toBe(202);
    await gateway.waitFor(named);
    expect(requestsTo(first)).toEqual([]);
  });

  it('is sent once for a creation and never for its repetition, also by another channel', async () => {
    const phoneNumber = nextNumber();
    const context = { subject: `by text ${phoneNumber}`, subjectInfos: { phoneNumber } };
    const invited = { ...context, sendInvitation: true, invitationChannel: 'SMS' };
    const made = await createTransaction(shop, invited);
    expect(await (await shop.get(`/consents/${made.id}/context`)).json()).toMatchObject(invited);
    for (const each of [invited, context]) {
      const again = await shop.send('POST', '/consents', { layout: 'layout.001', ...each });
      expect([again.status, await again.json()]).toMatchObject([200, { id: made.id }]);
    }
    await untilState(made, 'SENT');
    expect(requestsTo(phoneNumber)).toHaveLength(1);
  });

  it('needs a number: without a valid one nothing is created or sent', async () => {
    const create = (subjectInfos?: object) =>
      shop.send('POST', '/consents', {
        subject: 'without a number',
        layout: 'layout.001',
        subjectInfos,
        sendInvitation: true,
        invitationChannel: 'SMS',
      });
    const infos = { emailAddress: 'zoe@example.org' };
    for (const [subjectInfos, pointer] of [
      [undefined, '/subjectInfos'],
      [infos, '/subjectInfos/phoneNumber'],
      [{ ...infos, phoneNumber: '0639980001' }, '/subjectInfos/phoneNumber'],
    ] as const)
      expect(await problemOf(await create(subjectInfos))).toMatchObject({
        said: '422 invalid',
        errors: [{ pointer, code: 'invalid' }],
      });
    expect((await shop.get('/subjects/without%20a%20number')).status).toBe(404);
    const made = await createTransaction(shop, { subjectInfos: infos });
    const long = ['+33639980001'.padEnd(101, ' '), `+33${'e\u0301'.repeat(10_000)}`];
    for (const phoneNumber of [undefined, 'my mobile', ['+33639980001'], ...long])
      expect(await problemOf(await byText(made, { phoneNumber }))).toMatchObject({
        said: '422 invalid',
        errors: [{ pointer: '/phoneNumber', code: 'invalid' }],
      });
    expect(await messagesOf(made)).toEqual([]);
  });

  it('is not sent after the transaction has ended', async () => {
    onTestFinished(() => letTimePass(instance, '0 seconds'));
    onTestFinished(() => gateway.reply(202));
    const phoneNumber = nextNumber();
    const made = await createTransaction(shop, { subjectInfos: { phoneNumber } });
    gateway.reply(503);
    await byText(made);
    await until(() => expect(requestsTo(phoneNumber)).not.toEqual([]));
    await shop.send('POST', `/consents/${made.id}/cancel`);
    gateway.reply(202);
    await letTimePass(instance, '1 minute');
    await untilState(made, 'EXPIRED');
    expect((await byText(made)).status).toBe(409);
  });

  it('may be limited to few for a country, also if many are asked for at once; mails are not', async () => {
    onTestFinished(() => letTimePass(instance, '0 seconds'));
    const numberOf = (index: number) => `+4474001236${String(index).padStart(2, '0')}`;
    const made = await Promise.all(
      Array.from({ length: 11 }, (_one, index) =>
        createTransaction(shop, {
          subjectInfos: { phoneNumber: numberOf(index), emailAddress: `at.once.${index}@example.org` },
        }),
      ),
    );
    const answers = await Promise.all(made.map((each) => byText(each)));
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 202).length, refused.length]).toEqual([8, 3]);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(3_500);
    const context = { subject: 'one more', layout: 'layout.001', sendInvitation: true };
    const create = (more: object) =>
      shop.send('POST', '/consents', { ...context, ...more, subjectInfos: { phoneNumber: numberOf(30) } });
    expect((await create({ invitationChannel: 'SMS' })).status).toBe(429);
    const unsent = made[answers.findIndex(({ status }) => status === 429)];
    expect((await invite({ id: unsent?.id ?? '' })).status).toBe(202);
    await letTimePass(instance, '61 minutes');
    // The refused creation has left no transaction that this one would repeat.
    expect((await create({ invitationChannel: 'SMS' })).status).toBe(201);
  });

  it('counts against the limit of its number, however the number is written', async () => {
    onTestFinished(() => letTimePass(instance, '0 seconds'));
    await letTimePass(instance, '3 hours');
    const made = await createTransaction(shop, { subjectInfos: { phoneNumber: '+4915735980001' } });
    const send = (phoneNumber: string) => byText(made, { phoneNumber });
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_one, index) => send(index % 2 ? '+49 1573 5980002' : '+4915735980002')),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(4);
    await letTimePass(instance, '5 hours');
    const further = await send('+49-1573-5980002');
    expect([further.status, Number(further.headers.get('retry-after')) > 60_000]).toEqual([429, true]);
    expect((await send('+4915735980003')).status).toBe(202);
  });
});

describe('existing clients, which send no channel,', () => {
  it.each([
    ['no body', undefined],
    ['nothing', {}],
    ['members of their own', { message: 'Please answer', phoneNumber: '+33639980099' }],
    ['a list', ['SMS']],
    ['an empty text', { channel: '' }],
    ['no value', { channel: null }],
    ['the channel by name', { channel: 'EMAIL' }],
  ])('invite by mail with %s', async (what, body) => {
    const emailAddress = `${what.replaceAll(' ', '.')}@example.org`;
    const subjectInfos = { emailAddress, phoneNumber: '+33639980098' };
    const made = await createTransaction(shop, { subjectInfos });
    const queued = await invite(made, body);
    expect([queued.status, await queued.json()]).toMatchObject([202, { channel: 'mail' }]);
    await server.waitFor(emailAddress);
  });

  it('invite by mail with the fields of a form', async () => {
    const emailAddress = 'by.form@example.org';
    const made = await createTransaction(shop, { subjectInfos: { emailAddress } });
    const queued = await instance.fetch(`/consents/${made.id}/invitation`, {
      method: 'POST',
      headers: { ...shop.headers, Accept: 'application/json' },
      body: new URLSearchParams({ channel: 'FAX' }),
    });
    expect([queued.status, await queued.json()]).toMatchObject([202, { channel: 'mail' }]);
  });

  it('learn which channels there are from the refusal of another', async () => {
    const made = await createTransaction(shop, { subjectInfos: { emailAddress: 'fax@example.org' } });
    expect(await problemOf(await invite(made, { channel: 'FAX' }))).toMatchObject({
      said: '422 invalid',
      errors: [{ pointer: '/channel', code: 'invalid', detail: expect.stringContaining('EMAIL, SMS') }],
    });
    const context = { subject: 'fax', layout: 'layout.001', invitationChannel: 'FAX' };
    expect(await problemOf(await shop.send('POST', '/consents', context))).toMatchObject({
      said: '422 invalid',
      errors: [{ pointer: '/invitationChannel' }],
    });
  });
});

describe('an instance', () => {
  it.each([
    ['without SMS_URL', { MAIL_URL: server.url }, 'EMAIL', 'SMS', '(SMS_URL)'],
    ['without MAIL_URL', { SMS_URL: `${gateway.origin}/send` }, 'SMS', 'EMAIL', '(MAIL_URL)'],
  ])('%s says so, and sends by the other channel', async (_what, channels, works, fails, setting) => {
    const environment = { DEMO: 'false', DATABASE_URL: instance.databaseUrl, ...channels };
    const key = await createKey(instance, `invites by ${works}`);
    const other = await startTestInstance(environment, instance.secrets);
    onTestFinished(() => other.stop());
    const caller = callerWith(other, key.headers);
    const subjectInfos = { emailAddress: 'one.channel@example.org', phoneNumber: '+447400123690' };
    const { id } = await createTransaction(caller, { subjectInfos });
    const send = (channel: string) => caller.send('POST', `/consents/${id}/invitation`, { channel });
    expect(await problemOf(await send(fails))).toMatchObject({
      said: '422 not-available',
      detail: expect.stringContaining(setting),
    });
    expect((await send(works)).status).toBe(202);
    const create = (invitationChannel: string, subject: string) =>
      caller.send('POST', '/consents', {
        subject,
        layout: 'layout.001',
        subjectInfos,
        sendInvitation: true,
        invitationChannel,
      });
    expect(await problemOf(await create(fails, 'nobody'))).toMatchObject({
      said: '422 not-available',
      errors: [{ code: 'not-available', detail: expect.stringContaining(setting) }],
    });
    expect((await create(works, `invited by ${works}`)).status).toBe(201);
  });
});
