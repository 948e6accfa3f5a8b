import { describe, expect, it } from 'vitest';
import { callerWith, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { problemOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const user = useSetup(() => signIn(instance, 'user'));

type Body = Record<string, unknown>;

const read = async (path: string, caller = operator) => (await (await caller.get(path)).json()) as Body;
const contextOf = async (context: Body) =>
  read(`/consents/${(await createTransaction(operator, context)).id}/context`);
const defaults = {
  origin: 'WEBFORM',
  validity: 'P6M',
  callbackTriggerDelay: 4000,
  confirmation: 'NONE',
  updatable: true,
  cancellable: false,
  silent: false,
  sendInvitation: false,
  peerCommit: 'independent',
  timeout: 'P7D',
};

describe('the context of a transaction', () => {
  it('is the context it was created from, with defaults', async () => {
    expect(await contextOf({ subject: 'ann' })).toEqual({
      subject: 'ann',
      layout: 'layout.001',
      ...defaults,
    });
  });

  it('has the members of `configuration` at its top level', async () => {
    const layoutData = { type: 'layout', info: 'information.001', elements: ['processing.001'] };
    const configuration = {
      language: 'fr-ca',
      origin: 'OPERATOR',
      author: 'Counter 3',
      object: 'card 7',
      validity: 'P1Y',
      callback: 'https://shop.example/done?x=1',
      callbackTriggerDelay: 0,
      iframeOrigin: 'https://shop.example:',
      subjectInfos: { emailAddress: 'b@example.org' },
      attributes: { campaign: 'spring' },
      updatable: false,
      cancellable: true,
      silent: true,
      theme: 'theme.001',
      timeout: 'P90D',
    };
    expect(await contextOf({ subject: 'ben', layoutData, configuration })).toEqual({
      subject: 'ben',
      layoutData,
      ...defaults,
      ...configuration,
      language: 'fr-CA',
      iframeOrigin: 'https://shop.example',
    });
  });

  it('ignores empty texts and unknown fields', async () => {
    const unknown = {
      collectionMethod: 'PHONE',
      formType: 'FULL',
      configuration: { userAgent: 'x', language: '' },
    };
    const empty = {
      callback: '',
      object: '',
      theme: '',
      attributes: { campaign: '' },
      userinfos: { phoneNumber: '1' },
    };
    expect(await contextOf({ subject: 'cleo', ...unknown, ...empty })).toEqual({
      subject: 'cleo',
      layout: 'layout.001',
      subjectInfos: { phoneNumber: '1' },
      ...defaults,
    });
  });

  it('is rejected if a field has two different values', async () => {
    const send = (body: Body) =>
      operator.send('POST', '/consents', { subject: 'dora', layout: 'layout.001', ...body });
    const twice = await send({ validity: 'P1Y', configuration: { validity: 'P2Y' } });
    expect(twice.status).toBe(422);
    expect(await twice.json()).toMatchObject({
      errors: [{ pointer: '/configuration/validity', code: 'conflict' }],
    });
    expect((await send({ validity: 'P1Y', configuration: { validity: 'P1Y' } })).status).toBe(201);
  });

  it('is readable for operators and keys, not for users and tokens', async () => {
    const { id, token } = await createTransaction(operator, { subject: 'user' });
    const key = await createKey(instance);
    expect((await key.get(`/consents/${id}/context`)).status).toBe(200);
    expect((await user.get(`/consents/${id}/context`)).status).toBe(403);
    expect((await instance.fetch(`/consents/${id}/context?t=${token}`)).status).toBe(403);
    expect((await instance.fetch(`/consents/${id}/context`)).status).toBe(401);
    expect((await operator.get('/consents/7Zk3pQxWm4tYv9LsRb2NcD/context')).status).toBe(404);
  });
});

describe('the representation of a transaction', () => {
  const context = {
    subject: 'user',
    cancellable: true,
    callback: 'https://shop.example/done',
    language: 'ar',
  };

  it('has context and author for operators only', async () => {
    const made = await createTransaction(operator, { ...context, author: 'Counter 3' });
    const path = `/consents/${made.id}`;
    const seen = await read(path);
    expect(seen).toMatchObject({ author: 'Counter 3', context: { ...defaults, ...context } });
    for (const own of [
      await read(path, user),
      await (await instance.fetch(`${path}?t=${made.token}`)).json(),
    ]) {
      const { author, context: whole, token, ...rest } = seen;
      expect(own).toEqual({ ...rest, token: expect.any(String), links: expect.any(Object) });
    }
  });

  it('has links and the deadline', async () => {
    const made = await createTransaction(operator, { ...context, timeout: 'PT2H' });
    const { created, expires, ...seen } = await read(`/consents/${made.id}`, user);
    expect(seen).toEqual({
      id: made.id,
      subject: 'user',
      state: 'CREATED',
      token: expect.any(String),
      followers: [],
      ...{
        task: `${instance.url}/consents/${made.id}/submit`,
        breed: `${instance.url}/consents/${made.id}/child`,
      },
      links: { subject: expect.any(String), form: expect.any(String) },
      language: 'ar',
      updatable: true,
      cancellable: true,
      callback: 'https://shop.example/done',
    });
    expect(Date.parse(String(expires)) - Date.parse(String(created))).toBe(2 * 60 * 60 * 1000);
  });

  it('has the caller as author unless the context names one', async () => {
    const key = await createKey(instance, 'till');
    const made = await createTransaction(key);
    expect(await read(`/consents/${made.id}`)).toMatchObject({ author: 'till' });
  });
});

describe('an object', () => {
  it('makes another context, whose answers are separate', async () => {
    const layoutData = { elements: ['processing.001'] };
    const ids = await Promise.all(
      [{}, { object: 'Mia' }, { object: 'Tom' }].map(
        async (object) => (await createTransaction(operator, { subject: 'ed', layoutData, ...object })).id,
      ),
    );
    expect(new Set(ids).size).toBe(3);
    const answers = { 'element/processing/processing.001/1.0': ['accepted'] };
    await operator.send('POST', `/consents/${ids[1]}/submit`, answers);
    const previous = async (id = '') => {
      const form = (await read(`/consents/${id}/submit`)) as { elements?: { previous: unknown }[] };
      return form.elements?.[0]?.previous;
    };
    expect(await previous(ids[2])).toBeNull();
    const again = await createTransaction(operator, {
      subject: 'ed',
      layoutData,
      object: 'Mia',
      attributes: { no: '2' },
    });
    expect(await previous(again.id)).toMatchObject({ answers: ['accepted'] });
  });

  it.each([['x'.repeat(256)], [7]])(
    'of more than 255 characters, or that is no text, is refused',
    async (object) => {
      const body = { subject: 'fay', layout: 'layout.001', object };
      expect((await operator.send('POST', '/consents', body)).status).toBe(
        typeof object === 'string' ? 422 : 400,
      );
    },
  );
});

describe('a context that needs mail or SMS', () => {
  it('is a 422 that names the setting, if the channel is not configured', async () => {
    const environment = { DEMO: 'false', DATABASE_URL: instance.databaseUrl };
    const key = await createKey(instance, 'without mail and SMS');
    const other = await startTestInstance(environment, instance.secrets);
    try {
      const shop = callerWith(other, key.headers);
      const subjectInfos = { emailAddress: 'ann@example.org', phoneNumber: '+33639981234' };
      const needs: [Body, string, string][] = [
        [{ confirmation: 'EMAIL_CODE' }, '/confirmation', 'MAIL_URL'],
        [{ confirmation: 'SMS_CODE' }, '/confirmation', 'SMS_URL'],
        [{ sendInvitation: true }, '/sendInvitation', 'MAIL_URL'],
        [{ notification: 'email.001' }, '/notification', 'MAIL_URL'],
      ];
      for (const [need, pointer, setting] of needs) {
        const body = { subject: 'gil', layout: 'layout.001', subjectInfos, ...need };
        const detail = expect.stringContaining(`(${setting})`);
        expect(await problemOf(await shop.send('POST', '/consents', body))).toMatchObject({
          said: '422 not-available',
          errors: [{ pointer, code: 'not-available', detail }],
        });
      }
      const { id } = await createTransaction(shop, { subjectInfos });
      expect(await problemOf(await shop.send('POST', `/consents/${id}/invitation`))).toMatchObject({
        said: '422 not-available',
        detail: expect.stringContaining('(MAIL_URL)'),
      });
    } finally {
      await other.stop();
    }
  });
});
