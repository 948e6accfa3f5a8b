import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordsOf,
} from '../support/instances/live-transactions.ts';

type Form = components['schemas']['Form'];

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));

/** As clients of a later generation send a layout: a processing with the preferences that belong to it. */
const blocs = [
  { parent: { key: 'processing.001' }, children: [{ key: 'preference.001' }] },
  { parent: { key: 'processing.002' } },
];
const elements = ['processing.001', 'preference.001', 'processing.002'];
const info = 'information.001';

const formOf = async ({ task, token }: LiveTransaction) =>
  (await (await instance.fetch(`${task}?t=${token}`)).json()) as Form;
const keysOf = (form: Form) => form.elements.map(({ entry }) => entry.key);
const answer = ({ task, token }: LiveTransaction, answers: object) =>
  instance.fetch(`${task}?t=${token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(answers),
  });

describe('a layout of blocs', () => {
  it('is the list of its elements, parents first, and its form returns the blocs', async () => {
    const form = await formOf(await createTransaction(operator, { layoutData: { info, blocs } }));
    expect(keysOf(form)).toEqual(elements);
    expect(form.blocs).toEqual(
      form.elements.map(({ identifier, serial, entry }) => ({
        parent: { identifier, serial, element: { entry: { key: entry.key } } },
      })),
    );
    expect(form.blocs?.[1]?.parent.identifier).toBe('element/preference/preference.001/1.0');
  });

  it('is not returned to clients that send elements', async () => {
    const form = await formOf(await createTransaction(operator, { layoutData: { info, elements } }));
    expect(keysOf(form)).toEqual(elements);
    expect(form).not.toHaveProperty('blocs');
  });

  it('may start with the information', async () => {
    const layoutData = { blocs: [{ parent: { key: info }, children: elements.map((key) => ({ key })) }] };
    const form = await formOf(await createTransaction(operator, { layoutData }));
    expect(form.info.entry.key).toBe(info);
    expect(keysOf(form)).toEqual(elements);
  });

  it('makes the same context as the same elements; another order makes another context', async () => {
    const create = async (layoutData: object) => {
      const response = await operator.send('POST', '/consents', { subject: 'ann', layoutData });
      return { status: response.status, ...((await response.json()) as { id: string }) };
    };
    const first = await create({ info, elements });
    expect(first.status).toBe(201);
    expect(await create({ info, blocs })).toMatchObject({ status: 200, id: first.id });
    const turned = await create({ info, blocs: blocs.toReversed() });
    expect(turned.status).toBe(201);
    expect(
      await create({ info, elements: ['processing.002', 'processing.001', 'preference.001'] }),
    ).toMatchObject({
      status: 200,
      id: turned.id,
    });
  });

  it.each([
    [{ blocs, elements }, '/layoutData/blocs', 'layout-conflict'],
    [{ blocs: [] }, '/layoutData/elements', 'invalid'],
    [{ blocs: [{ parent: { key: 'nowhere' } }] }, '/layoutData/blocs/0/parent/key', 'unknown-element'],
    [{ blocs: [...blocs, blocs[1]] }, '/layoutData/blocs/2/parent/key', 'layout-conflict'],
    [
      { blocs: [{ parent: { key: 'processing.001' }, children: [{ key: 'nowhere' }] }] },
      '/layoutData/blocs/0/children/0/key',
      'unknown-element',
    ],
  ])('is refused where it is wrong: %j', async (layoutData, pointer, code) => {
    const response = await operator.send('POST', '/consents', { subject: 'ben', layoutData });
    expect(response.status).toBe(422);
    const problem = (await response.json()) as { type: string; errors: { pointer: string }[] };
    expect(problem.errors[0]?.pointer).toBe(pointer);
    expect(problem.type.split('/').at(-1)).toBe(code);
  });
});

describe('answers with the prefix of later clients', () => {
  const answers = {
    'bloc/17/element/processing/processing.001/1.0': ['accepted'],
    'bloc/17/element/preference/preference.001/1.0': ['Every week'],
    'bloc/x-9/element/processing/processing.002/1.0': ['refused'],
  };

  it('are equal to answers without it, and are recorded under the elements', async () => {
    const made = await createTransaction(operator, { subject: 'cleo', layoutData: { info, blocs } });
    expect((await answer(made, answers)).status).toBe(200);
    const records = await recordsOf(operator, 'cleo');
    expect(Object.keys(records).sort()).toEqual(elements.toSorted());
    expect(records['preference.001']).toMatchObject([{ value: 'Every week', infoKey: info }]);
    const bare = Object.entries(answers).map(([name, value]) => [name.replace(/^bloc\/[^/]+\//, ''), value]);
    expect((await answer(made, Object.fromEntries(bare))).status).toBe(200);
  });

  it('are accepted for a layout of elements, also from a form', async () => {
    const made = await createTransaction(operator, { subject: 'dora', layoutData: { info, elements } });
    const fields = Object.fromEntries(Object.entries(answers).map(([name, [value = '']]) => [name, value]));
    const posted = await instance.fetch(`${made.task}?t=${made.token}`, {
      method: 'POST',
      body: new URLSearchParams({ info: `element/information/${info}/1.0`, ...fields }),
    });
    expect(posted.status).toBe(303);
    expect(Object.keys(await recordsOf(operator, 'dora'))).toHaveLength(3);
  });

  it('are rejected if an element has an answer with it and another one without it', async () => {
    const made = await createTransaction(operator, { subject: 'emil', layoutData: { info, blocs } });
    const both = { ...answers, 'element/processing/processing.001/1.0': ['refused'] };
    expect((await answer(made, both)).status).toBe(422);
    expect(await recordsOf(operator, 'emil')).toEqual({});
  });
});
