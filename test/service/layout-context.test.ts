import { expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { problemOf } from '../support/instances/live-subject.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));

const question = 'element/processing/processing.001/1.0';
const given = {
  validity: 'P2Y',
  timeout: 'P1D',
  confirmation: 'EMAIL_CODE',
  ask: 'CHANGED',
  callback: 'https://www.example.org/thanks',
};
const layoutWith = async (context: object) => {
  const content = { type: 'layout', elements: ['processing.001'], context };
  return (await makeLiveModel(admin, 'layout', { en: content })).key;
};
const create = (context: object) => admin.send('POST', '/consents', context);
const contextOf = async (id: string) => (await admin.get(`/consents/${id}/context`)).json();
const made = async (context: object) => {
  const { id } = (await (await create(context)).json()) as { id: string };
  return contextOf(id);
};
const subjectInfos = { emailAddress: 'ann@example.org' };

it('a layout gives what the context of a transaction leaves out', async () => {
  const layout = await layoutWith(given);
  expect(await made({ subject: 'ann', layout, subjectInfos })).toMatchObject(given);
  const own = { validity: 'P1M', configuration: { timeout: 'P3D' }, confirmation: 'NONE', callback: '' };
  expect(await made({ subject: 'ben', layout, ...own })).toMatchObject({
    validity: 'P1M',
    timeout: 'P3D',
    confirmation: 'NONE',
    ask: 'CHANGED',
    callback: given.callback,
  });
});

it('an equal context is found again, whether the layout or the context says it', async () => {
  const layout = await layoutWith({ validity: 'P2Y' });
  const ids = [];
  for (const more of [{}, { validity: 'P2Y' }])
    ids.push(((await (await create({ subject: 'cleo', layout, ...more })).json()) as { id: string }).id);
  expect(ids[0]).toBe(ids[1]);
});

it('a code that the layout wants needs an address, as one that the context wants', async () => {
  const layout = await layoutWith(given);
  const { said, errors } = await problemOf(await create({ subject: 'dora', layout }));
  expect([said, errors]).toMatchObject(['422 invalid', [{ pointer: '/subjectInfos' }]]);
  const user = await signIn(instance, 'user');
  const answer = await user.send('POST', '/consents', { subject: 'user', layout, subjectInfos });
  expect((await problemOf(answer)).said).toBe('403 forbidden');
});

it('answers on behalf have the validity of the layout, and no code', async () => {
  const layout = await layoutWith(given);
  const context = { subject: 'emma', layout, origin: 'OPERATOR' };
  const answer = await admin.send('POST', '/consents/singlestep', {
    context,
    values: { [question]: ['accepted'] },
  });
  const { id, state } = (await answer.json()) as { id: string; state: string };
  expect(state).toBe('COMMITTED');
  expect(await contextOf(id)).toMatchObject({ validity: 'P2Y', confirmation: 'NONE' });
});

it.each([
  [{ validity: 'soon' }, 'validity'],
  [{ timeout: 'P1Y' }, 'timeout'],
  [{ confirmation: 'FAX_CODE' }, 'confirmation'],
  [{ callback: 'javascript:alert(1)' }, 'callback'],
  [{ callback: 'mailto:ann@example.org' }, 'callback'],
])('a layout cannot give %j', async (context, member) => {
  const made = await admin.send('POST', '/models', { type: 'layout', name: 'Layout' });
  const { id } = (await made.json()) as { id: string };
  const content = { type: 'layout', elements: ['processing.001'], context };
  const answer = await admin.send('POST', `/models/${id}/versions`, {
    defaultLanguage: 'en',
    data: { en: content },
  });
  const { errors } = await problemOf(answer);
  expect((errors as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
    `/data/en/context/${member}`,
  ]);
});
