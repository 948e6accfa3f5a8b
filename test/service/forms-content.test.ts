import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import { makeModel, type SampleType, sampleContent } from '../support/samples/forms-models.ts';

let forms: FormsService;
const entries = new Map<string, string>();
beforeAll(async () => {
  forms = await startForms();
  for (const type of [...Object.keys(sampleContent), 'layout'])
    entries.set(type, (await makeModel(forms, { type })).id);
});
afterAll(() => forms.stop());

type Fault = { pointer: string; code: string };

/** Sends content as a draft and takes it back. @returns the status, the faults and the stored content. */
async function save(type: string, data: Record<string, unknown>, defaultLanguage = Object.keys(data)[0]) {
  const id = entries.get(type);
  const response = await forms.send(`/models/${id}/versions`, {
    method: 'POST',
    json: { defaultLanguage, data },
  });
  const body = await response.json();
  if (response.status === 201) await forms.send(`/models/${id}/versions/${body.id}`, { method: 'DELETE' });
  const faults = ((body.errors ?? []) as Fault[]).map(({ pointer, code }) => `${pointer} ${code}`);
  return { status: response.status, faults, data: body.data };
}

const { processing, preference, information, conditions, email, theme } = sampleContent;
const layout = { type: 'layout', elements: ['some.key'] };

describe('content', () => {
  it.each<[string, string, object, string[]]>([
    ['information', 'without a title', { title: '' }, ['/title required']],
    [
      'information',
      'with a javascript link',
      { privacyPolicyUrl: 'javascript:alert(1)' },
      ['/privacyPolicyUrl invalid'],
    ],
    ['information', 'with an invalid link', { shortNoticeLink: 'example' }, ['/shortNoticeLink invalid']],
    ['information', 'with a switch that is a text', { scopeVisible: 'true' }, ['/scopeVisible invalid']],
    [
      'information',
      'with a company that is a number',
      { dataController: { company: 7 } },
      ['/dataController/company invalid'],
    ],
    [
      'processing',
      'without anything',
      { title: null, data: null, retention: null, usage: null },
      ['/title required', '/data required', '/retention required', '/usage required'],
    ],
    ['processing', 'with an empty retention', { retention: {} }, ['/retention required']],
    ['processing', 'with half a retention', { retention: { value: 3 } }, ['/retention invalid']],
    [
      'processing',
      'with an unknown unit',
      { retention: { value: 3, unit: 'AGE' } },
      ['/retention/unit invalid'],
    ],
    [
      'processing',
      'with an unknown purpose',
      { purposes: ['CONSENT_CORE_SERVICE', 'FUN'] },
      ['/purposes/1 invalid'],
    ],
    [
      'processing',
      'with a nameless third party',
      { thirdParties: [{ value: 'x' }] },
      ['/thirdParties/0/name required'],
    ],
    ['processing', 'too long', { title: 'x'.repeat(501) }, ['/title too-long']],
    ['preference', 'without options', { options: [] }, ['/options required']],
    ['preference', 'with an empty option', { options: ['a', ''] }, ['/options/1 required']],
    ['preference', 'with an option too long', { options: ['a', 'x'.repeat(256)] }, ['/options/1 too-long']],
    ['preference', 'with the same option twice', { options: ['a', 'b', ' a '] }, ['/options/2 duplicate']],
    [
      'preference',
      'with an option that looks like another',
      { options: ['x', 'x\u00ad'] },
      ['/options/1 duplicate'],
    ],
    [
      'preference',
      'with 51 options',
      { options: Array.from({ length: 51 }, (_, n) => `${n}`) },
      ['/options too-many'],
    ],
    ['preference', 'of an unknown type', { valueType: 'SLIDER' }, ['/valueType invalid']],
    ['preference', 'that toggles three', { valueType: 'TOGGLE' }, ['/options invalid']],
    ['preference', 'of free text with options', { valueType: 'FREE_TEXT' }, ['/options invalid']],
    [
      'preference',
      'with two defaults for one answer',
      { defaultValues: ['Daily', 'Never'] },
      ['/defaultValues too-many'],
    ],
    [
      'preference',
      'with a default that is not an option',
      { defaultValues: ['Hourly'] },
      ['/defaultValues/0 not-an-option'],
    ],
    [
      'conditions',
      'with a body that is empty after sanitising',
      { body: '<script>alert(1)</script>' },
      ['/body required'],
    ],
    ['email', 'without a subject', { subject: undefined }, ['/subject required']],
    ['theme', 'with a logo from elsewhere', { logoPath: 'https://example.org/x.png' }, ['/logoPath invalid']],
    [
      'theme',
      'with a logo that was never uploaded',
      { logoPath: '/assets/logos/00000000-0000-7000-8000-000000000000' },
      ['/logoPath invalid'],
    ],
    ['theme', 'with an unknown position', { logoPosition: 'TOP' }, ['/logoPosition invalid']],
    ['layout', 'without elements', { elements: [] }, ['/elements required']],
    ['layout', 'with an element twice', { elements: ['a.b', 'c.d', 'a.b'] }, ['/elements/2 layout-conflict']],
    [
      'layout',
      'with 101 elements',
      { elements: Array.from({ length: 101 }, (_, n) => `k.${n}`) },
      ['/elements too-many'],
    ],
    ['layout', 'with an unknown orientation', { orientation: 'DIAGONAL' }, ['/orientation invalid']],
  ])('of %s %s is rejected with a pointer', async (type, _what, change, faults) => {
    const valid = type === 'layout' ? layout : sampleContent[type as SampleType];
    const saved = await save(type, { en: { ...valid, ...change } });
    expect(saved).toMatchObject({ status: 422, faults: faults.map((fault) => `/data/en${fault}`) });
  });

  it('is rejected with all faults of all languages together', async () => {
    const broken = { ...processing, title: '', retention: 'long' };
    const { faults } = await save('processing', { en: broken, fr: { ...processing, usage: 3 } });
    expect(faults).toEqual([
      '/data/en/title required',
      '/data/en/retention invalid',
      '/data/fr/usage invalid',
    ]);
  });

  it('keeps known members, drops unknown ones and treats empty texts as absent', async () => {
    const given = { ...information, scope: '', unknown: 1, type: 'information', lang: 'en', header: null };
    expect((await save('information', { en: given })).data).toEqual({ en: information });
  });

  it('without a language, with an invalid language or with a duplicate language is rejected', async () => {
    expect((await save('email', {}, 'en')).faults).toEqual(['/data required', '/defaultLanguage invalid']);
    expect((await save('email', { english_uk: email })).faults).toEqual(['/data/english_uk invalid']);
    expect((await save('email', { en: email, EN: email })).faults).toEqual(['/data/EN duplicate']);
    expect((await save('email', { en: email }, 'fr')).faults).toEqual(['/defaultLanguage invalid']);
  });

  it.each<[string, object, object, string]>([
    ['preference', preference, { ...preference, options: ['a', 'b'] }, '/data/fr/options'],
    ['preference', preference, { ...preference, valueType: 'LIST_SINGLE' }, '/data/fr/valueType'],
    ['preference', preference, { ...preference, optional: true }, '/data/fr/optional'],
    [
      'preference',
      { ...preference, defaultValues: ['Daily'] },
      { ...preference, defaultValues: ['Never'] },
      '/data/fr/defaultValues',
    ],
    ['processing', processing, { ...processing, refusable: false }, '/data/fr/refusable'],
    ['conditions', conditions, { ...conditions, refusable: false }, '/data/fr/refusable'],
    ['layout', layout, { ...layout, elements: ['other.key'] }, '/data/fr/elements'],
    ['layout', layout, { ...layout, cancelVisible: true }, '/data/fr/cancelVisible'],
    ['theme', theme, { ...theme, css: 'p { color: red }' }, '/data/fr/css'],
  ])('of %s must ask the same in every language', async (type, en, fr, pointer) => {
    expect(await save(type, { en, fr })).toMatchObject({ status: 422, faults: [`${pointer} differs`] });
  });

  it('of a layout may have different texts in every language', async () => {
    const { status } = await save('layout', {
      en: { ...layout, submitText: 'Save', orientation: 'VERTICAL' },
      fr: { ...layout, cancelText: 'Annuler' },
    });
    expect(status).toBe(201);
  });

  it('is normalised to NFC, to one line in single-line fields, and trimmed', async () => {
    const { data } = await save('preference', {
      en: {
        ...preference,
        label: ' cafe\u0301\n\tbar ',
        options: ['a\u0308', ' b '],
        description: 'one\r\ntwo ',
      },
    });
    expect(data.en).toMatchObject({ label: 'café bar', options: ['ä', 'b'], description: 'one\ntwo' });
  });

  it('of a French sentence keeps its no-break spaces', async () => {
    const title = 'Qu’en pensez-vous\u202f? «\u00a0Oui\u00a0»';
    expect((await save('information', { fr: { title } })).data.fr?.title).toBe(title);
  });
});
