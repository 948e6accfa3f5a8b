import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { eventsOf, keepEvents } from '../support/instances/live-events.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { complete, problemOf, study, transactionIn } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordAnswers,
} from '../support/instances/live-transactions.ts';
import { makeEndlessQuestions } from '../support/instances/long-receipts.ts';
import { codeIn, leadsTo, linkIn, startMailServer } from '../support/network/mail-server.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';

const [server, gateway] = await Promise.all([startMailServer(), startSmsGateway()]);
const instance = useInstance({
  MAIL_URL: server.url,
  MAIL_FROM: 'Riverside Theatre <consent@riverside.example>',
  MAIL_SENDERS: 'consent@riverside.example, study@riverside.example',
  SMS_URL: `${gateway.origin.replace('//', '//accord:se%20cret@')}/send`,
  SMS_FROM: 'Riverside',
  SMS_SENDERS: 'Riverside, +33123456789',
});
const shop: Caller = useSetup(() => createKey(instance));
afterAll(() => Promise.all([server.close(), gateway.close()]));

let people = 0;
const someone = () => {
  people += 1;
  return `ann.${people}@example.org`;
};

interface Message {
  kind: string;
  state: string;
  to: string;
  error?: string;
  attempts: number;
}

const messagesOf = async ({ id }: Pick<LiveTransaction, 'id'>) =>
  (await (await shop.get(`/consents/${id}/messages`)).json()) as Message[];
const waitForState = (made: Pick<LiveTransaction, 'id'>, state: string) =>
  vi.waitFor(async () => expect(await messagesOf(made)).toMatchObject([{ state }]), {
    timeout: 20_000,
    interval: 20,
  });
const submit = ({ id }: LiveTransaction) => shop.send('POST', `/consents/${id}/submit`, complete);
const confirm = ({ id }: LiveTransaction, code: string) =>
  shop.send('POST', `/consents/${id}/confirm`, { code });

/** For how many minutes a mail says that its code is valid. */
const minutesIn = ({ mail }: { mail: { text?: string | undefined } }) =>
  /(\d+) minutes/.exec(mail.text ?? '')?.[1];

beforeAll(() => keepEvents(instance));

describe('a code by e-mail', () => {
  it('reaches the address, confirms the answers and stands masked on the receipt', async () => {
    const emailAddress = someone();
    const made = await createTransaction(shop, {
      confirmation: 'EMAIL_CODE',
      subjectInfos: { emailAddress },
    });
    expect(await transactionIn(await submit(made))).toMatchObject({ state: 'SUBMITTED' });
    const status = await (await shop.get(`/consents/${made.id}/confirm`)).json();
    expect(status).toMatchObject({ type: 'EMAIL_CODE', destination: 'a…@example.org' });
    expect(status).not.toHaveProperty('code');
    const received = await server.waitFor(emailAddress);
    expect(received.from).toBe('consent@riverside.example');
    expect(received.mail.messageId).toMatch(/^<[0-9a-f-]{36}@localhost>$/);
    expect(received.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(received.raw).toMatch(/^Content-Language: en\r$/m);
    expect(received.mail.html).toContain(codeIn(received));
    expect(received.mail.subject).not.toContain(codeIn(received));
    await waitForState(made, 'SENT');
    expect((await confirm(made, codeIn(received))).status).toBe(200);
    const receipt = await (await shop.get(`/receipts/${made.id}`)).json();
    expect(receipt).toMatchObject({ confirmation: { type: 'EMAIL_CODE', destination: 'a…@example.org' } });
  });

  it('is valid no longer than its transaction, also another one, and the mail says for how long', async () => {
    const emailAddress = someone();
    const made = await createTransaction(shop, {
      confirmation: 'EMAIL_CODE',
      subjectInfos: { emailAddress },
      timeout: 'PT5M30S',
    });
    const { expires } = await transactionIn(await submit(made));
    const expiryOf = async () =>
      ((await (await shop.get(`/consents/${made.id}/confirm`)).json()) as { expires: string }).expires;
    const first = await server.waitFor(emailAddress);
    expect([await expiryOf(), minutesIn(first)]).toEqual([expires, '5']);
    await letTimePass(instance, '110 seconds');
    expect((await shop.send('POST', `/consents/${made.id}/confirm/resend`)).status).toBe(202);
    const second = await server.waitFor(emailAddress, 2);
    expect([await expiryOf(), minutesIn(second)]).toEqual([expires, '3']);
    await letTimePass(instance, '0 seconds');
  });

  it('comes from the sender that the context names, if the instance allows it', async () => {
    const emailAddress = someone();
    const context = { confirmation: 'EMAIL_CODE', subjectInfos: { emailAddress } };
    const confirmationConfig = { senderEmail: 'study@riverside.example' };
    await submit(await createTransaction(shop, { ...context, confirmationConfig }));
    expect((await server.waitFor(emailAddress)).from).toBe('study@riverside.example');
    const foreign = { ...context, confirmationConfig: { senderEmail: 'king@example.org' } };
    const refused = await shop.send('POST', '/consents', {
      subject: 'eve',
      layout: 'layout.001',
      ...foreign,
    });
    expect(await problemOf(refused)).toMatchObject({
      said: '422 invalid',
      errors: [{ pointer: '/confirmationConfig/senderEmail' }],
    });
  });

  it('is not sent after its transaction was cancelled', async () => {
    const emailAddress = someone();
    server.behave(emailAddress, { recipient: 451 });
    const context = { confirmation: 'EMAIL_CODE', subjectInfos: { emailAddress } };
    const made = await createTransaction(shop, context);
    await submit(made);
    await vi.waitFor(async () => expect(await messagesOf(made)).toMatchObject([{ attempts: 1 }]), {
      timeout: 20_000,
    });
    await shop.send('POST', `/consents/${made.id}/cancel`);
    server.behave(emailAddress, {});
    await letTimePass(instance, '1 minute');
    await waitForState(made, 'EXPIRED');
    expect(server.to(emailAddress)).toEqual([]);
    await letTimePass(instance, '0 seconds');
  });

  it('is not sent after it was replaced', async () => {
    const emailAddress = someone();
    server.behave(emailAddress, { recipient: 451 });
    const made = await createTransaction(shop, {
      confirmation: 'EMAIL_CODE',
      subjectInfos: { emailAddress },
    });
    await submit(made);
    await vi.waitFor(
      async () => expect(await messagesOf(made)).toMatchObject([{ attempts: 1, error: 'smtp-451' }]),
      {
        timeout: 20_000,
      },
    );
    await letTimePass(instance, '31 seconds');
    await vi.waitFor(async () => expect(await messagesOf(made)).toMatchObject([{ attempts: 2 }]), {
      timeout: 20_000,
    });
    expect((await shop.send('POST', `/consents/${made.id}/confirm/resend`)).status).toBe(202);
    server.behave(emailAddress, {});
    await letTimePass(instance, '1 minute');
    const received = await server.waitFor(emailAddress);
    await vi.waitFor(
      async () =>
        expect((await messagesOf(made)).map(({ state }) => state).sort()).toEqual(['EXPIRED', 'SENT']),
      { timeout: 20_000 },
    );
    expect((await confirm(made, codeIn(received))).status).toBe(200);
    expect(server.to(emailAddress)).toHaveLength(1);
    await letTimePass(instance, '0 seconds');
  });

  it('is limited to ten a day for one address', async () => {
    const emailAddress = someone();
    const context = { confirmation: 'EMAIL_CODE', subjectInfos: { emailAddress } };
    const made = await Promise.all(Array.from({ length: 14 }, () => createTransaction(shop, context)));
    const answers = await Promise.all(made.map(submit));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 10 }, () => 200),
      ...Array.from({ length: 4 }, () => 429),
    ]);
    const [refused] = made.filter((_one, index) => answers[index]?.status === 429);
    expect(Number(answers.find(({ status }) => status === 429)?.headers.get('retry-after'))).toBeGreaterThan(
      86_000,
    );
    expect(await transactionIn(await shop.get(`/consents/${refused?.id}`))).toMatchObject({
      state: 'CREATED',
    });
  });

  it('stands in no log, no event and no column', async () => {
    const emailAddress = someone();
    const made = await createTransaction(shop, {
      confirmation: 'EMAIL_CODE',
      subjectInfos: { emailAddress },
    });
    await submit(made);
    const code = codeIn(await server.waitFor(emailAddress));
    await waitForState(made, 'SENT');
    const tables = ['codes', 'messages', 'outbox', 'transaction_history', 'message_queues'];
    const rows = await Promise.all(
      tables.map((table) => rowsOf(instance, `SELECT t::text AS row FROM transactions.${table} AS t`)),
    );
    const stored = JSON.stringify(rows);
    expect(stored).not.toMatch(new RegExp(`(?<![0-9a-f])${code}(?![0-9a-f])`));
    expect(stored).not.toContain(emailAddress);
    expect(instance.logs()).not.toContain(emailAddress);
    expect(instance.logs()).not.toMatch(new RegExp(`(?<!\\d)${code}(?!\\d)`));
    const sealed = await rowsOf(instance, `SELECT sealed FROM transactions.messages WHERE transaction = $1`, [
      made.id,
    ]);
    expect(sealed).toEqual([{ sealed: null }]);
  });
});

it('a code is written in the language in which the form was shown', async () => {
  const emailAddress = someone();
  const made = await createTransaction(shop, { confirmation: 'EMAIL_CODE', subjectInfos: { emailAddress } });
  await shop.send('POST', `/consents/${made.id}/submit`, complete, { 'Accept-Language': 'fr' });
  expect((await server.waitFor(emailAddress)).raw).toMatch(/^Content-Language: fr\r$/m);
});

describe('a code by SMS', () => {
  it('reaches the number through the gateway, in a form that phones fill in', async () => {
    const subjectInfos = { phoneNumber: '+33 6 39 98 12 34' };
    const made = await createTransaction(shop, { confirmation: 'SMS_CODE', subjectInfos });
    await submit(made);
    expect(await (await shop.get(`/consents/${made.id}/confirm`)).json()).toMatchObject({
      destination: '…1234',
    });
    const { fields, headers, path } = await gateway.waitFor('+33639981234');
    expect(path).toBe('/send');
    expect(headers.authorization).toBe(`Basic ${Buffer.from('accord:se cret').toString('base64')}`);
    expect(fields).toMatchObject({ id: expect.any(String), from: 'Riverside' });
    const code = /\n@localhost #(\d{6})$/.exec(fields.text ?? '')?.[1] ?? '';
    expect((await confirm(made, code)).status).toBe(200);
  });

  it('comes from a sender in SMS_SENDERS that the context names, and from no other', async () => {
    const create = (confirmationConfig: object, number: number) =>
      shop.send('POST', '/consents', {
        subject: someone(),
        layout: 'layout.001',
        confirmation: 'SMS_CODE',
        confirmationConfig,
        subjectInfos: { phoneNumber: `+4474001234${number}` },
      });
    for (const [index, senderPhone] of ['Riverside', '+33123456789'].entries()) {
      const made = (await (await create({ senderPhone }, 50 + index)).json()) as LiveTransaction;
      await submit(made);
      expect((await gateway.waitFor(`+4474001234${50 + index}`)).fields.from).toBe(senderPhone);
    }
    for (const [name, sender] of [
      ['senderPhone', 'Theatre'],
      ['senderPhone', 'study@riverside.example'],
      ['senderEmail', '+33123456789'],
    ] as const)
      expect(await problemOf(await create({ [name]: sender }, 60))).toMatchObject({
        said: '422 invalid',
        errors: [{ pointer: `/confirmationConfig/${name}` }],
      });
  });
});

describe('an invitation', () => {
  it('carries the URL of the transaction, once for a creation and never for its repetition', async () => {
    const emailAddress = someone();
    const context = { subject: emailAddress, sendInvitation: true, subjectInfos: { emailAddress } };
    const made = await createTransaction(shop, context);
    const again = await shop.send('POST', '/consents', { layout: 'layout.001', ...context });
    expect(again.status).toBe(200);
    const { mail } = await server.waitFor(emailAddress);
    const link = await leadsTo(linkIn(mail));
    expect(link).toContain(`/consents/${made.id}?t=`);
    const opened = await fetch(link, { headers: { Accept: 'text/html' } });
    expect([opened.status, opened.url]).toEqual([200, expect.stringContaining('/submit')]);
    await waitForState(made, 'SENT');
    expect(server.to(emailAddress)).toHaveLength(1);
  });

  it('causes an event without its address after it was sent', async () => {
    const emailAddress = someone();
    const made = await createTransaction(shop, { sendInvitation: true, subjectInfos: { emailAddress } });
    await waitForState(made, 'SENT');
    const events = await eventsOf(instance, made);
    expect(events.map(({ event }) => event.type)).toEqual([
      'io.accord.consent.created.v1',
      'io.accord.message.sent.v1',
    ]);
    const data = { transaction: made.id, kind: 'invitation', channel: 'mail' };
    expect(events[1]?.event.data).toEqual({ message: expect.any(String), ...data });
  });

  it('is sent on request, and expires with its transaction', async () => {
    const emailAddress = someone();
    server.behave(emailAddress, { recipient: 450 });
    const made = await createTransaction(shop, { subjectInfos: { emailAddress } });
    const answer = await shop.send('POST', `/consents/${made.id}/invitation`);
    expect([answer.status, await answer.json()]).toMatchObject([
      202,
      { kind: 'invitation', state: 'PENDING' },
    ]);
    await vi.waitFor(async () => expect(await messagesOf(made)).toMatchObject([{ attempts: 1 }]), {
      timeout: 20_000,
    });
    await shop.send('POST', `/consents/${made.id}/cancel`);
    server.behave(emailAddress, {});
    await letTimePass(instance, '1 minute');
    await waitForState(made, 'EXPIRED');
    expect(server.to(emailAddress)).toEqual([]);
    await letTimePass(instance, '0 seconds');
    expect((await shop.send('POST', `/consents/${made.id}/invitation`)).status).toBe(409);
  });

  it('needs a valid address', async () => {
    const made = await createTransaction(shop, { subjectInfos: { emailAddress: 'nobody' } });
    expect(await problemOf(await shop.send('POST', `/consents/${made.id}/invitation`))).toMatchObject({
      said: '422 invalid',
    });
  });
});

describe('a notification', () => {
  it('follows the commit, from the model that the context names', async () => {
    const emailAddress = someone();
    const made = await createTransaction(shop, { notification: 'email.001', subjectInfos: { emailAddress } });
    await submit(made);
    const { mail } = await server.waitFor(emailAddress);
    expect(await leadsTo(linkIn(mail))).toContain(`/consents/${made.id}?t=`);
    const [pdf] = mail.attachments;
    expect(pdf).toMatchObject({ filename: 'receipt.pdf', mimeType: 'application/pdf' });
    expect(Buffer.from(pdf?.content as ArrayBuffer).toString('latin1', 0, 5)).toBe('%PDF-');
    expect(await messagesOf(made)).toMatchObject([{ kind: 'notification', to: 'a…@example.org' }]);
  });

  it('goes without the PDF if there is none of the receipt, and says so, whatever its model says', async () => {
    const admin = await signIn(instance, 'admin');
    const turned = 'Your\u202e receipt\u2066';
    const model = await makeLiveModel(admin, 'email', {
      en: { subject: turned, body: '<p>The receipt is attached.</p>' },
    });
    const answers = await makeEndlessQuestions(admin);
    const emailAddress = someone();
    const made = await recordAnswers(shop, someone(), answers, {
      notification: model.key,
      subjectInfos: { emailAddress },
      language: 'en',
    });
    const { mail } = await server.waitFor(emailAddress);
    expect(mail.subject).toBe('Your receipt');
    expect(mail.attachments).toEqual([]);
    for (const body of [mail.text, mail.html])
      expect(body?.replaceAll(/\s+/g, ' ')).toContain('could not be attached as a PDF');
    expect(await leadsTo(linkIn(mail))).toContain(`/consents/${made.id}?t=`);
    await waitForState(made, 'SENT');
    // Not one attempt has failed.
    expect((await messagesOf(made))[0]?.attempts).toBe(0);
  });

  it('has a link that opens the result and answers nothing', async () => {
    const emailAddress = someone();
    const made = await createTransaction(shop, { notification: 'email.001', subjectInfos: { emailAddress } });
    await submit(made);
    const { mail } = await server.waitFor(emailAddress);
    const link = await leadsTo(linkIn(mail));
    const inMail = new URL(link).searchParams.get('t');
    expect((await fetch(link, { headers: { Accept: 'text/html' } })).status).toBe(200);
    const answer = (token: string | null) =>
      instance.fetch(`/consents/${made.id}/submit?t=${token}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(complete),
      });
    expect((await answer(inMail)).status).toBe(403);
    // The same answers again are a success with the token of the form.
    expect((await answer(made.token)).status).toBe(200);
  });

  it('goes to the address of older clients if there is no other', async () => {
    const notificationRecipient = someone();
    await submit(await createTransaction(shop, { notification: 'email.001', notificationRecipient }));
    await server.waitFor(notificationRecipient);
  });

  it('from the layout needs a valid address, too; one that nothing needs is accepted', async () => {
    const infos = { emailAddress: 'nobody', phoneNumber: 'none' };
    const create = (layoutData: object, more: object = { subjectInfos: infos }) =>
      shop.send('POST', '/consents', { subject: someone(), layoutData, ...more });
    const quiet = { info: 'information.001', elements: ['processing.001'] };
    expect((await create(quiet)).status).toBe(201);
    const notified = { ...quiet, notification: 'email.001' };
    for (const [more, pointer] of [
      [{ subjectInfos: infos }, '/subjectInfos/emailAddress'],
      [{ configuration: { userinfos: infos } }, '/configuration/userinfos/emailAddress'],
    ] as const)
      expect(await problemOf(await create(notified, more))).toMatchObject({
        said: '422 invalid',
        errors: [{ pointer, code: 'invalid' }],
      });
    const context = { subject: someone(), layoutData: notified, subjectInfos: infos };
    const values = { 'element/processing/processing.001/1.0': ['accepted'] };
    const single = await shop.send('POST', '/consents/singlestep', { context, values });
    expect(await problemOf(single)).toMatchObject({
      errors: [{ pointer: '/context/subjectInfos/emailAddress' }],
    });
    const emailAddress = someone();
    const made = await create(notified, { subjectInfos: { ...infos, emailAddress } });
    const { id } = (await made.json()) as LiveTransaction;
    await shop.send('POST', `/consents/${id}/submit`, values);
    await server.waitFor(emailAddress);
  });

  it('of an unknown model is an error of the context', async () => {
    const context = { subject: 'eve', layout: 'layout.001', notification: 'email.999' };
    expect(await problemOf(await shop.send('POST', '/consents', context))).toMatchObject({
      said: '422 unknown-element',
      errors: [{ pointer: '/notification' }],
    });
  });
});

describe('news of a withdrawal', () => {
  it.each([
    ['en', 'The programme letter', 'A study of our audience'],
    ['fr', 'La lettre du programme', 'Une étude de notre public'],
    ['ar', 'نشرة البرنامج', 'دراسة عن جمهورنا'],
  ])('says in %s what was withdrawn: “%s”, and not what was not', async (language, title, other) => {
    const emailAddress = `withdrawn-${language}@example.org`;
    const made = await createTransaction(shop, { language, subjectInfos: { emailAddress } });
    await shop.send('POST', `/consents/${made.id}/submit`, { ...complete, [study]: ['accepted'] });
    await shop.send('POST', `/consents/${made.id}/withdraw`, { elements: ['processing.001'] });
    const { mail: one } = await server.waitFor(emailAddress);
    const html = String(one.html);
    expect([one.text?.includes(title), html.includes(title)]).toEqual([true, true]);
    expect([one.text?.includes(other), html.includes(other)]).toEqual([false, false]);
    await shop.send('POST', `/consents/${made.id}/withdraw`);
    const { mail: rest } = await server.waitFor(emailAddress, 2);
    expect([rest.text?.includes(title), rest.text?.includes(other)]).toEqual([false, true]);
  });

  it('reach the subject if somebody else withdrew, with a link that does not allow answers', async () => {
    const emailAddress = someone();
    const made = await createTransaction(shop, { subjectInfos: { emailAddress }, language: 'fr' });
    await submit(made);
    const withdrawal = await transactionIn(shop.send('POST', `/consents/${made.id}/withdraw`));
    const { mail } = await server.waitFor(emailAddress);
    expect(mail.subject).toMatch(/^Retrait d’un ou de plusieurs de vos consentements auprès de .+/);
    expect(await leadsTo(linkIn(mail))).toContain(`/consents/${withdrawal.id}?t=`);
    expect(await messagesOf(withdrawal)).toMatchObject([{ kind: 'withdrawal', to: 'a…@example.org' }]);
  });

  it('reach the address that the organisation knows, if the transaction has none', async () => {
    const emailAddress = someone();
    const made = await createTransaction(shop);
    await submit(made);
    const { subject } = await transactionIn(shop.get(`/consents/${made.id}`));
    const { id } = (await (await shop.get(`/subjects/${subject}`)).json()) as { id: string };
    await shop.send('PUT', `/subjects/${id}`, { emailAddress });
    const withdrawal = await transactionIn(shop.send('POST', `/consents/${made.id}/withdraw`));
    await server.waitFor(emailAddress);
    expect(await messagesOf(withdrawal)).toMatchObject([{ kind: 'withdrawal' }]);
  });

  it('are not sent to subjects who withdrew themselves', async () => {
    const made = await createTransaction(shop, { subjectInfos: { emailAddress: someone() } });
    await submit(made);
    const path = `/consents/${made.id}/withdraw?t=${encodeURIComponent(made.token)}`;
    const withdrawal = await transactionIn(
      instance.fetch(path, { method: 'POST', headers: { Accept: 'application/json' } }),
    );
    expect(withdrawal.kind).toBe('WITHDRAWAL');
    expect(await messagesOf(withdrawal)).toEqual([]);
  });
});

describe('a message that the server refuses or delays', () => {
  it('has failed for good after a 5xx, with its class and its event', async () => {
    const emailAddress = someone();
    server.behave(emailAddress, { recipient: 550 });
    const made = await createTransaction(shop, { sendInvitation: true, subjectInfos: { emailAddress } });
    await waitForState(made, 'FAILED');
    expect(await messagesOf(made)).toMatchObject([{ error: 'smtp-550', attempts: 1 }]);
    expect(instance.logs()).toMatch(
      /"operation":"mail invitation".*"code":"smtp-550".*"message not sent; not retried"/,
    );
    const count = /^accord_messages_failed_total\{(?=.*kind="mail")(?=.*error="smtp-5xx").*\} (\d+)$/m;
    expect(Number(count.exec(await instance.metrics())?.[1])).toBeGreaterThan(0);
    const events = await eventsOf(instance, made);
    expect(events.map(({ event }) => event.type)).toEqual([
      'io.accord.consent.created.v1',
      'io.accord.message.failed.v1',
    ]);
    const data = { transaction: made.id, kind: 'invitation', channel: 'mail' };
    expect(events[1]?.event.data).toEqual({ message: expect.any(String), ...data });
  });

  it('is retried after a 4xx, and arrives once', async () => {
    const emailAddress = someone();
    server.behave(emailAddress, { data: 451 });
    const made = await createTransaction(shop, { sendInvitation: true, subjectInfos: { emailAddress } });
    await vi.waitFor(async () => expect(await messagesOf(made)).toMatchObject([{ attempts: 1 }]), {
      timeout: 20_000,
    });
    server.behave(emailAddress, {});
    await letTimePass(instance, '1 minute');
    await waitForState(made, 'SENT');
    expect(server.to(emailAddress)).toHaveLength(1);
    await letTimePass(instance, '0 seconds');
  });

  it('is SENT once, however late the server accepts it', async () => {
    const emailAddress = someone();
    const { promise: after, resolve: accept } = Promise.withResolvers<void>();
    server.behave(emailAddress, { after });
    const made = await createTransaction(shop, { sendInvitation: true, subjectInfos: { emailAddress } });
    await server.waitFor(emailAddress);
    expect(await messagesOf(made)).toMatchObject([{ state: 'PENDING', attempts: 0 }]);
    accept();
    await waitForState(made, 'SENT');
    expect(await messagesOf(made)).toMatchObject([{ attempts: 0 }]);
    expect(server.to(emailAddress)).toHaveLength(1);
  });

  it('delays no other: a silent domain holds up its own mails alone', async () => {
    server.behave('silent@slow.example', { isSilent: true });
    const invite = (emailAddress: string) =>
      createTransaction(shop, { sendInvitation: true, subjectInfos: { emailAddress } });
    await Promise.all(Array.from({ length: 6 }, () => invite('silent@slow.example')));
    const others = Array.from({ length: 10 }, someone);
    await Promise.all(others.map(invite));
    await Promise.all(others.map((address) => server.waitFor(address)));
    expect(server.to('silent@slow.example')).toEqual([]);
  });
});
