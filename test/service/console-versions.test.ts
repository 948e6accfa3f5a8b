import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';

const instance = useInstance();
let pages: ConsolePages;
let admin: Caller;
beforeAll(async () => {
  pages = await openPages(instance, 'admin');
  admin = await signIn(instance, 'admin');
});
afterAll(() => pages?.close());

const textOf = async (path: string) => (await pages.get(path)).text();
const jsonOf = async <T>(response: Promise<Response>) => (await (await response).json()) as T;
const letter = {
  title: 'A letter',
  data: 'Your address',
  usage: 'We write to you each year.',
  retention: { value: 1, unit: 'YEAR' },
  purposes: ['CONSENT_CORE_SERVICE'],
  legalBases: ['LEGAL_BASIS_CONSENT'],
  thirdParties: [],
};

/** Makes an element with an active version 1.0 and a draft. @returns its key and the ids of both. */
async function makeTwoVersions(changes: object) {
  const entry = await jsonOf<{ id: string; key: string }>(
    admin.send('POST', '/models', { type: 'processing', name: 'Letter' }),
  );
  const path = `/models/${entry.id}/versions`;
  const write = async (content: object) =>
    (await jsonOf<{ id: string }>(admin.send('POST', path, content))).id;
  const first = await write({ defaultLanguage: 'en', data: { en: letter } });
  await admin.send('PUT', `${path}/${first}/status`, { status: 'ACTIVE' });
  const draft = await write({ defaultLanguage: 'en', data: { en: { ...letter, ...changes } } });
  return { ...entry, first, draft, page: `/console/elements/${entry.key}` };
}

describe('versions of an element in the console', () => {
  it('say what differs, word by word, at activation and on a page of their own', async () => {
    const { page, draft } = await makeTwoVersions({ usage: 'We call you each year.' });
    for (const path of [`${page}/activate`, `${page}/versions/${draft}/changes`]) {
      const html = await textOf(path);
      expect(html).toContain('We <del>write</del><ins>call</ins> <del>to </del>you each year.');
      expect(html).not.toContain('Your address');
    }
  });

  it('are compared with any other, and the first shows all that it contains', async () => {
    const { page, first, draft } = await makeTwoVersions({ title: 'A parcel' });
    const path = `${page}/versions/${first}/changes`;
    expect(await textOf(path)).toContain('>Your address</div></dd>');
    expect(await textOf(`${path}?to=${draft}`)).toMatch(/A <del>parcel<\/del><ins>letter<\/ins>/);
    expect((await pages.get(`${page}/versions/01980000-0000-7000-8000-000000000000/changes`)).status).toBe(
      404,
    );
  });

  it('differ also in members that mean the same in all languages, and in other languages than the main one', async () => {
    const first = { en: letter, fr: { ...letter, title: 'Une lettre' } };
    const { id, key } = await makeLiveModel(admin, 'processing', first);
    const changesOf = async (change: { en?: object; fr?: object; defaultLanguage?: string }) => {
      const data = { en: { ...first.en, ...change.en }, fr: { ...first.fr, ...change.fr } };
      const body = { defaultLanguage: 'en', ...change, data, en: undefined, fr: undefined };
      const path = `/models/${id}/versions`;
      const draft = await jsonOf<{ id: string }>(admin.send('POST', `${path}?incomplete=true`, body));
      const html = await textOf(`/console/elements/${key}/activate`);
      await admin.send('DELETE', `${path}/${draft.id}`);
      return /What changes<\/h2>([\s\S]*?)<\/section>/.exec(html)?.[1] ?? '';
    };
    expect(await changesOf({})).toContain('Nothing differs');
    const notice = { refusable: false };
    expect(await changesOf({ en: notice, fr: notice })).toContain('<dt>What people can do</dt>');
    const third = { thirdParties: [{ name: 'Imprimerie' }], containsMedicalData: true };
    const inFrench = await changesOf({ fr: third });
    expect(inFrench).toMatch(/<dt>Shared with \(French\)<\/dt>.*Imprimerie/);
    expect(inFrench).toMatch(/<dt>Contains health data \(French\)<\/dt>.*<ins>Yes/);
    expect(await changesOf({ defaultLanguage: 'fr' })).toContain('<dt>Main language</dt>');
  });

  it('are activated below what changes, and not if nothing changes', async () => {
    const changed = await makeTwoVersions({ usage: 'We call you each year.' });
    const html = await textOf(`${changed.page}/activate`);
    expect(html.indexOf('What changes</h2>')).toBeGreaterThan(0);
    expect(html.indexOf('name="type"')).toBeGreaterThan(html.indexOf('What changes</h2>'));
    const same = await makeTwoVersions({});
    const unchanged = await textOf(`${same.page}/activate`);
    expect(unchanged).toContain('This draft is the same as version 1.0');
    expect(unchanged).toContain(`href="${same.page}/discard"`);
    expect(unchanged).not.toContain('name="type"');
    const sent = await pages.post(`${same.page}/activate`, { draft: same.draft, type: 'MAJOR' });
    expect(sent.status).toBe(409);
    const { versions } = await jsonOf<{ versions: { status: string }[] }>(admin.get(`/models/${same.id}`));
    expect(versions.map(({ status }) => status)).toEqual(['DRAFT', 'ACTIVE']);
  });

  it('say which active forms show the element', async () => {
    const { page, key } = await makeTwoVersions({ title: 'A parcel' });
    const form = await jsonOf<{ id: string }>(
      admin.send('POST', '/models', { type: 'layout', name: 'A form with a letter' }),
    );
    const path = `/models/${form.id}/versions`;
    const data = { en: { elements: [key] } };
    const { id } = await jsonOf<{ id: string }>(admin.send('POST', path, { defaultLanguage: 'en', data }));
    expect(await textOf(`${page}/activate`)).not.toContain('A form with a letter');
    await admin.send('PUT', `${path}/${id}/status`, { status: 'ACTIVE' });
    expect(await textOf(`${page}/activate`)).toContain('A form with a letter');
  });
});

describe('versions of a form in the console', () => {
  it('say what differs', async () => {
    const { body } = {
      body: await jsonOf<{ id: string; versions: { id: string }[] }>(admin.get('/models/serials/layout.001')),
    };
    const html = await textOf(`/console/forms/layout.001/versions/${body.versions[0]?.id}/changes`);
    expect(html).toContain('>Programme letter');
  });
});

describe('an exported element', () => {
  const importText = async (text: string, key = '') => {
    const page = await textOf('/console/elements/import');
    const once = /name="once" value="([^"]*)"/.exec(page)?.[1] ?? '';
    return pages.post('/console/elements/import', { export: text, key, once });
  };

  it('is imported under another key as a draft, with its content', async () => {
    const { page } = await makeTwoVersions({ title: 'A parcel' });
    const exported = await textOf(`${page}/export`);
    const made = await importText(exported, 'letter.copy');
    expect(made.headers.get('location')).toBe('/console/elements/letter.copy?done=imported');
    expect(await textOf('/console/elements/letter.copy/edit')).toContain('We write to you each year.');
  });

  it('is imported from a file without JavaScript, too', async () => {
    const { page } = await makeTwoVersions({ title: 'A parcel' });
    const exported = await textOf(`${page}/export`);
    const path = '/console/elements/import';
    const html = await textOf(path);
    expect(html).toMatch(/<form[^>]*enctype="multipart\/form-data"/);
    const body = new FormData();
    body.append('once', /name="once" value="([^"]*)"/.exec(html)?.[1] ?? '');
    body.append('export', '');
    body.append('key', 'letter.file');
    const send = () =>
      fetch(`${pages.origin}${path}`, {
        method: 'POST',
        headers: { Origin: pages.origin },
        body,
        redirect: 'manual',
      });
    const lacking = await send();
    expect(lacking.status).toBe(422);
    expect(await lacking.text()).toContain('Fill in this field.');
    body.append('file', new Blob([exported], { type: 'application/json' }), 'letter.json');
    expect((await send()).headers.get('location')).toBe('/console/elements/letter.file?done=imported');
    expect(await textOf('/console/elements/letter.file/edit')).toContain('We write to you each year.');
  });

  it('is rejected with its fault, and stays in the field, if its key is taken or it is no export', async () => {
    const { page } = await makeTwoVersions({ title: 'A parcel' });
    const taken = await importText(await textOf(`${page}/export`));
    expect(taken.status).toBe(409);
    expect(await taken.text()).toContain('We write to you each year.');
    const wrong = await importText('{"type": "processing"');
    expect(wrong.status).toBe(422);
    expect(await wrong.text()).toContain('This is not an exported text');
    const unknown = await importText('{"type": "novel", "name": "x", "versions": []}');
    expect(unknown.status).toBe(400);
    expect(await unknown.text()).toContain('novel');
  });
});

describe('the page of an element', () => {
  it('says how many people have a valid answer, and what was decided', async () => {
    const key = await createKey(instance, 'shop');
    const before = await textOf('/console/elements/processing.002?wait=true');
    expect(before).toContain('Nobody has a valid answer.');
    for (const [subject, decision] of [
      ['ann', 'accepted'],
      ['bert', 'refused'],
      ['cleo', 'accepted'],
    ]) {
      const context = { subject, layoutData: { elements: ['processing.002'] } };
      const values = { 'element/processing/processing.002/1.0': [decision] };
      await key.send('POST', '/consents/singlestep', { context, values });
    }
    const html = await textOf('/console/elements/processing.002?wait=true');
    expect(html).toContain('3 people have a valid answer. 2 of them accept.');
    expect(html).toContain('In the last 90 days: 3 answers; 67% of them accept.');
    expect(html).toMatch(/<svg[^>]*role="img"/);
  });

  it('has no answers of what nobody answers', async () => {
    const { key } = await jsonOf<{ key: string }>(
      admin.send('POST', '/models', { type: 'theme', name: 'Dune' }),
    );
    expect(await textOf(`/console/elements/${key}?wait=true`)).not.toContain('valid answer');
  });
});
