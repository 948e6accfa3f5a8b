import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';

type Schemas = components['schemas'];

const instance = useInstance();
const admin: Caller = useSetup(() => signIn(instance, 'admin'));

const organisation = {
  company: 'Lakeside Clinic',
  email: 'privacy@clinic.example.org',
  dataProtectionOfficer: 'Claire Morel, dpo@clinic.example.org',
  supervisoryAuthority: 'CNIL, www.cnil.fr',
  privacyPolicyUrl: 'https://clinic.example.org/privacy',
};
const formKeys = ['newsletter', 'sms-reminders', 'photographs', 'doctor', 'research', 'school-outing'];

const use = (key: string, body: unknown) => admin.send('POST', `/models/templates/${key}`, body);

async function made(key: string, body: unknown): Promise<Schemas['Entry'][]> {
  const response = await use(key, body);
  expect(response.status).toBe(201);
  const { values } = (await response.json()) as Schemas['CreatedModels'];
  expect(response.headers.get('location')).toBe(`${instance.url}/models/${values[0]?.id}`);
  return values;
}

async function activate({ id, versions }: Schemas['Entry']): Promise<Schemas['VersionCheck']> {
  const at = `/models/${id}/versions/${versions[0]?.id}`;
  const check = (await (await admin.get(`${at}/check`)).json()) as Schemas['VersionCheck'];
  const response = await admin.send('PUT', `${at}/status`, { status: 'ACTIVE' });
  expect(response.status).toBe(200);
  return check;
}

describe('the templates of forms and elements', () => {
  it('are listed, forms first, each with its elements', async () => {
    const { values } = (await (await admin.get('/models/templates')).json()) as Schemas['ModelTemplates'];
    expect(values.slice(0, formKeys.length).map(({ key }) => key)).toEqual(formKeys);
    const keys = new Set(values.map(({ key }) => key));
    for (const { type, elements } of values)
      expect(elements.length > 0 && elements.every((each) => keys.has(each))).toBe(type === 'layout');
    const letter = (await (
      await admin.get('/models/templates/newsletter.letter')
    ).json()) as Schemas['ModelTemplateContent'];
    expect(Object.keys(letter.data)).toEqual(['en', 'fr', 'ar']);
    expect(await problemOf(await admin.get('/models/templates/nothing'))).toMatchObject({
      said: '404 not-found',
    });
  });

  it.each(formKeys)(
    '%s: makes a form without a warning, which a person can answer in each language',
    async (key) => {
      const entries = await made(key, { languages: ['fr', 'en', 'ar'], name: 'Ours', organisation });
      const [form, information, ...elements] = entries;
      if (!form) throw new Error('nothing was made');
      expect([form.type, form.name, form.status]).toEqual(['layout', 'Ours', 'INACTIVE']);
      expect(information?.type).toBe('information');
      expect(entries.every(({ defaultLanguage }) => defaultLanguage === 'fr')).toBe(true);
      for (const each of [...elements, ...(information ? [information] : []), form]) {
        const { faults, advice = [], checklist } = await activate(each);
        expect([...faults, ...advice, ...checklist.filter(({ met }) => !met)]).toEqual([]);
      }
      for (const language of ['en', 'fr', 'ar']) {
        const context = { subject: `${key}-${language}`, layout: form.key, language };
        const transaction = await transactionIn(admin.send('POST', '/consents', context));
        const person = subjectOf(instance, transaction);
        const asked = await person.form();
        expect(asked.language).toBe(language);
        expect(asked.info.content.dataController?.company).toBe('Lakeside Clinic');
        expect(asked.elements).toHaveLength(elements.length);
        const answers = asked.elements.map(({ identifier, answers: allowed }) => [
          identifier,
          [allowed?.[0] ?? 'Dr Martin'],
        ]);
        const answered = await transactionIn(person.submit(Object.fromEntries(answers)));
        expect(answered.state).toBe('COMMITTED');
      }
    },
  );

  it('use the information of a form that is not active yet', async () => {
    const [, ...first] = await made('newsletter', { languages: ['en'], organisation });
    const information = first.find(({ type }) => type === 'information')?.key as string;
    const [form, ...elements] = await made('newsletter', { languages: ['en'], information });
    expect(elements.map(({ type }) => type)).not.toContain('information');
    const version = await admin.get(`/models/${form?.id}/versions/${form?.versions[0]?.id}`);
    expect(((await version.json()) as Schemas['Version']).data).toMatchObject({ en: { info: information } });
  });

  it('use the information that the organisation has', async () => {
    const [form, ...elements] = await made('newsletter', {
      languages: ['en'],
      information: 'information.001',
    });
    expect(elements.map(({ type }) => type).toSorted()).toEqual(['preference', 'processing', 'processing']);
    const read = async (entry?: Schemas['Entry']) => {
      const version = await admin.get(`/models/${entry?.id}/versions/${entry?.versions[0]?.id}`);
      return ((await version.json()) as Schemas['Version']).data;
    };
    expect(await read(form)).toMatchObject({ en: { info: 'information.001' } });
    expect(form?.name).toBe('Newsletter');
    const [byDefault] = await made('newsletter', { languages: ['en'] });
    expect(await read(byDefault)).toMatchObject({ en: { elements: expect.anything() } });
    expect((await read(byDefault)).en).not.toHaveProperty('info');
  });

  it('make a form whose preview shows the drafts of its elements', async () => {
    const [form, ...others] = await made('newsletter', { languages: ['en', 'fr'], organisation });
    const preview = (json: object) =>
      admin.send('POST', `/models/${form?.id}/versions/${form?.versions[0]?.id}/preview`, json);
    const page = await (await preview({ language: 'fr' })).text();
    for (const text of ['Notre lettre d’information', 'Lakeside Clinic', 'Une fois par mois'])
      expect(page).toContain(text);
    const letter = others.find(({ type }) => type === 'processing');
    const unsaved = { type: 'layout', elements: [letter?.key], submitText: 'Send it' };
    const changed = await (await preview({ language: 'en', data: unsaved })).text();
    expect(changed).toContain('Send it');
    expect(changed).not.toContain('Once a month');
    // People do not see it before it is active.
    const asked = await admin.send('POST', '/consents', {
      subject: 'anna',
      layoutData: { elements: [letter?.key] },
    });
    expect(asked.status).toBe(422);
    const unknown = await preview({ language: 'en', data: { type: 'layout', elements: ['processing.999'] } });
    expect(unknown.status).toBe(422);
  });

  it('make a single element, too', async () => {
    const [letter, ...others] = await made('newsletter.letter', { languages: ['ar'] });
    expect([letter?.type, letter?.name, others.length]).toEqual(['processing', 'النشرة الإخبارية', 0]);
    const [information] = await made('information', { languages: ['en'], organisation });
    expect(information?.type).toBe('information');
  });

  it.each([
    ['newsletter', { languages: ['de'] }, '/languages/0'],
    ['newsletter', { languages: ['en', 'en'] }, '/languages/1'],
    ['newsletter', { languages: ['en'], information: 'processing.001' }, '/information'],
    ['information', { languages: ['en'] }, '/organisation'],
    ['information', { languages: ['en'], organisation: { company: ' ' } }, '/organisation/company'],
    [
      'newsletter',
      { languages: ['en', 'fr'], organisation: { ...organisation, privacyPolicyUrl: 'javascript:1' } },
      '/organisation/privacyPolicyUrl',
    ],
    [
      'newsletter',
      { languages: ['en', 'fr'], organisation: { ...organisation, phoneNumber: '1'.repeat(65) } },
      '/organisation/phoneNumber',
    ],
  ])('refuse what cannot be used, and make nothing: %s %j', async (key, body, pointer) => {
    const count = async () =>
      ((await (await admin.get('/models')).json()) as Schemas['EntryPage']).totalCount;
    const before = await count();
    const problem = await problemOf(await use(key, body));
    expect(problem.said).toBe('422 invalid');
    expect((problem.errors as { pointer: string }[]).map((each) => each.pointer)).toEqual([pointer]);
    expect(await count()).toBe(before);
  });

  it('are used by several people at once', async () => {
    const all = await Promise.all(
      [...formKeys, formKeys[0] ?? ''].map((key) => made(key, { languages: ['en'], organisation })),
    );
    const keys = all.flat().map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
