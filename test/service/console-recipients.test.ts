import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { type Fields, pressAll, sendForm } from '../support/console/sent-form.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

const instance = useInstance();
let admin: ConsolePages;
let caller: Caller;
beforeAll(async () => {
  admin = await openPages(instance, 'admin');
  caller = await signIn(instance, 'admin');
});
afterAll(() => admin?.close());

const here = '/console/elements';
const textOf = async (path: string) => (await admin.get(path)).text();
/** Creates an element. @returns its page. */
async function create(name: string, type = 'processing'): Promise<string> {
  const made = await admin.fill(`${here}/new`, { type, name });
  return (made.headers.get('location') ?? '').replace(/\/edit$/, '');
}
const keyOf = (path: string) => decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
const complete: Fields = [
  ['en:title', 'Letters'],
  ['en:data', 'Your address'],
  ['en:usage', 'We write to you.'],
  ['*:purposes', 'CONSENT_MARKETING'],
  ['*:legalBases', 'LEGAL_BASIS_CONSENT'],
];
/** Opens the editor, presses buttons, types, and saves. @returns the answer. */
async function write(path: string, ops: string[], more: Fields): Promise<Response> {
  const editor = { path: `${path}/edit`, html: await textOf(`${path}/edit`) };
  const html = await pressAll(admin, editor, ops);
  return sendForm(admin, { path: editor.path, html }, [['op', 'save'], ...more]);
}
/** The page on which a person is asked, in a language. */
async function formOf(key: string, language = 'en'): Promise<string> {
  const { url } = await createTransaction(caller, { layoutData: { elements: [key] }, language });
  return (await fetch(url, { headers: { Accept: 'text/html', 'Accept-Language': language } })).text();
}
const activate = async (path: string) => admin.fill(`${path}/activate`, { type: 'MAJOR' });

describe('a processing that is written in the console', () => {
  it('says who receives the data and what for, in each language', async () => {
    const path = await create('Letters');
    const saved = await write(
      path,
      ['addRow'],
      [
        ...complete,
        ['en:retention.fullText', 'One year'],
        ['en:thirdParties.name', 'Plume Mail'],
        ['en:thirdParties.value', 'sends our letters'],
      ],
    );
    expect(saved.headers.get('location')).toBe(`${path}?done=elementSaved`);
    expect((await activate(path)).status).toBe(303);
    const form = await formOf(keyOf(path));
    expect(form).toMatch(/Shared with<\/dt>[\s\S]*Plume Mail[\s\S]*sends our letters/);
    expect(form).not.toContain('Nobody');
  });

  it('says that nobody receives the data only if its author has said so', async () => {
    const path = await create('Quiet');
    await write(path, [], [...complete, ['en:retention.fullText', 'One year']]);
    const barred = await textOf(`${path}/activate`);
    expect(barred).toContain(`href="${path}/edit?check=true#field-en:thirdParties">`);
    expect(barred).toContain('Shared with: Name who receives the data, or say that nobody does.');
    expect(barred).not.toContain('<form class="form"');
    const { id, versions } = (await (await caller.get(`/models/serials/${keyOf(path)}`)).json()) as {
      id: string;
      versions: { id: string }[];
    };
    // Also if the page was opened before.
    const forced = await admin.post(`${path}/activate`, { draft: versions[0]?.id ?? '', type: 'MAJOR' });
    expect(forced.status).toBe(422);
    await write(
      path,
      [],
      [...complete, ['en:retention.fullText', 'One year'], ['*:thirdParties.none', 'yes']],
    );
    expect(await textOf(`${path}/edit`)).toMatch(/name="\*:thirdParties.none" value="yes" checked/);
    expect((await activate(path)).status).toBe(303);
    expect(await formOf(keyOf(path))).toMatch(/Shared with<\/dt>\s*<dd>Nobody/);
    expect(id).toBeTruthy();
  });

  it('does not say "Nobody" for want of a member if a client has made it', async () => {
    const content = { title: 'Old', data: 'Data', usage: 'Use', retention: { fullText: 'Long' } };
    const silent = await makeLiveModel(caller, 'processing', { en: content });
    const form = await formOf(silent.key);
    expect(form).not.toContain('Nobody');
    expect(form).not.toContain('Shared with');
    const stated = await makeLiveModel(caller, 'processing', { en: { ...content, thirdParties: [] } });
    expect(await formOf(stated.key)).toMatch(/Shared with<\/dt>\s*<dd>Nobody/);
  });

  it('is not shared with third parties that are nobody, and no notice is based on consent', async () => {
    const path = await create('Contradiction');
    await write(
      path,
      [],
      [
        ...complete.filter(([name]) => name !== '*:purposes'),
        ['en:retention.fullText', 'One year'],
        ['*:purposes', 'CONSENT_THIRD_PART_SHARING'],
        ['*:thirdParties.none', 'yes'],
        ['*:choice', 'NONE'],
      ],
    );
    const barred = await textOf(`${path}/activate`);
    expect(barred).toContain('The purpose is sharing with third parties: name them.');
    expect(barred).toContain('#field-*:choice">What people can do: Choose a legal basis other than consent');
  });
});

describe('what an activation lacks', () => {
  it('is named by language and field, linked into the editor, and marked there', async () => {
    const path = await create('Two languages');
    const added: Fields = [['language', 'fr']];
    const editor = { path: `${path}/edit`, html: await textOf(`${path}/edit`) };
    const two = await (await sendForm(admin, editor, [['op', 'add-language'], ...added])).text();
    const save: Fields = [
      ['op', 'save'],
      ...complete,
      ['fr:data', 'Votre adresse'],
      ['fr:usage', 'Nous vous écrivons.'],
      ['*:thirdParties.none', 'yes'],
    ];
    await sendForm(admin, { path: editor.path, html: two }, save);
    const shown = await textOf(editor.path);
    // The retention, and in French the title.
    expect(shown).toMatch(/English\s*<span class="soft"[^>]*>1 missing/);
    expect(shown).toMatch(/French\s*<span class="soft"[^>]*>2 missing/);
    const barred = await textOf(`${path}/activate`);
    const to = `href="${path}/edit?check=true#field-`;
    expect(barred).toContain(`${to}fr:title">French, Title: Fill in this field.`);
    expect(barred).toContain(`${to}en:retention.fullText">English, Kept for, in words: Fill in this field.`);
    const marked = await textOf(`${path}/edit?check=true`);
    expect(marked).toMatch(
      /id="field-fr:title"[^>]*aria-describedby="field-fr:title-fault"[^>]*aria-invalid="true"/,
    );
    expect(marked).toMatch(/id="field-fr:title-fault"[^>]*>Fill in this field/);
    expect(marked).toContain('href="#field-fr:title">French, Title: Fill in this field.');
  });
});

describe('a preference that is written in the console', () => {
  it('begins with the options that its author has chosen, also after they were moved', async () => {
    const path = await create('How often', 'preference');
    const asked: Fields = [
      ['en:label', 'How often?'],
      ['*:valueType', 'RADIO_BUTTONS'],
      ...['Weekly', 'Monthly'].map((text): Fields[number] => ['en:options', text]),
      ['*:defaultValues', '1'],
    ];
    await write(path, ['addRow', 'addRow'], asked);
    const versionOf = async () => JSON.parse(await textOf(`${path}/export`)).versions[0].data.en;
    expect(await versionOf()).toMatchObject({ includeDefault: true, defaultValues: ['Monthly'] });
    await write(path, ['up:1'], []);
    expect(await versionOf()).toMatchObject({ options: ['Monthly', 'Weekly'], defaultValues: ['Monthly'] });
  });
});
