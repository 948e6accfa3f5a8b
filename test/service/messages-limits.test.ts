import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { eventsOf, keepEvents } from '../support/instances/live-events.ts';
import { complete, problemOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, type LiveTransaction } from '../support/instances/live-transactions.ts';
import { startMailServer } from '../support/network/mail-server.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';

const [server, gateway] = await Promise.all([startMailServer(), startSmsGateway()]);
const instance = useInstance({
  MAIL_URL: server.url,
  SMS_URL: `${gateway.origin}/send`,
  SMS_FROM: 'Riverside',
  SMS_SENDERS: 'Theatre',
  MESSAGE_DAILY_LIMIT: '3',
  SMS_PREFIX_LIMIT: '2',
});
const shop: Caller = useSetup(() => createKey(instance));
afterAll(() => Promise.all([server.close(), gateway.close()]));
beforeAll(() => keepEvents(instance));

const invite = ({ id }: Pick<LiveTransaction, 'id'>) => shop.send('POST', `/consents/${id}/invitation`);
const submit = ({ id }: LiveTransaction) => shop.send('POST', `/consents/${id}/submit`, complete);
const statuses = (answers: Response[]) => answers.map(({ status }) => status).sort();
const retryAfter = (answers: Response[]) =>
  Number(answers.find(({ status }) => status === 429)?.headers.get('retry-after'));

/** Sends as many invitations as the limit allows. */
async function exhaust(emailAddress: string): Promise<LiveTransaction> {
  const made = await createTransaction(shop, { subjectInfos: { emailAddress } });
  const answers = await Promise.all(Array.from({ length: 5 }, () => invite(made)));
  expect(statuses(answers)).toEqual([202, 202, 202, 429, 429]);
  expect(retryAfter(answers)).toBeGreaterThan(86_000);
  return made;
}

describe('MESSAGE_DAILY_LIMIT', () => {
  it('limits the messages to an address, also in parallel, for 24 hours', async () => {
    const emailAddress = 'ann@example.org';
    await exhaust(emailAddress);
    const context = { subject: 'ann', layout: 'layout.001', sendInvitation: true };
    const create = () =>
      shop.send('POST', '/consents', { ...context, subjectInfos: { emailAddress: 'Ann@example.org' } });
    expect(await problemOf(await create())).toMatchObject({
      said: '429 too-many-requests',
      errors: [{ code: 'limit' }],
    });
    const other = { ...context, subject: 'amy', subjectInfos: { emailAddress: 'amy@example.org' } };
    expect((await shop.send('POST', '/consents', other)).status).toBe(201);
    await letTimePass(instance, '25 hours');
    // The refused creation has left no transaction that this one would repeat.
    expect((await create()).status).toBe(201);
    await letTimePass(instance, '0 seconds');
  });

  it('counts all spellings of one mailbox together', async () => {
    const spellings = ['zoë@example.org', 'Zoë@EXAMPLE.org', 'zoë@example。org', 'zoe\u0308@ｅxample.org'];
    const made = await Promise.all(
      [...spellings, 'zoë@𝐞xample.org'].map((emailAddress) =>
        createTransaction(shop, { subjectInfos: { emailAddress } }),
      ),
    );
    expect(statuses(await Promise.all(made.map(invite)))).toEqual([202, 202, 202, 429, 429]);
  });

  it('stops a notification, which has FAILED without an event, and not the commit', async () => {
    const emailAddress = 'ben@example.org';
    await exhaust(emailAddress);
    const made = await createTransaction(shop, { notification: 'email.001', subjectInfos: { emailAddress } });
    expect(await transactionIn(await submit(made))).toMatchObject({ state: 'COMMITTED' });
    expect(await (await shop.get(`/consents/${made.id}/messages`)).json()).toMatchObject([
      { kind: 'notification', state: 'FAILED', error: 'limit', attempts: 0, to: 'b…@example.org' },
    ]);
    const [stored] = await rowsOf(
      instance,
      'SELECT sealed FROM transactions.messages WHERE transaction = $1',
      [made.id],
    );
    expect(stored).toEqual({ sealed: null });
    await server.waitFor(emailAddress, 3);
    expect(server.to(emailAddress).filter(({ raw }) => raw.includes('receipt.pdf'))).toEqual([]);
    const types = (await eventsOf(instance, made)).map(({ event }) => event.type);
    expect(types.filter((type) => type.includes('.message.'))).toEqual([]);
    const count = /^accord_messages_failed_total\{(?=.*kind="mail")(?=.*error="limit").*\} (\d+)$/m;
    expect(count.exec(await instance.metrics())?.[1]).toBe('1');
    const logged = instance
      .logs()
      .split('\n')
      .filter((line) => line.includes('message not sent'));
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', operation: 'mail notification', code: 'limit' },
    ]);
  });
});

describe('SMS_PREFIX_LIMIT=0', () => {
  const silent = useInstance({
    MAIL_URL: server.url,
    SMS_URL: `${gateway.origin}/send`,
    SMS_PREFIX_LIMIT: '0',
  });

  it('refuses all text messages and no mail', async () => {
    const caller = await createKey(silent);
    const subjectInfos = { emailAddress: 'cleo@example.org', phoneNumber: '+33639981277' };
    const statusOf = async (confirmation: string) => {
      const { id } = await createTransaction(caller, { confirmation, subjectInfos });
      return (await caller.send('POST', `/consents/${id}/submit`, complete)).status;
    };
    expect(await statusOf('SMS_CODE')).toBe(429);
    expect(await statusOf('EMAIL_CODE')).toBe(200);
  });
});

describe('SMS_SENDERS', () => {
  it('replaces SMS_FROM as the sender that a context may name', async () => {
    const phoneNumber = '+447400123450';
    const context = { confirmation: 'SMS_CODE', subjectInfos: { phoneNumber } };
    const confirmationConfig = { senderPhone: 'Theatre' };
    await submit(await createTransaction(shop, { ...context, confirmationConfig }));
    expect((await gateway.waitFor(phoneNumber)).fields.from).toBe('Theatre');
    const other = { ...context, confirmationConfig: { senderPhone: 'Riverside' } };
    const refused = await shop.send('POST', '/consents', { subject: 'eve', layout: 'layout.001', ...other });
    expect(await problemOf(refused)).toMatchObject({
      said: '422 invalid',
      errors: [{ pointer: '/confirmationConfig/senderPhone' }],
    });
  });
});

describe('SMS_PREFIX_LIMIT', () => {
  const submitFor = async (phoneNumber: string) =>
    submit(await createTransaction(shop, { confirmation: 'SMS_CODE', subjectInfos: { phoneNumber } }));

  it('limits the text messages to a country, also in parallel, for an hour', async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, (_one, index) =>
        createTransaction(shop, {
          confirmation: 'SMS_CODE',
          subjectInfos: { phoneNumber: `+3363998123${index}` },
        }),
      ),
    );
    const answers = await Promise.all(made.map(submit));
    expect(statuses(answers)).toEqual([200, 200, 429, 429, 429, 429, 429, 429]);
    expect(retryAfter(answers)).toBeGreaterThan(3_500);
    expect(retryAfter(answers)).toBeLessThanOrEqual(3_600);
    const refused = made[answers.findIndex(({ status }) => status === 429)];
    expect(await transactionIn(shop.get(`/consents/${refused?.id}`))).toMatchObject({ state: 'CREATED' });
    expect((await submitFor('+4915735980001')).status).toBe(200);
    await letTimePass(instance, '61 minutes');
    expect((await submitFor('+33639981299')).status).toBe(200);
    await letTimePass(instance, '0 seconds');
  });
});
