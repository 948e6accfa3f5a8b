import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import { makeActive, makeModel, sampleContent } from '../support/samples/forms-models.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms();
  const { id } = await makeActive(forms, 'processing', sampleContent.processing);
  await makeModel(forms, { type: 'processing', key: 'my_letter', name: 'Letter' });
  await makeModel(forms, { type: 'theme', name: 'Plain', description: '100 % cotton' });
  expect((await forms.send(`/models/${id}`, { method: 'DELETE' })).status).toBeLessThan(300);
});
afterAll(() => forms?.stop());

const keysOf = async (query: string) =>
  (await (await forms.send(`/models?${query}`)).json()).values.map(({ key }) => key);

it.each([
  ['', ['my_letter', 'theme.001']],
  ['types=processing', ['my_letter']],
  ['types=processing,theme', ['my_letter', 'theme.001']],
  ['types=email', []],
  ['keys=theme.001', ['theme.001']],
  ['keyword=LETTER', ['my_letter']],
  ['keyword=100 %25', ['theme.001']],
  ['keyword=y_l', ['my_letter']],
  ['keyword=y.l', []],
  ['statuses=ACTIVE', []],
  ['statuses=INACTIVE&statuses=ACTIVE', ['my_letter', 'theme.001']],
  ['types=&statuses=', ['my_letter', 'theme.001']],
])('The list of models is narrowed by "%s"', async (query, keys) => {
  expect(await keysOf(query)).toEqual(keys);
});

it.each([
  ['types=foo', '/types'],
  ['types=processing,Theme', '/types'],
  ['statuses=DRAFT', '/statuses'],
])('A list of models by "%s", which there is not, is refused with its place', async (query, pointer) => {
  const answer = await forms.send(`/models?${query}`);
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({ errors: [{ pointer }] });
});

it('rejects a filter with all its faults together', async () => {
  const answer = await forms.send('/models?types=foo&statuses=bar');
  expect(await answer.json()).toMatchObject({ errors: [{ pointer: '/types' }, { pointer: '/statuses' }] });
});
