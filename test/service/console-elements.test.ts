import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startApiBetween } from '../support/console/api-between.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { changedFields, type Fields, pressAll, sendForm } from '../support/console/sent-form.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
let admin: ConsolePages;
let operator: ConsolePages;
beforeAll(async () => {
  admin = await openPages(instance, 'admin');
  operator = await openPages(instance, 'operator');
});
afterAll(() => Promise.all([admin, operator].map((each) => each?.close())));

const here = '/console/elements';
const locationOf = (response: Response) => response.headers.get('location') ?? '';
const textOf = async (path: string, by = admin) => (await by.get(path)).text();
const hiddenOf = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1]?.replaceAll('&quot;', '"') ?? '';
/** Creates an element. @returns its page. */
async function create(name: string, type = 'processing'): Promise<string> {
  const once = hiddenOf(await textOf(`${here}/new`), 'once');
  const answer = await admin.post(`${here}/new`, { once, type, name });
  return (answer.headers.get('location') ?? '').replace(/\/edit$/, '');
}
/** Saves the editor with these texts in English and French. */
async function write(path: string, fields: Record<string, string>, languages = ['en', 'fr']) {
  const html = await textOf(`${path}/edit`);
  const body = new URLSearchParams({
    op: 'save',
    draft: hiddenOf(html, 'draft'),
    etag: hiddenOf(html, 'etag'),
    base: hiddenOf(html, 'base'),
  });
  for (const language of languages) body.append('languages', language);
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return fetch(`${admin.origin}${path}/edit`, {
    method: 'POST',
    headers: { Origin: admin.origin },
    body,
    redirect: 'manual',
  });
}
const letter = {
  'en:title': 'A letter',
  'en:data': 'Your address',
  'en:usage': 'We write to you.',
  'fr:title': 'Une lettre',
  'fr:data': 'Votre adresse',
  'fr:usage': 'Nous vous écrivons.',
  '*:retention.value': '1',
  '*:retention.unit': 'YEAR',
  '*:legalBases': 'LEGAL_BASIS_CONSENT',
  '*:thirdParties.none': 'yes',
};
async function activate(path: string, fields: Record<string, string> = {}) {
  const html = await textOf(`${path}/activate`);
  const given = { draft: hiddenOf(html, 'draft'), etag: hiddenOf(html, 'etag'), ...fields };
  return admin.post(`${path}/activate`, given);
}

describe('elements in the console', () => {
  it('are listed by type, without layouts, and exported', async () => {
    const html = await textOf(`${here}?type=processing`);
    expect(html).toContain('processing.001');
    expect(html).not.toContain('layout.001');
    expect(await textOf(`${here}?format=csv`)).toContain('processing.001');
  });

  it('are listed by a language that is chosen by its name, of those in use', async () => {
    const caller = await signIn(instance, 'admin');
    const said = { ...sampleContent.processing, title: 'Letters in Romansh' };
    await makeLiveModel(caller, 'processing', { rm: said });
    const html = await textOf(`${here}?language=rm`);
    expect(html).toContain('<option value="rm" selected>Romansh</option>');
    expect(html).not.toContain('<option value="ru"');
    expect(html).not.toContain('processing.001');
    const forms = await textOf('/console/forms');
    expect(forms).toContain('<option value="en">English</option>');
    expect(forms).not.toContain('<option value="rm"');
  });

  it('are written in two languages, activated, and shown as people see them', async () => {
    const path = await create('Letter');
    expect((await write(path, letter)).headers.get('location')).toBe(`${path}?done=elementSaved`);
    const asked = await textOf(`${path}/activate`);
    expect(asked).toMatch(/Missing<\/span><span>what the data are used for<\/span>.*href="[^"]*:purposes"/);
    expect(asked).toContain('People can be asked with it from now on.');
    expect((await activate(path)).headers.get('location')).toBe(`${path}?done=elementActivated`);
    const html = await textOf(`${path}?language=fr`);
    expect(html).toContain('1.0');
    const frame = /<iframe[^>]*src="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const preview = await admin.get(frame);
    expect(preview.headers.get('content-security-policy')).toContain('sandbox');
    expect(await preview.text()).toContain('Une lettre');
  });

  it('are activated with a warning if people object to what a contract needs, and say what bars', async () => {
    const path = await create('Objected');
    const basis = { '*:choice': 'OBJECTION', '*:legalBases': 'LEGAL_BASIS_CONTRACT' };
    await write(path, { ...letter, ...basis, '*:thirdParties.none': '' });
    const barred = await textOf(`${path}/activate`);
    expect(barred).toContain('role="alert"');
    expect(barred).toContain('What bars the activation is at the top of this page; the rest may be said');
    await write(path, { ...letter, ...basis });
    const asked = await textOf(`${path}/activate`);
    expect(asked).not.toContain('role="alert"');
    expect(asked).toMatch(/Missing<\/span><span>legitimate or public interest as legal basis/);
    expect((await activate(path)).headers.get('location')).toBe(`${path}?done=elementActivated`);
  });

  it('are begun in the languages that are chosen, else in the one of the instance', async () => {
    const html = await textOf(`${here}/new?type=information`);
    expect(html).toMatch(/value="information" checked/);
    expect([...html.matchAll(/name="languages" value="(\w+)"( checked)?/g)].map(([, tag]) => tag)[0]).toBe(
      'en',
    );
    const begin = async (languages: string[]) => {
      const body = new URLSearchParams({ type: 'processing', name: 'Begun' });
      body.append('once', hiddenOf(await textOf(`${here}/new`), 'once'));
      for (const language of languages) body.append('languages', language);
      const headers = { Origin: admin.origin };
      const sent = { method: 'POST', headers, body };
      const page = await (await fetch(`${admin.origin}${here}/new`, sent)).text();
      return [...page.matchAll(/name="(\w+):title"/g)].map(([, language]) => language);
    };
    expect(await begin(['fr', 'en'])).toEqual(['en', 'fr']);
    expect(await begin(['ar'])).toEqual(['ar']);
    for (const none of [[], ['<b>'], ['xx']]) expect(await begin(none)).toEqual(['en']);
  });

  it('keep drafts that lack something, and say at activation what it is', async () => {
    const path = await create('Half');
    expect((await write(path, { 'en:title': 'Half a letter' }, ['en'])).status).toBe(303);
    expect(await textOf(`${path}/edit`)).toContain('Half a letter');
    const html = await textOf(`${path}/activate`);
    expect(html).toContain('role="alert"');
    const edit = await textOf(`${path}/edit`);
    const given = { draft: hiddenOf(edit, 'draft'), etag: hiddenOf(edit, 'etag') };
    expect((await admin.post(`${path}/activate`, given)).status).toBe(422);
  });

  it('add and remove a language without saving, and lose no text', async () => {
    const path = await create('Languages');
    const added = await write(path, { ...letter, op: 'x' }, ['en']);
    expect(added.status).toBe(303);
    const body = new URLSearchParams({ op: 'add-language', language: 'fr', 'en:title': 'Kept text' });
    body.append('languages', 'en');
    const answer = await fetch(`${admin.origin}${path}/edit`, {
      method: 'POST',
      headers: { Origin: admin.origin },
      body,
    });
    const html = await answer.text();
    expect(html).toContain('Kept text');
    expect(html).toContain('name="fr:title"');
    expect(await textOf(`${path}/edit`)).not.toContain('Kept text');
  });

  it('say what each language lacks, take over texts, and tell what differs between languages', async () => {
    const path = await create('Translated');
    await write(path, { 'en:title': 'A letter', 'en:data': 'Your address', 'en:usage': 'We write to you.' });
    const html = await textOf(`${path}/edit`);
    expect(html).toMatch(/English\s*<span class="soft"[^>]*>2 missing/);
    expect(html).toMatch(/French\s*<span class="soft"[^>]*>5 missing/);
    const fields = new URLSearchParams(changedFields(html, [['op', 'copy:fr:title']]));
    const headers = { Origin: admin.origin };
    const copied = await fetch(`${admin.origin}${path}/edit`, { method: 'POST', headers, body: fields });
    const shown = await copied.text();
    expect(shown).toMatch(/French\s*<span class="soft"[^>]*>4 missing/);
    expect(shown).toMatch(/name="fr:title" value="A letter"/);
    const optional = changedFields(html, [['en:dataController.info', 'A company']]);
    const more = await fetch(`${admin.origin}${path}/edit`, {
      method: 'POST',
      headers,
      body: new URLSearchParams([...optional, ['op', 'addRow']]),
    });
    expect(await more.text()).toContain('More about who is responsible: not in French');
    expect(await textOf(`${path}/edit`)).not.toMatch(/name="fr:title" value="A/);

    const shop = await signIn(instance, 'admin');
    const key = path.split('/').at(-1);
    const entry = (await (await shop.get(`/models/serials/${key}`)).json()) as {
      id: string;
      versions: { id: string }[];
    };
    const data = { en: { containsMedicalData: true }, fr: { containsMedicalData: false } };
    const stored = { defaultLanguage: 'en', data };
    const version = `/models/${entry.id}/versions/${entry.versions[0]?.id}?incomplete=true`;
    expect((await shop.send('PUT', version, stored)).ok).toBe(true);
    const told = await textOf(`${path}/edit`);
    expect(told).toContain('differently in each language');
    expect(told).toContain('<li>Contains health data</li>');
  });

  it('offer the accent, font, corners and width of a theme beside its style sheet', async () => {
    const path = await create('Our colours', 'theme');
    const html = await textOf(`${path}/edit`);
    expect(html).toContain('type="color" name="*:css.accent" value="#0b6b75"');
    const own = 'h1 {\n  color: #222;\n}';
    const typed = { '*:css.accent': '#8a2f5b', '*:css.radius': '0.25rem', '*:css.own': own };
    expect((await write(path, { 'en:name': 'Plum', ...typed }, ['en'])).status).toBe(303);
    const exported = JSON.parse(await textOf(`${path}/export`)) as { versions: { data: object }[] };
    const rule = ':root {\n  --accord-accent: #8a2f5b;\n  --accord-radius: 0.25rem;\n}\n';
    expect(exported.versions[0]?.data).toMatchObject({ en: { name: 'Plum', css: rule + own } });
    const again = await textOf(`${path}/edit`);
    expect(again).toMatch(/contrast of 7\.\d : 1/);
    expect(new Map(changedFields(again, [])).get('*:css.own')).toBe(own);
    // Values that the editor does not offer stay.
    await write(
      path,
      { 'en:name': 'Plum', '*:css.accent': 'light-dark(#123456, #abcdef)', '*:css.width': '50rem' },
      ['en'],
    );
    const kept = new Map(changedFields(await textOf(`${path}/edit`), []));
    expect([kept.get('*:css.accent'), kept.get('*:css.width')]).toEqual([
      'light-dark(#123456, #abcdef)',
      '50rem',
    ]);
  });

  it('have options in rows that are added, moved and removed in all languages at once, unsaved', async () => {
    const path = await create('Options', 'preference');
    const valueType: Fields[number] = ['*:valueType', 'RADIO_BUTTONS'];
    const asked = { 'en:label': 'How often?', 'fr:label': 'Combien ?', '*:valueType': 'RADIO_BUTTONS' };
    await write(path, asked);
    const editor = { path: `${path}/edit`, html: await textOf(`${path}/edit`) };
    const optionsIn = (html: string, language: string) =>
      changedFields(html, []).getAll(`${language}:options`);
    const three = await pressAll(admin, editor, ['addRow', 'addRow', 'addRow']);
    expect(three).toMatch(/id="field-en:options:2"[^>]* autofocus/);
    const typed: Fields = [
      ...['Weekly', '', 'Never'].map((text): Fields[number] => ['en:options', text]),
      ...['Chaque semaine', '', ''].map((text): Fields[number] => ['fr:options', text]),
    ];
    const press = async (html: string, op: string, more: Fields = []) =>
      (await sendForm(admin, { path: editor.path, html }, [['op', op], ...more])).text();
    const moved = await press(three, 'up:2', typed);
    expect(optionsIn(moved, 'en')).toEqual(['Weekly', 'Never', '']);
    expect(moved).toMatch(/value="up:1" aria-label="Up: Never, place 2 of 3"[^>]* autofocus/);
    const first = await press(moved, 'up:1');
    expect([optionsIn(first, 'en'), optionsIn(first, 'fr')]).toEqual([
      ['Never', 'Weekly', ''],
      ['', 'Chaque semaine', ''],
    ]);
    expect(await textOf(editor.path)).not.toContain('Weekly');
    // A row that is empty in all languages is not stored. One that lacks a translation keeps its place.
    await sendForm(admin, { path: editor.path, html: first }, [['op', 'save'], valueType]);
    const saved = await textOf(editor.path);
    expect([optionsIn(saved, 'en'), optionsIn(saved, 'fr')]).toEqual([
      ['Never', 'Weekly'],
      ['', 'Chaque semaine'],
    ]);
    expect(saved).toMatch(/French\s*<span class="soft"[^>]*>1 missing/);
    const copied = await press(saved, 'copy:fr:options');
    expect(optionsIn(copied, 'fr')).toEqual(['Never', 'Chaque semaine']);
    const same: Fields = ['Weekly', 'Weekly'].map((text): Fields[number] => ['en:options', text]);
    const refused = await press(copied, 'save', same);
    expect(refused).toMatch(/href="#field-en:options:1">English, Option 2: This text is already in the list/);
    expect(optionsIn(refused, 'en')).toEqual(['Weekly', 'Weekly']);
    const empty = await pressAll(admin, { path: editor.path, html: copied }, ['remove:0', 'remove:0']);
    expect(empty).toMatch(/id="field-add-row" autofocus/);
  });

  it('have a logo if they are themes: uploaded without JavaScript, replaced, removed, and refused with what was wrong', async () => {
    const path = await create('With a logo', 'theme');
    await write(path, { 'en:name': 'Plum' }, ['en']);
    expect(await textOf(path)).toContain(`href="${path}/logo"`);
    const edit = { path: `${path}/edit`, html: await textOf(`${path}/edit`) };
    const toLogo = await sendForm(admin, edit, [
      ['op', 'logo'],
      ['en:name', 'Plum two'],
    ]);
    expect(toLogo.headers.get('location')).toBe(`${path}/logo`);
    expect(await textOf(`${path}/logo`)).toMatch(/<form[^>]*enctype="multipart\/form-data"/);
    const upload = (file?: Blob, more: Record<string, string> = {}) => {
      const body = new FormData();
      if (file) body.append('logo', file, 'logo.png');
      for (const [name, value] of Object.entries(more)) body.append(name, value);
      const sent = { method: 'POST', headers: { Origin: admin.origin }, body, redirect: 'manual' as const };
      return fetch(`${admin.origin}${path}/logo`, sent);
    };
    const membersOf = async () =>
      (JSON.parse(await textOf(`${path}/export`)) as { versions: { data: { en: object } }[] }).versions[0]
        ?.data.en;
    const start = '89504e470d0a1a0a0000000d494844520000000100000001080600000000000000';
    const png = new Blob([Buffer.from(start, 'hex')], { type: 'image/png' });
    expect((await upload(png)).headers.get('location')).toBe(`${path}/edit?done=elementSaved`);
    const shown = /src="(\/assets\/logos\/[^"]+)"/.exec(await textOf(`${path}/logo`))?.[1];
    expect(await membersOf()).toEqual({ name: 'Plum two', logoPath: shown });
    for (const [file, status, text] of [
      [undefined, 422, 'Fill in this field.'],
      [new Blob(['<svg/>'], { type: 'image/svg+xml' }), 415, 'Choose a PNG'],
      [new Blob(['no image'], { type: 'image/png' }), 422, 'Choose a PNG'],
      [new Blob([Buffer.alloc(140_000)], { type: 'image/png' }), 413, 'larger than 128 KiB'],
    ] as const) {
      const refused = await upload(file);
      expect(refused.status).toBe(status);
      expect(await refused.text()).toContain(text);
    }
    expect((await upload(undefined, { remove: 'yes' })).status).toBe(303);
    expect(await membersOf()).toEqual({ name: 'Plum two' });
    expect((await operator.get(`${path}/logo`)).status).toBe(403);
    expect((await admin.get(`${here}/processing.001/logo`)).status).toBe(404);
  });

  it('keep members that the form did not have, as one that was opened before', async () => {
    const path = await create('Unknown members');
    await write(path, letter);
    const api = await signIn(instance, 'admin');
    type Stored = { id: string; versions: { id: string; data: Record<string, object> }[] };
    const read = async () => {
      const { id } = (await (await api.get(`/models/serials/${path.split('/').at(-1)}`)).json()) as Stored;
      return (await (await api.get(`/models/${id}/export`)).json()) as Stored;
    };
    const { id, versions } = (await (
      await api.get(`/models/serials/${path.split('/').at(-1)}`)
    ).json()) as Stored;
    const shared = { refusable: false, dataControllerVisible: false };
    const content = (await (
      await api.get(`/models/${id}/versions/${versions[0]?.id}`)
    ).json()) as Stored['versions'][number];
    const data = {
      en: { ...content.data.en, ...shared, thirdParties: [{ name: 'A printer' }] },
      fr: { ...content.data.fr, ...shared, thirdParties: [{ name: 'Une imprimerie' }] },
    };
    const stored = { defaultLanguage: 'en', data };
    expect((await api.send('PUT', `/models/${id}/versions/${versions[0]?.id}`, stored)).ok).toBe(true);
    const { '*:thirdParties.none': _, ...texts } = letter;
    await write(path, { ...texts, 'en:title': 'A longer letter' });
    expect((await read()).versions[0]?.data).toEqual({
      en: { ...data.en, title: 'A longer letter' },
      fr: data.fr,
    });
  });

  it('say how many people a major version asks again, which is what happens', async () => {
    const path = await create('Major');
    await write(path, letter);
    await activate(path);
    const shop = await signIn(instance, 'admin');
    const key = path.split('/').at(-1) ?? '';
    const context = { subject: 'major', layoutData: { elements: [key] } };
    const values = { [`element/processing/${key}/1.0`]: ['accepted'] };
    expect((await shop.send('POST', '/consents/singlestep', { context, values })).ok).toBe(true);
    const refusal = {
      context: { ...context, subject: 'minor' },
      values: { [`element/processing/${key}/1.0`]: ['refused'] },
    };
    expect((await shop.send('POST', '/consents/singlestep', refusal)).ok).toBe(true);
    const countValid = async () => (await (await shop.get(`/stats/valid?keys=${key}`)).json()) as object;
    expect(await countValid()).toMatchObject({ values: [{ key, subjects: 2, accepted: 1, refused: 1 }] });
    await write(path, { ...letter, 'en:usage': 'We call you.', 'fr:usage': 'Nous vous appelons.' });
    const html = await textOf(`${path}/activate`);
    expect(html).toContain('2 valid answers stop counting');
    expect(html).toContain('Of these answers, 1 accepts and 1 refuses.');
    expect(html).toContain('Nobody who refused or objected is invited to answer again.');
    const again = `/console/campaigns/new?element=${key}&amp;who=CHANGED`;
    expect(html).toContain(again);
    expect(html).toContain('The new texts are shown and recorded as 1.1.');
    const shown = await textOf(locationOf(await activate(path, { type: 'MAJOR' })));
    expect(shown).toMatch(
      new RegExp(`The major version is active. <a href="${again.replace('?', '\\?')}">Ask people again<`),
    );
    expect(shown).toContain('2.0');
    const listed = await textOf(
      locationOf(await admin.post('/console/subjects/answers', { element: key, answer: 'accepted' })),
    );
    expect(listed).toContain(
      'Answers to earlier major versions, of the element or of its information, do not',
    );
    expect(await countValid()).toMatchObject({ values: [] });
  });

  it('of information say how many answers given under it a major version or their end stops, which is what happens', async () => {
    const shop = await signIn(instance, 'admin');
    const { key } = await makeLiveModel(shop, 'information', { en: { title: 'Study' } });
    const questions = ['processing.001', 'processing.002', 'preference.003'];
    for (const subject of ['under one', 'under two']) {
      const context = { subject, layoutData: { info: key, elements: questions } };
      const values = {
        'element/processing/processing.001/1.0': ['accepted'],
        'element/processing/processing.002/1.0': ['refused'],
        'element/preference/preference.003/1.0': ['An aisle seat'],
      };
      expect((await shop.send('POST', '/consents/singlestep', { context, values })).ok).toBe(true);
    }
    const path = `${here}/${key}`;
    for (const act of ['archive', 'delete'])
      expect(await textOf(`${path}/${act}`)).toContain('6 valid answers stop counting.');
    expect(await textOf(`${path}/delete`)).toContain('its key is not given again');
    const countAll = async () => {
      const counted = await shop.get(`/stats/valid?keys=${questions}&information=${key}`);
      const { values } = (await counted.json()) as { values: { subjects: number }[] };
      return values.reduce((sum, { subjects }) => sum + subjects, 0);
    };
    expect(await countAll()).toBe(6);
    await write(path, { 'en:title': 'Another study' }, ['en']);
    const html = await textOf(`${path}/activate`);
    expect(html).toContain('6 valid answers that were given under it stop counting');
    expect(html).toContain('Of these answers, 2 accept and 2 refuse.');
    const form = await makeLiveModel(shop, 'layout', {
      en: { type: 'layout', name: 'A study form', info: key, elements: ['processing.001'] },
    });
    const shown = await textOf(locationOf(await activate(path, { type: 'MAJOR' })));
    const again = `/console/campaigns/new?information=${key}&who=CHANGED`;
    expect(shown).toContain(`<a href="${again.replace('&', '&amp;')}">Ask people again</a>`);
    // Only forms that show the information are offered.
    const asked = await textOf(again);
    expect(asked).toContain(`<option value="${form.key}">`);
    expect(asked).not.toContain('<option value="layout.001"');
    expect(await countAll()).toBe(0);
  });

  it('say “at least” if there are too many answers to count them all', async () => {
    const path = await create('Answered by many');
    await write(path, letter);
    await activate(path);
    await write(path, { ...letter, 'en:title': 'Another letter' });
    const key = path.split('/').at(-1);
    const values = [{ key, type: 'processing', subjects: 7, accepted: 7, refused: 0, expiring: 0 }];
    const counted = { body: { at: new Date().toISOString(), values, atLeast: true } };
    const api = await startApiBetween(instance, (target) =>
      target.startsWith('/stats/valid') ? counted : undefined,
    );
    onTestFinished(api.close);
    const pages = await openPages(instance, 'admin', { apiUrl: api.url });
    onTestFinished(pages.close);
    const html = await textOf(`${path}/activate`, pages);
    expect(html).toContain('at least 7 people have a valid answer');
    expect(html).toContain('at least 7 valid answers stop counting');
    expect(await textOf(`${path}/archive`, pages)).toContain('At least 7 valid answers stop counting.');
  });

  it.each([
    ['theme', { name: 'Sand' }, 'pages have the new look as 2.0. Answers stay valid', 'the usual look again'],
    [
      'email',
      { subject: 'News', body: 'Hello' },
      'the new texts as 2.0. Answers stay',
      'its usual text again',
    ],
  ])('of the type %s ask nobody again, and say so', async (type, content, changed, ended) => {
    const shop = await signIn(instance, 'admin');
    const { key } = await makeLiveModel(shop, type, { en: content });
    await write(`${here}/${key}`, { 'en:name': 'Dune', 'en:subject': 'Old', 'en:body': 'Bye' }, ['en']);
    const html = await textOf(`${here}/${key}/activate`);
    expect(html).toContain(changed);
    expect(html).not.toMatch(/\d+ (person|people|valid)/);
    const archive = await textOf(`${here}/${key}/archive`);
    expect(archive).toContain(ended);
    expect(archive).not.toContain('stop counting');
  });

  it('that two people edit keep the changes of both; where both changed the same, each is offered', async () => {
    const path = await create('Two editors');
    await write(path, letter);
    const html = await textOf(`${path}/edit`);
    await write(path, { ...letter, 'en:title': 'Theirs', 'fr:usage': 'Leur usage', 'de:title': 'Brief' }, [
      'en',
      'fr',
      'de',
    ]);
    const send = async (page: string, op: string, typed: Record<string, string>) => {
      const body = new URLSearchParams({ op });
      for (const name of ['draft', 'etag', 'base']) body.append(name, hiddenOf(page, name));
      for (const [, value = ''] of page.matchAll(/name="languages" value="([^"]+)"/g))
        body.append('languages', value);
      for (const [, name = '', value = ''] of page.matchAll(/name="(theirs:[^"]+)" value="([^"]*)"/g))
        body.append(name, value);
      for (const [name, value] of Object.entries({ ...letter, ...typed })) body.append(name, value);
      const headers = { Origin: admin.origin };
      return fetch(`${admin.origin}${path}/edit`, { method: 'POST', headers, body, redirect: 'manual' });
    };
    const mine = { 'en:title': 'Mine', 'en:usage': 'My use' };
    const merged = await send(html, 'save', mine);
    const page = await merged.text();
    expect(merged.status).toBe(412);
    expect(page).toContain('Somebody else has saved this draft meanwhile');
    for (const text of ['value="Mine"', '>\nMy use<', '>\nLeur usage<', 'value="Brief"', 'Title (English)'])
      expect(page).toContain(text);
    expect(page.match(/value="take:/g)).toHaveLength(1);
    // Nothing is saved before the person has chosen.
    expect(await textOf(`${path}/edit`)).toContain('value="Theirs"');
    const both = { ...mine, 'fr:usage': 'Leur usage', 'de:title': 'Brief' };
    const taken = await (await send(page, 'take:en:title', both)).text();
    expect(taken).toContain('value="Theirs"');
    expect(taken).not.toContain('value="take:');
    expect((await send(taken, 'save', { ...both, 'en:title': 'Theirs' })).status).toBe(303);
    const saved = await textOf(`${path}/edit`);
    for (const text of ['value="Theirs"', '>\nMy use<', '>\nLeur usage<', 'value="Brief"'])
      expect(saved).toContain(text);
  });

  it('that two people begin to edit without a draft keep the changes of both, also of one already active', async () => {
    const path = await create('Two begin');
    await write(path, letter);
    await activate(path);
    const opened = await textOf(`${path}/edit`);
    await write(path, { ...letter, 'en:title': 'Theirs' });
    await activate(path, { type: 'MINOR' });
    const fields = { ...letter, 'en:usage': 'My use', op: 'save', draft: '', base: hiddenOf(opened, 'base') };
    const body = new URLSearchParams(fields);
    for (const language of ['en', 'fr']) body.append('languages', language);
    const headers = { Origin: admin.origin };
    const merged = await fetch(`${admin.origin}${path}/edit`, { method: 'POST', headers, body });
    expect(merged.status).toBe(412);
    const html = await merged.text();
    for (const text of ['value="Theirs"', '>\nMy use<']) expect(html).toContain(text);
    expect(html).not.toContain('value="take:');
  });

  it('are activated after a choice between minor and major that is not made beforehand', async () => {
    const path = await create('Grows');
    await write(path, letter);
    await activate(path);
    await write(path, { ...letter, 'en:title': 'A better title' });
    const retitled = await textOf(`${path}/activate`);
    expect(retitled).not.toMatch(/name="type"[^>]*checked/);
    expect(retitled).not.toContain('People agreed to something else');
    await write(path, { ...letter, 'en:data': 'Your name, address and the name of your doctor' });
    const grown = await textOf(`${path}/activate`);
    expect(grown).toContain('People agreed to something else. What changed: Data used.');
    expect(grown).not.toMatch(/name="type"[^>]*checked/);
    await write(path, { ...letter, '*:validity': 'P1M' });
    expect(await textOf(`${path}/activate`), 'shorter').not.toContain('What changed: How long');
    await write(path, { ...letter, '*:validity': 'P30Y' });
    const longer = await textOf(`${path}/activate`);
    expect(longer).toContain('What changed: How long an answer holds.');
    expect(plainSpaces(longer)).toContain('30 years');
    const unanswered = await admin.fill(`${path}/activate`, {});
    expect([unanswered.status, (await textOf(path)).includes('1.0')]).toEqual([422, true]);
  });

  it('are archived and deleted after a page that says what it means', async () => {
    const path = await create('Ending');
    await write(path, letter);
    await activate(path);
    expect(await textOf(`${path}/archive`)).toContain('stop counting');
    const etag = hiddenOf(await textOf(`${path}/archive`), 'etag');
    expect((await admin.post(`${path}/archive`, { etag })).status).toBe(303);
    expect((await admin.fill(`${path}/delete`, { typed: 'another' })).status).toBe(422);
    const typed = path.split('/').at(-1) ?? '';
    expect((await admin.fill(`${path}/delete`, { typed })).headers.get('location')).toContain(here);
    expect((await admin.get(path)).status).toBe(404);
    // What was never active has no answers, and is deleted without its key.
    const unused = await create('Unused');
    expect((await admin.fill(`${unused}/delete`, {})).status).toBe(303);
  });

  it('may be archived and deleted while only the draft of an active form names them', async () => {
    const path = await create('Drafted only');
    await write(path, letter);
    await activate(path);
    await write(path, { ...letter, 'en:usage': 'We call you.' });
    const api = await signIn(instance, 'admin');
    const form = await makeLiveModel(api, 'layout', { en: { elements: ['processing.001'] } });
    const elements = ['processing.001', path.split('/').at(-1)];
    await api.send('POST', `/models/${form.id}/versions`, {
      defaultLanguage: 'en',
      data: { en: { elements } },
    });
    expect(await textOf(path)).toContain(`href="/console/forms/${form.key}"`);
    for (const act of ['archive', 'delete', 'activate']) {
      const page = await admin.get(`${path}/${act}`);
      expect(page.status).toBe(200);
      expect(await page.text()).not.toContain(form.key);
    }
    expect((await admin.fill(`${path}/delete`, { typed: elements[1] ?? '' })).status).toBe(303);
  });

  it('say before their end how many answers stop counting, and which forms contain them', async () => {
    const shop = await signIn(instance, 'admin');
    const context = { subject: 'ann', layoutData: { elements: ['processing.001'] } };
    await shop.send('POST', '/consents/singlestep', {
      context,
      values: { 'element/processing/processing.001/1.0': ['accepted'] },
    });
    const archive = await textOf(`${here}/processing.001/archive`);
    expect(archive).toContain('One valid answer stops counting.');
    expect(archive).toContain('href="/console/forms/layout.001"');
    const barred = await textOf(`${here}/processing.001/delete`);
    expect(barred).toContain('href="/console/forms/layout.001"');
    expect(barred).not.toContain('class="ending"');
    expect(await textOf(`${here}/information.001/delete`)).toContain('the default information');
    expect(await textOf(`${here}/information.001/archive`)).toContain('forms of peers with your elements');
  });

  it('are read by operators, who are offered no change', async () => {
    const html = await textOf(here, operator);
    expect(html).not.toContain(`${here}/new`);
    expect((await operator.get(`${here}/processing.001/edit`)).status).toBe(403);
    expect(await textOf(`${here}/processing.001`, operator)).not.toContain('/edit"');
  });

  it.each(['en', 'fr', 'ar'])('have all their words in %s', async (language) => {
    for (const type of ['processing', 'preference', 'conditions', 'information', 'theme', 'email']) {
      const path = await create(`Words ${type} ${language}`, type);
      for (const page of ['', '/edit', '/name']) {
        const html = await (await admin.get(path + page, { 'Accept-Language': language })).text();
        expect(html, path + page).not.toMatch(/>(elements|content|option|elementType)\.[a-zA-Z._]+</);
      }
    }
  });
});
