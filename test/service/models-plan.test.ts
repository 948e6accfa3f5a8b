import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { sql } from '#lib/db/sql.ts';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import { makeActive, makeDraft, makeModel, sampleContent } from '../support/samples/forms-models.ts';

type Schemas = components['schemas'];
type Wanted = Schemas['WantedModel'];

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms();
});
afterAll(() => forms.stop());

const { information, processing, theme } = sampleContent;
const post = (path: string, json: unknown) => forms.send(path, { method: 'POST', json });
const plan = async (models: unknown[], more: object = {}) => {
  const response = await post('/models/plan', { models, ...more });
  expect(response.status).toBe(200);
  return (await response.json()) as unknown as Schemas['ModelPlan'];
};
const apply = (json: unknown) => post('/models/apply', json);
const faultsOf = ({ faults }: Schemas['ModelPlan']) =>
  faults.map(({ pointer, code }) => `${pointer} ${code}`);
const find = async (key: string) =>
  (await (await forms.send(`/models/serials/${key}`)).json()) as unknown as Schemas['Entry'];

let made = 0;
function wanted(content: object = {}, more: Partial<Wanted> & { type?: string } = {}): Wanted {
  made += 1;
  const data = { en: { ...processing, ...content } };
  return { key: `plan.${made}`, type: 'processing', name: 'Letters', defaultLanguage: 'en', data, ...more };
}

/** Plans and applies all steps. @returns the changes. */
async function settle(...models: Wanted[]): Promise<string[]> {
  const { steps, faults } = await plan(models);
  expect(faults).toEqual([]);
  const changes: string[] = [];
  for (const { key, digest } of steps) {
    const response = await apply({ digest, model: models.find((each) => each.key === key) });
    expect(response.status).toBe(200);
    changes.push(((await response.json()) as unknown as Schemas['AppliedModel']).change);
  }
  return changes;
}

describe('a plan of models', () => {
  it('creates what is not there, changes what differs, and then does nothing', async () => {
    const letters = wanted();
    const { steps } = await plan([letters]);
    expect(steps).toMatchObject([
      { key: letters.key, change: 'CREATED', version: { type: 'MAJOR' }, differences: [], layouts: [] },
    ]);
    expect(await settle(letters)).toEqual(['CREATED']);
    expect(await settle(letters)).toEqual(['UNCHANGED']);
    const [active] = (await find(letters.key)).versions;
    expect(active).toMatchObject({ serial: '1.0', status: 'ACTIVE' });

    const renamed = { ...letters, name: 'Our letters', description: 'Twice a year' };
    expect((await plan([renamed])).steps[0]?.differences).toEqual([
      { member: 'name', before: 'Letters', after: 'Our letters' },
      { member: 'description', before: '', after: 'Twice a year' },
    ]);
    expect(await settle(renamed)).toEqual(['CHANGED']);
    expect(await find(letters.key)).toMatchObject({ name: 'Our letters', versions: [{ serial: '1.0' }] });
  });

  it('proposes a MAJOR for what people agreed to, and a MINOR for other words', async () => {
    const letters = wanted();
    await settle(letters);
    const reworded = { ...letters, data: { en: { ...processing, title: 'Our letter' } } };
    expect((await plan([reworded])).steps[0]?.version).toEqual({
      type: 'MINOR',
      proposed: 'MINOR',
      because: [],
      after: '1.0',
      serial: '1.1',
    });
    const grown = { ...letters, data: { en: { ...processing, data: 'Name and address' } } };
    expect((await plan([grown])).steps[0]).toMatchObject({
      change: 'CHANGED',
      version: { type: 'MAJOR', proposed: 'MAJOR', because: ['data'], serial: '2.0' },
      differences: [{ member: 'data', language: 'en', before: 'Name', after: 'Name and address' }],
    });
    await settle(grown);
    expect((await find(letters.key)).versions[0]).toMatchObject({ serial: '2.0', type: 'MAJOR' });
  });

  it('takes another type from the file with a reason, for one change alone', async () => {
    const letters = wanted();
    await settle(letters);
    const grown = { ...letters, data: { en: { ...processing, data: 'Full name' } } };
    const minor = { after: '1.0', type: 'MINOR' };
    expect(faultsOf(await plan([{ ...grown, change: minor }]))).toEqual(['/models/0/change/reason required']);
    expect(faultsOf(await plan([{ ...grown, change: { ...minor, type: 'PATCH' } }]))).toEqual([
      '/models/0/change/type invalid',
    ]);
    const change = { ...minor, reason: 'The same, in other words' };
    await settle({ ...grown, change });
    const [version] = (await find(letters.key)).versions;
    expect(version).toMatchObject({ serial: '1.1', type: 'MINOR', reason: 'The same, in other words' });
    const again = { ...letters, change, data: { en: { ...processing, data: 'Name and address' } } };
    expect(faultsOf(await plan([again]))).toEqual(['/models/0/change/after stale']);
    const notice = { ...grown, change, data: { en: { ...grown.data.en, refusable: false } } };
    expect(faultsOf(await plan([{ ...notice, change: { ...change, after: '1.1' } }]))).toEqual([
      '/models/0/data/en/refusable needs-major',
    ]);
  });

  it('names all faults, also what is spelt wrongly, and changes nothing', async () => {
    const drafted = await makeModel(forms, { type: 'processing' });
    await makeDraft(forms, drafted.id, { en: processing });
    const models = [
      wanted({ title: '', tittle: 'Letters', retention: { lable: 'a year' } }),
      wanted({}, { key: drafted.key }),
      wanted({}, { type: 'letter' }),
      wanted({}, { sharedWith: ['nobody'], default: true }),
    ];
    const planned = await plan([...models, models[0]]);
    expect(faultsOf(planned).toSorted()).toEqual(
      [
        '/models/4/key duplicate',
        ...[0, 4].flatMap((place) => [
          `/models/${place}/data/en/title required`,
          `/models/${place}/data/en/retention required`,
          `/models/${place}/data/en/tittle unknown-member`,
          `/models/${place}/data/en/retention/lable unknown-member`,
        ]),
        '/models/1/key draft',
        '/models/2/type invalid',
        '/models/3/default invalid',
      ].toSorted(),
    );
    const theme = await makeActive(forms, 'theme', sampleContent.theme);
    expect(faultsOf(await plan([wanted({}, { key: theme.key })]))).toEqual(['/models/0/type exists']);
    expect((await post('/models/plan', { models: [], noticeCheck: 'NONE' })).status).toBe(422);
    expect((await post('/models/plan', { models: [], prunes: true })).status).toBe(400);
  });

  it('resolves a form by what is there and by what the plan creates, and says which forms a change touches', async () => {
    const info = wanted({}, { type: 'information', data: { en: information } });
    const letters = wanted();
    const layout = (elements: string[]) =>
      wanted({}, { type: 'layout', data: { en: { type: 'layout', info: info.key, elements } } });
    expect(faultsOf(await plan([layout([letters.key]), info]))).toEqual([
      '/models/0/data/en/elements/0 unknown-element',
    ]);
    const form = layout([letters.key]);
    const { steps, faults } = await plan([form, info, letters]);
    expect(faults).toEqual([]);
    expect(steps.map(({ key }) => key)).toEqual([info.key, letters.key, form.key]);
    expect(await settle(form, info, letters)).toEqual(['CREATED', 'CREATED', 'CREATED']);
    expect((await plan([letters, info])).steps.map(({ layouts }) => layouts)).toEqual([
      [form.key],
      [form.key],
    ]);
  });

  it('archives the rest if asked to, but not what a form that stays names, nor the default information', async () => {
    const info = wanted({}, { type: 'information', data: { en: information }, default: true });
    const letters = wanted();
    const old = wanted();
    const form = wanted({}, { type: 'layout', data: { en: { type: 'layout', elements: [letters.key] } } });
    await settle(info, letters, old, form);
    const elsewhere = await forms.db.query<{ key: string; type: string }>(
      sql`SELECT m.key, m.type FROM models AS m WHERE m.status = 'ACTIVE' AND m.key <> ${old.key}`,
    );
    const others = elsewhere.filter(({ key }) => key !== letters.key);
    const { steps, faults } = await plan([letters], { others, prune: true });
    expect(faults).toEqual([]);
    const ended = steps.find(({ key }) => key === old.key);
    expect(ended).toMatchObject({ change: 'ARCHIVED' });
    expect(
      faultsOf(await plan([form], { others: others.filter(({ key }) => key !== form.key), prune: true })),
    ).toEqual(['/models/0/data/en/elements/0 unknown-element']);
    expect(
      faultsOf(await plan([], { others: others.filter(({ key }) => key !== info.key), prune: true })),
    ).toEqual(['/prune in-use']);
    expect((await apply({ digest: 'other', archive: old.key })).status).toBe(409);
    expect((await apply({ digest: ended?.digest, archive: old.key })).status).toBe(200);
    expect(await find(old.key)).toMatchObject({ status: 'INACTIVE' });
    expect((await plan([old])).steps[0]?.differences).toEqual([
      { member: 'status', before: 'INACTIVE', after: 'ACTIVE' },
    ]);
    expect(await settle(old)).toEqual(['CHANGED']);
    expect((await find(old.key)).versions[0]).toMatchObject({ serial: '1.1', status: 'ACTIVE' });
  });

  it('says what the notice check expects, as warnings or as faults', async () => {
    const letters = wanted({ purposes: ['CONSENT_MARKETING'], legalBases: ['LEGAL_BASIS_CONSENT'] });
    const { steps, faults } = await plan([letters]);
    expect(steps[0]?.notice.map(({ code }) => code)).toEqual(['recipients']);
    expect(faults).toEqual([]);
    expect((await plan([letters], { noticeCheck: 'FAULTS' })).faults).toEqual([
      {
        pointer: '/models/0/data/en/thirdParties',
        code: 'recipients',
        detail: 'notice check: says who receives the data, or with an empty list that nobody does',
      },
    ]);
  });
});

describe('a step of a plan', () => {
  it('is refused, and does nothing, if it would do something else than planned', async () => {
    const letters = wanted();
    await settle(letters);
    const grown = { ...letters, data: { en: { ...processing, data: 'Name and address' } } };
    const [step] = (await plan([grown])).steps;
    await settle({ ...letters, data: { en: { ...processing, data: 'Name and age' } } });
    const refused = await apply({ digest: step?.digest, model: grown });
    expect(refused.status).toBe(409);
    expect((await find(letters.key)).versions[0]).toMatchObject({ serial: '2.0' });
    expect((await apply({ digest: 'none', model: { ...letters, data: {} } })).status).toBe(422);
    expect((await apply({ digest: 'none' })).status).toBe(422);
    expect((await apply({ digest: 'none', archive: 'nothing.here' })).status).toBe(409);
  });

  it('is applied once, whoever else does the same at the same time', async () => {
    const blue = wanted({}, { type: 'theme', data: { en: theme } });
    const [step] = (await plan([blue])).steps;
    const all = await Promise.all(
      Array.from({ length: 4 }, () => apply({ digest: step?.digest, model: blue })),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    expect((await find(blue.key)).versions).toHaveLength(1);
  });
});
