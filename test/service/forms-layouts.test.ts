import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MessagesPage } from '#lib/contracts/pages.ts';
import type { Failure } from '#lib/errors/fail.ts';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import {
  makeActive,
  makeDraft,
  makeModel,
  sampleContent,
  setStatus,
} from '../support/samples/forms-models.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms({ demo: true });
});
afterAll(() => forms.stop());

const resolve = (input: object) => forms.operations.resolveLayout(input);
const refused = async (input: object) => {
  const failure = (await resolve(input).catch((error: unknown) => error)) as Failure;
  return { code: failure.code, pointers: (failure.errors ?? []).map(({ pointer }) => pointer) };
};
const inline = (layoutData: unknown) => refused({ layoutData });

describe('resolving a saved layout', () => {
  it('finds it by key and by id, with defaults, texts in every language and ACTIVE serials', async () => {
    const { layout, active } = await resolve({ layout: 'layout.001' });
    expect(layout).toMatchObject({
      info: 'information.001',
      elements: ['processing.001', 'processing.002', 'preference.001'],
      orientation: 'VERTICAL',
      existingElementsVisible: true,
      validityVisible: true,
      acceptAllVisible: false,
      cancelVisible: false,
      footerOnTop: false,
      includeIFrameResizer: true,
      texts: { '*': { submitText: 'Save my choices' }, fr: { submitText: 'Enregistrer mes choix' } },
    });
    expect(active['processing.002']).toEqual({ major: 1, serial: '1.0', deleted: false });
    expect(await resolve({ layout: layout.id })).toEqual({ layout, active });
  });

  it('may name a notification, which must exist when the layout is activated', async () => {
    const { key } = await makeActive(forms, 'email', sampleContent.email);
    const saved = { elements: ['processing.001'], notification: key };
    const layout = await makeActive(forms, 'layout', saved);
    expect((await resolve({ layout: layout.key })).layout).toMatchObject({ notification: key });
    const entry = await makeModel(forms, { type: 'layout' });
    const draft = await makeDraft(forms, entry.id, { en: { ...saved, notification: 'email.999' } });
    const refusal = await setStatus(forms, entry.id, draft, 'ACTIVE');
    expect([refusal.status, await refusal.json()]).toMatchObject([
      422,
      { errors: [{ pointer: '/data/en/notification', code: 'unknown-element' }] },
    ]);
  });

  it('uses new versions of the layout and of its elements at once', async () => {
    const element = await makeActive(forms, 'processing', sampleContent.processing);
    const saved = await makeActive(forms, 'layout', { elements: [element.key] });
    expect((await resolve({ layout: saved.key })).layout.orientation).toBe('VERTICAL');
    const draft = await makeDraft(forms, saved.id, {
      en: { elements: [element.key], orientation: 'HORIZONTAL' },
    });
    await setStatus(forms, saved.id, draft, 'ACTIVE');
    const next = await makeDraft(forms, element.id, { en: sampleContent.processing }, 'MAJOR');
    await setStatus(forms, element.id, next, 'ACTIVE');
    const { layout, active } = await resolve({ layout: saved.key });
    expect(layout.orientation).toBe('HORIZONTAL');
    expect(active[element.key]).toMatchObject({ major: 2 });
    await setStatus(forms, element.id, next, 'ARCHIVED');
    expect(await refused({ layout: saved.key })).toEqual({ code: 'unknown-element', pointers: ['/layout'] });
    await setStatus(forms, saved.id, draft, 'ARCHIVED');
    expect(await refused({ layout: saved.key })).toEqual({ code: 'unknown-element', pointers: ['/layout'] });
  });

  it.each(['no.such.layout', 'processing.001', '00000000-0000-7000-8000-000000000000', ''])(
    'does not find %j',
    async (layout) => {
      expect(await refused({ layout })).toEqual({ code: 'unknown-element', pointers: ['/layout'] });
    },
  );

  it('needs exactly one of layout and layoutData', async () => {
    const both = { layout: 'layout.001', layoutData: { elements: ['processing.001'] } };
    expect((await refused(both)).code).toBe('layout-conflict');
    expect((await refused({})).code).toBe('layout-conflict');
  });
});

describe('resolving an inline layout', () => {
  it('uses the default information and ignores unknown themes and empty texts', async () => {
    const { layout } = await resolve({
      layoutData: {
        type: 'layout',
        elements: ['preference.002'],
        info: '',
        theme: 'no.theme',
        submitText: 'Go',
        extra: 1,
      },
    });
    expect(layout).toMatchObject({ info: 'information.001', texts: { '*': { submitText: 'Go' } } });
    expect(layout.theme).toBeUndefined();
  });

  it('finds a theme by key or id, and lets another override it', async () => {
    const { id } = await (await forms.send('/models/serials/theme.001')).json();
    const layoutData = { elements: ['preference.002'], theme: id };
    expect((await resolve({ layoutData })).layout.theme).toBe('theme.001');
    const other = await makeActive(forms, 'theme', sampleContent.theme);
    expect((await resolve({ layoutData, theme: other.key })).layout.theme).toBe(other.key);
    expect((await resolve({ layoutData, theme: 'no.theme' })).layout.theme).toBe('theme.001');
    expect((await resolve({ layout: 'layout.001', theme: other.id })).layout.theme).toBe(other.key);
  });

  it('accepts blocs of a later generation as elements in order', async () => {
    const children = [{ key: 'preference.001' }, { key: 'preference.002' }];
    const { layout } = await resolve({
      layoutData: {
        blocs: [{ parent: { key: 'processing.001' }, children }, { parent: { key: 'processing.002' } }],
      },
    });
    expect(layout).toMatchObject({
      blocs: true,
      elements: ['processing.001', 'preference.001', 'preference.002', 'processing.002'],
    });
    const under = await resolve({
      layoutData: { blocs: [{ parent: { key: 'information.001' }, children }] },
    });
    expect(under.layout).toMatchObject({
      info: 'information.001',
      elements: ['preference.001', 'preference.002'],
    });
  });

  it.each<[string, unknown, string, string[]]>([
    ['nothing', null, 'invalid', ['/layoutData']],
    ['a list', [], 'invalid', ['/layoutData']],
    ['no elements', { elements: [] }, 'invalid', ['/layoutData/elements']],
    ['a number for an element', { elements: [7] }, 'invalid', ['/layoutData/elements/0']],
    ['another type', { type: 'form', elements: ['processing.001'] }, 'invalid', ['/layoutData/type']],
    [
      'unknown elements',
      { elements: ['a.b', 'processing.001', 'c.d'] },
      'unknown-element',
      ['/layoutData/elements/0', '/layoutData/elements/2'],
    ],
    ['a theme for an element', { elements: ['theme.001'] }, 'unknown-element', ['/layoutData/elements/0']],
    [
      'an unknown information',
      { elements: ['processing.001'], info: 'x.y' },
      'unknown-element',
      ['/layoutData/info'],
    ],
    [
      'an unknown child',
      { blocs: [{ parent: { key: 'processing.001' }, children: [{ key: 'x.y' }] }] },
      'unknown-element',
      ['/layoutData/blocs/0/children/0/key'],
    ],
    [
      'both elements and blocs',
      { elements: ['processing.001'], blocs: [{ parent: { key: 'processing.002' } }] },
      'layout-conflict',
      ['/layoutData/blocs'],
    ],
    [
      'an element twice',
      { elements: ['processing.001', 'processing.001'] },
      'layout-conflict',
      ['/layoutData/elements/1'],
    ],
    [
      'conditions among others',
      { elements: ['processing.001', 'conditions.001'] },
      'layout-conflict',
      ['/layoutData/elements/0'],
    ],
    [
      "a peer's element",
      { elements: ['a.b@peer.example:8443'] },
      'unknown-element',
      ['/layoutData/elements/0'],
    ],
    [
      "a peer's bloc",
      { blocs: [{ parent: { key: 'a.b', location: 'https://peer.example' } }] },
      'unknown-element',
      ['/layoutData/blocs/0/parent/key'],
    ],
    [
      "a peer's information",
      { elements: ['processing.001'], info: 'a.b@peer.example' },
      'unknown-element',
      ['/layoutData/info'],
    ],
    [
      'an unknown notification',
      { elements: ['processing.001'], notification: 'email.999' },
      'unknown-element',
      ['/layoutData/notification'],
    ],
    [
      '101 elements',
      { elements: Array.from({ length: 101 }, (_, n) => `k.${n}`) },
      'invalid',
      ['/layoutData/elements'],
    ],
    [
      'prototype keys',
      { elements: ['__proto__', 'constructor'] },
      'unknown-element',
      ['/layoutData/elements/0', '/layoutData/elements/1'],
    ],
  ])('refuses %s', async (_what, layoutData, code, pointers) => {
    expect(await inline(layoutData)).toEqual({ code, pointers });
  });

  it('rejects entries that are not ACTIVE', async () => {
    const { key } = await makeModel(forms, { type: 'processing' });
    expect(await inline({ elements: [key] })).toMatchObject({ code: 'unknown-element' });
  });
});

describe('describing a form', () => {
  const describeIn = async (languages: string[], elements = ['processing.001', 'preference.003']) => {
    const { layout } = await resolve({ layoutData: { elements } });
    return forms.operations.describeForm({ layout, languages });
  };

  it('chooses the language by lookup, else that of the instance', async () => {
    expect((await describeIn(['sw', 'fr-CA', 'ar'])).language).toBe('fr');
    expect((await describeIn(['*', 'sw'])).language).toBe('en');
    expect((await describeIn(['ar-EG-u-nu-latn'])).language).toBe('ar');
  });

  it('falls back to an element’s own default language, element by element', async () => {
    const german = await makeActive(forms, 'processing', sampleContent.processing);
    const form = await describeIn(['ar'], ['processing.001', german.key]);
    expect(form.language).toBe('ar');
    expect(form.elements.map(({ content }) => content.lang)).toEqual(['ar', 'en']);
  });

  it('lists the allowed answers', async () => {
    const { elements } = await describeIn(
      ['en'],
      ['processing.003', 'preference.001', 'preference.002', 'preference.003'],
    );
    expect(
      elements.map(({ answers, required, multiple }) => [answers?.length ?? null, required, multiple]),
    ).toEqual([
      // A notice: a processing that cannot be refused needs no answer.
      [1, false, false],
      [3, false, false],
      [4, true, true],
      [null, false, false],
    ]);
    expect(elements[0]).toMatchObject({ answers: ['accepted'], entry: { name: 'Booking' }, owner: null });
  });

  it('uses a new name of an entry at once', async () => {
    const { id, key } = await makeActive(forms, 'processing', sampleContent.processing);
    await describeIn(['en'], [key]);
    await forms.send(`/models/${id}`, { method: 'PUT', json: { name: 'Renamed' } });
    expect((await describeIn(['en'], [key])).elements[0]?.entry.name).toBe('Renamed');
  });

  it('returns the theme with its logo, and texts in the language of the form', async () => {
    const { layout } = await resolve({ layout: 'layout.001', theme: 'theme.001' });
    const form = await forms.operations.describeForm({ layout, languages: ['ar'] });
    expect(form.theme).toEqual({ key: 'theme.001', serial: '1.0', logo: null });
    expect(form.texts).toEqual({ submitText: 'حفظ اختياراتي' });
  });

  it('draws a page with the first theme that exists', async () => {
    const page: MessagesPage = { page: 'messages', messages: [] };
    const drawn = async (...themes: (string | undefined)[]) =>
      (await forms.operations.renderPage({ page, languages: ['en'], themes })).html;
    for (const themes of [['theme.001'], [undefined, 'layout.001', 'nothing', 'theme.001']])
      expect(await drawn(...themes)).toContain('/assets/themes/theme.001/1.0.css');
    expect(await drawn('layout.001')).not.toContain('/assets/themes');
  });
});

describe('the demonstration', () => {
  it('has every model ACTIVE with serial 1.0 in three languages', async () => {
    const { values } = await (await forms.send('/models?keyword=001&size=200')).json();
    const { values: more } = await (
      await forms.send('/models?keys=processing.002,processing.003,preference.002,preference.003')
    ).json();
    const demo = [...values, ...more];
    const keys = [
      'information.001',
      'processing.001',
      'processing.002',
      'processing.003',
      'preference.001',
      'preference.002',
      'preference.003',
      'conditions.001',
      'theme.001',
      'email.001',
      'layout.001',
    ];
    for (const key of keys) {
      const entry = demo.find((each) => each.key === key);
      expect(entry, key).toMatchObject({
        availableLanguages: ['ar', 'en', 'fr'],
        defaultLanguage: 'en',
        default: key === 'information.001',
      });
      expect(entry?.versions.find(({ serial }) => serial === '1.0')).toMatchObject({
        type: 'MAJOR',
      });
    }
  });
});
