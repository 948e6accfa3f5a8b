import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelOrders } from '../../services/forms/domain/model.ts';
import { type FormsAnswer, type FormsService, startForms } from '../support/instances/forms-service.ts';
import { makeActive, makeDraft, makeModel, sampleContent } from '../support/samples/forms-models.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms();
  const { id } = await makeActive(forms, 'processing', sampleContent.processing);
  await makeModel(forms, { type: 'processing', key: 'my_letter', name: 'Letter' });
  await makeModel(forms, { type: 'theme', name: 'Plain', description: '100 % cotton', shared: true });
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
  ['shared=true', ['theme.001']],
  ['shared=false&draft=false', ['my_letter']],
  ['draft=true', []],
])('The list of models is narrowed by "%s"', async (query, keys) => {
  expect(await keysOf(query)).toEqual(keys);
});

it.each([
  ['types=foo', '/types'],
  ['types=processing,Theme', '/types'],
  ['statuses=DRAFT', '/statuses'],
  ['usesIn=ARCHIVED', '/usesIn'],
])('A list of models by "%s", which there is not, is refused with its place', async (query, pointer) => {
  const answer = await forms.send(`/models?${query}`);
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({ errors: [{ pointer }] });
});

it('rejects a filter with all its faults together', async () => {
  const answer = await forms.send('/models?types=foo&statuses=bar');
  expect(await answer.json()).toMatchObject({ errors: [{ pointer: '/types' }, { pointer: '/statuses' }] });
});

describe('layouts can be found by what they name', () => {
  const layout = (content: object) => ({ en: content as Record<string, unknown> });
  beforeAll(async () => {
    const { id: theme } = await makeModel(forms, { type: 'theme', key: 'by_id', name: 'Named by id' });
    const named = await makeModel(forms, { type: 'layout', key: 'form.a', name: 'Zebra' });
    await makeDraft(forms, named.id, layout({ elements: ['my_letter', 'study@Lab.Example:443'], theme }));
    const other = await makeModel(forms, { type: 'layout', key: 'form.b', name: 'Ant' });
    await makeDraft(forms, other.id, layout({ elements: ['letter_2', 'study@clinic.example'] }));
  });

  it.each([
    ['my_letter', ['form.a']],
    ['letter_2', ['form.b']],
    ['my_letter,letter_2', ['form.a', 'form.b']],
    ['by_id', ['form.a']],
    ['study@lab.example', ['form.a']],
    ['@LAB.example:443', ['form.a']],
    ['@clinic.example', ['form.b']],
    ['@example', []],
    ['study', []],
    ['letter', []],
    ['@', []],
  ])('%s', async (uses, keys) => {
    expect(await keysOf(`uses=${uses}`)).toEqual(keys);
  });

  it('in active versions alone, or in drafts alone', async () => {
    expect(await keysOf('uses=my_letter&usesIn=DRAFT')).toEqual(['form.a']);
    expect(await keysOf('uses=my_letter&usesIn=ACTIVE')).toEqual([]);
    expect(await keysOf('uses=my_letter&usesIn=')).toEqual(['form.a']);
  });
});

describe('a sorted list', () => {
  it('is by key, by name, or by the time of the last change', async () => {
    expect(await keysOf('types=layout')).toEqual(['form.a', 'form.b']);
    expect(await keysOf('types=layout&sort=name')).toEqual(['form.b', 'form.a']);
    expect(await keysOf('types=layout&sort=-modificationDate')).toEqual(['form.b', 'form.a']);
  });

  it.each(modelOrders)('has every entry once in the pages that follow each other, by %s', async (sort) => {
    const all = await keysOf(`sort=${sort}`);
    const readPage = async (cursor: string): Promise<FormsAnswer> =>
      (await forms.send(`/models?size=2&sort=${sort}${cursor}`)).json();
    const found: string[] = [];
    let page = await readPage('');
    for (;;) {
      found.push(...page.values.map(({ key }) => key));
      expect(page.totalCount).toBe(all.length);
      if (!page.next) break;
      page = await readPage(`&cursor=${page.next}`);
    }
    expect(all.length).toBeGreaterThan(3);
    expect(found).toEqual(all);
  });

  it('rejects an unknown order, and a cursor that is not one of this order', async () => {
    expect((await forms.send('/models?sort=-key')).status).toBe(422);
    const { next } = await (await forms.send('/models?size=1')).json();
    expect((await forms.send(`/models?size=1&cursor=${next}`)).status).toBe(200);
    const forged = Buffer.from(JSON.stringify(['-modificationDate', 'soon', crypto.randomUUID()]));
    for (const query of [
      `sort=name&cursor=${next}`,
      'cursor=1',
      `sort=-modificationDate&cursor=${forged.toString('base64url')}`,
    ])
      expect((await forms.send(`/models?${query}`)).status, query).toBe(400);
  });
});
