import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));

interface Problem {
  type: string;
  detail: string;
  errors: { pointer: string; code: string; detail: string }[];
}

const layoutData = { elements: ['processing.001'] };
const subjectInfos = { emailAddress: 'ann@example.org', phoneNumber: '+33155500180' };
const problemOf = async (path: string, body: object) => {
  const answer = await operator.send('POST', path, body);
  const problem = (await answer.json()) as Problem;
  return { status: answer.status, code: problem.type.split('/').at(-1), ...problem };
};

describe('unavailable features are rejected by name, and nothing is stored', () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ['a code by mail', { confirmation: 'EMAIL_CODE', subjectInfos, layoutData }, '/confirmation'],
    ['a code by SMS', { confirmation: 'SMS_CODE', subjectInfos, layoutData }, '/confirmation'],
    [
      'a code in the form',
      { configuration: { confirmation: 'FORM_CODE' }, layoutData },
      '/configuration/confirmation',
    ],
    ['an invitation', { sendInvitation: true, subjectInfos, layoutData }, '/sendInvitation'],
    ['a notification', { notification: 'email.001', layoutData }, '/notification'],
    [
      "a layout's notification",
      { layoutData: { ...layoutData, notification: 'email.001' } },
      '/layoutData/notification',
    ],
  ];

  it.each(cases)('%s', async (what, context, pointer) => {
    const body = { subject: `for ${what}`, ...context };
    for (const [path, sent, at] of [
      ['/consents', body, pointer],
      ['/consents/singlestep', { context: body, values: {} }, `/context${pointer}`],
    ] as const) {
      const { status, code, errors } = await problemOf(path, sent);
      expect([status, code]).toEqual([422, 'not-available']);
      expect(errors).toEqual([
        {
          pointer: at,
          code: 'not-available',
          detail: expect.stringContaining('not available on this instance yet'),
        },
      ]);
    }
    // A preview answers with a page, whatever becomes of it.
    expect((await operator.send('POST', '/consents/preview', body)).status).toBe(422);
    const stored = await operator.get(`/transactions?subject=${encodeURIComponent(body.subject)}`);
    expect(await stored.json()).toEqual({ values: [] });
  });

  it('all of them at once', async () => {
    const context = {
      confirmation: 'SMS_CODE',
      sendInvitation: true,
      notification: 'x',
    };
    const { errors } = await problemOf('/consents', { subject: 'ann', layoutData, ...context });
    expect(errors.map(({ pointer }) => pointer)).toEqual(Object.keys(context).map((name) => `/${name}`));
  });

  it('a confirmation that there is nowhere is told apart, with the four that there are', async () => {
    const { status, code, errors } = await problemOf('/consents', {
      subject: 'ann',
      layoutData,
      confirmation: 'FAX',
    });
    expect([status, code]).toEqual([422, 'invalid']);
    expect(errors).toMatchObject([{ pointer: '/confirmation' }]);
    expect(errors[0]?.detail).toContain('NONE, FORM_CODE, EMAIL_CODE, SMS_CODE');
  });

  it('openapi.yaml says so too', async () => {
    const contract = await (await instance.fetch('/openapi.yaml')).text();
    expect(contract).toMatch(/## Not available on this instance yet/);
  });
});

it('what comes to nothing anyway is no reason to refuse', async () => {
  const context = {
    confirmation: 'NONE',
    sendInvitation: false,
    notification: '',
    peerCommit: 'independent',
  };
  const made = await operator.send('POST', '/consents', { subject: 'ben', layoutData, ...context });
  expect(made.status).toBe(201);
});
