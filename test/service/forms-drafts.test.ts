import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import {
  makeActive,
  makeDraft,
  makeModel,
  type SampleType,
  sampleContent,
  setStatus,
} from '../support/samples/forms-models.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms({ demo: true });
});
afterAll(() => forms?.stop());

type Data = Record<string, Record<string, unknown>>;
const faultsOf = (faults: { pointer: string; code: string }[] = []) =>
  faults.map(({ pointer, code }) => `${code} ${pointer}`);

/** Saves an incomplete draft of a new entry. */
async function save(type: string, data: Data, query = '?incomplete=true') {
  const { id } = await makeModel(forms, { type });
  const json = { defaultLanguage: Object.keys(data)[0], data };
  const response = await forms.send(`/models/${id}/versions${query}`, { method: 'POST', json });
  const saved = await response.json();
  return { id, version: saved.id, status: response.status, saved, errors: saved.errors };
}
const check = async ({ id, version }: { id: string; version: string }) =>
  (await forms.send(`/models/${id}/versions/${version}/check`)).json();
const preview = async ({ id, version }: { id: string; version: string }) => {
  const response = await forms.send(`/models/${id}/versions/${version}/preview`, {
    method: 'POST',
    json: {},
  });
  expect(response.status).toBe(200);
  return response.text();
};

describe('an incomplete draft', () => {
  const data = {
    en: { title: 'Letter', data: 'Name', usage: 'News' },
    fr: { title: 'Lettre', refusable: false },
  };
  const missing = [
    'required /data/en/retention',
    'required /data/fr/data',
    'required /data/fr/retention',
    'required /data/fr/usage',
    'differs /data/fr/refusable',
  ];

  it('is stored with a list of what it lacks', async () => {
    const { id, version, status, saved } = await save('processing', data);
    expect([status, faultsOf(saved.faults)]).toEqual([201, missing]);
    const stored = await (await forms.send(`/models/${id}/versions/${version}`)).json();
    expect(stored.data).toEqual(data);
    expect(stored).not.toHaveProperty('faults');
  });

  it('is rejected without the parameter', async () => {
    const { status, errors } = await save('processing', data, '');
    expect([status, faultsOf(errors)]).toEqual([422, missing.slice(0, 4)]);
    expect((await save('processing', data, '?incomplete=false')).status).toBe(422);
  });

  it('cannot be activated until it is complete', async () => {
    const draft = await save('processing', data);
    const refused = await setStatus(forms, draft.id, draft.version, 'ACTIVE');
    expect([refused.status, faultsOf((await refused.json()).errors)]).toEqual([422, missing]);
    const json = { defaultLanguage: 'en', data: { en: sampleContent.processing } };
    const path = `/models/${draft.id}/versions/${draft.version}?incomplete=true`;
    const completed = await forms.send(path, { method: 'PUT', json });
    expect([completed.status, (await completed.json()).faults]).toEqual([200, undefined]);
    expect((await setStatus(forms, draft.id, draft.version, 'ACTIVE')).status).toBe(200);
  });

  it('can replace a complete draft, under its precondition', async () => {
    const { id } = await makeModel(forms, { type: 'theme' });
    const version = await makeDraft(forms, id, { en: sampleContent.theme });
    const path = `/models/${id}/versions/${version}?incomplete=true`;
    const json = { defaultLanguage: 'en', data: { en: {} } };
    const stale = await forms.send(path, { method: 'PUT', json, headers: { 'If-Match': '"9"' } });
    expect(stale.status).toBe(412);
    const replaced = await (await forms.send(path, { method: 'PUT', json })).json();
    expect(faultsOf(replaced.faults)).toEqual(['required /data/en/name']);
  });

  it('has no other faults: those are rejected, and nothing is stored', async () => {
    const { id, status, errors } = await save('preference', { en: { valueType: 'DICE', label: 5 } });
    expect([status, faultsOf(errors)]).toEqual([
      422,
      ['invalid /data/en/label', 'invalid /data/en/valueType'],
    ]);
    expect((await (await forms.send(`/models/${id}`)).json()).versions).toEqual([]);
  });

  it('keeps the places of options whose text is missing', async () => {
    const preference = (options: string[]) => ({ label: 'When', valueType: 'RADIO_BUTTONS', options });
    const { saved } = await save('preference', {
      en: preference(['Day', 'Night']),
      fr: preference(['', 'Nuit']),
    });
    expect(faultsOf(saved.faults)).toEqual(['required /data/fr/options/0']);
    expect(saved.data.fr).toMatchObject({ options: ['', 'Nuit'] });
  });

  it('may be a layout that names no element yet', async () => {
    const draft = await save('layout', { en: { submitText: 'Send' } });
    expect(faultsOf(draft.saved.faults)).toEqual(['required /data/en/elements']);
    expect(await preview(draft)).toContain('…');
  });

  it('has a preview with "…" for what is missing', async () => {
    const types = ['information', 'processing', 'preference', 'conditions', 'email'] as const;
    for (const type of types) expect(await preview(await save(type, { en: {} })), type).toContain('…');
    const html = await preview(await save('preference', { en: { valueType: 'TOGGLE', options: ['No'] } }));
    expect(html).toContain('No');
  });
});

describe('a draft with any members left out', () => {
  const contents: Record<SampleType, Record<string, unknown>> = {
    ...sampleContent,
    processing: {
      ...sampleContent.processing,
      thirdParties: [{ name: 'Post', value: 'sends' }, { value: 'prints' }],
    },
  };
  const types = Object.keys(contents) as SampleType[];
  const sample = fc
    .constantFrom(...types)
    .chain((type) => fc.record({ type: fc.constant(type), kept: fc.subarray(Object.keys(contents[type])) }));

  it('is stored, lacks what a check says, and has a preview', async () => {
    await fc.assert(
      fc.asyncProperty(sample, async ({ type, kept }) => {
        const content = Object.fromEntries(kept.map((name) => [name, contents[type][name]]));
        const draft = await save(type, { en: content });
        expect(draft.status).toBe(201);
        const { faults } = await check(draft);
        expect(faults).toEqual(draft.saved.faults ?? []);
        await preview(draft);
        const activated = await setStatus(forms, draft.id, draft.version, 'ACTIVE');
        expect(activated.status).toBe(faults?.length === 0 ? 200 : 422);
      }),
      { numRuns: 25 },
    );
  });
});

describe('the check of a draft', () => {
  const preference = (options: string[], more = {}) => ({
    ...sampleContent.preference,
    options,
    ...more,
  });

  it('allows no MINOR for the first version', async () => {
    const { id } = await makeModel(forms, { type: 'theme' });
    const version = await makeDraft(forms, id, { en: sampleContent.theme });
    expect(await check({ id, version })).toEqual({
      faults: [],
      checklist: [],
      minor: { allowed: false, errors: [] },
    });
  });

  it('allows a MINOR that rewords and appends, and names what only a MAJOR may change', async () => {
    const { id } = await makeActive(forms, 'preference', preference(['Daily', 'Never']));
    const version = await makeDraft(forms, id, { en: preference(['Each day', 'Never', 'Weekly']) });
    expect(await check({ id, version })).toEqual({
      faults: [],
      checklist: [],
      minor: { allowed: true, errors: [] },
    });
    const data = { en: preference(['Never'], { optional: true }) };
    const json = { defaultLanguage: 'en', data };
    await forms.send(`/models/${id}/versions/${version}`, { method: 'PUT', json });
    const { faults, minor } = await check({ id, version });
    expect([faults, minor.allowed]).toEqual([[], false]);
    expect(faultsOf(minor.errors)).toEqual(['needs-major /data/en/optional', 'needs-major /data/en/options']);
    const refused = await setStatus(forms, id, version, 'ACTIVE');
    expect((await refused.json()).errors).toEqual(minor.errors);
  });

  it('names the references of a layout that do not resolve, as its activation does', async () => {
    const { id } = await makeModel(forms, { type: 'layout' });
    const version = await makeDraft(forms, id, { en: { elements: ['processing.001', 'nothing.here'] } });
    const { faults = [] } = await check({ id, version });
    expect(faultsOf(faults)).toEqual(['unknown-element /data/en/elements/1']);
    const refused = await setStatus(forms, id, version, 'ACTIVE');
    expect((await refused.json()).errors).toEqual(faults);
  });

  it('is a 409 for an activated version, and a 404 for an unknown one', async () => {
    const { id, version } = await makeActive(forms, 'theme', sampleContent.theme);
    const statusOf = async (vid: string) => (await forms.send(`/models/${id}/versions/${vid}/check`)).status;
    expect([await statusOf(version), await statusOf(id)]).toEqual([409, 404]);
  });
});
