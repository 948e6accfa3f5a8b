import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FormsService, formsBaseUrl, startForms } from '../support/instances/forms-service.ts';
import {
  makeActive,
  makeDraft,
  makeModel,
  sampleContent,
  setStatus,
} from '../support/samples/forms-models.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms();
});
afterAll(() => forms.stop());

const put = (path: string, json: unknown, headers = {}) => forms.send(path, { method: 'PUT', json, headers });
const remove = (path: string, headers = {}) => forms.send(path, { method: 'DELETE', headers });
const read = async (path: string) => (await forms.send(path)).json();

describe('an entry', () => {
  it('gets the next key of its type, is INACTIVE and can be read by id and by key', async () => {
    const created = await forms.send('/models', {
      method: 'POST',
      json: { type: 'processing', name: 'Letter' },
    });
    expect(created.status).toBe(201);
    const entry = await created.json();
    expect(entry).toMatchObject({ key: 'processing.001', status: 'INACTIVE', default: false, versions: [] });
    expect(created.headers.get('location')).toBe(`${formsBaseUrl}/models/${entry.id}`);
    expect(await read(`/models/${entry.id}`)).toEqual(entry);
    expect(await read('/models/serials/processing.001')).toEqual(entry);
    expect((await makeModel(forms, { type: 'processing' })).key).toBe('processing.002');
    await makeModel(forms, { type: 'processing', key: 'processing.041' });
    expect((await makeModel(forms, { type: 'processing' })).key).toBe('processing.042');
  });

  it('is created once per key under concurrent requests', async () => {
    const json = { type: 'theme', name: 'Same', key: 'same.key' };
    const made = await Promise.all(
      Array.from({ length: 8 }, () => forms.send('/models', { method: 'POST', json })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  it('gets a unique key when many are created concurrently without one', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => makeModel(forms, { type: 'email' })));
    expect(new Set(made.map(({ key }) => key)).size).toBe(8);
  });

  it('is rejected with a pointer for every fault', async () => {
    const json = { type: 'poem', name: '', key: 'a b', sharedWith: ['x'.repeat(256)] };
    const response = await forms.send('/models', { method: 'POST', json });
    expect(response.status).toBe(422);
    const { errors } = await response.json();
    expect(errors.map(({ pointer }) => pointer)).toEqual(['/type', '/key', '/name', '/sharedWith/0']);
  });

  it.each(['__proto__', 'constructor', '..', 'x', 'a/b', 'é'.repeat(3), 'k'.repeat(256)])(
    'may not have the key %j',
    async (key) => {
      const response = await forms.send('/models', {
        method: 'POST',
        json: { type: 'theme', name: 'x', key },
      });
      expect(response.status).toBe(422);
    },
  );

  it('keeps the members that a change omits', async () => {
    const { id } = await makeModel(forms, { type: 'email', name: 'Before', description: 'Kept' });
    const changed = await (await put(`/models/${id}`, { name: 'After', shared: true })).json();
    expect(changed).toMatchObject({ name: 'After', description: 'Kept', shared: true });
  });

  it('is changed only if the client has read its present revision', async () => {
    const { id } = await makeModel(forms, { type: 'email' });
    const tag = (await forms.send(`/models/${id}`)).headers.get('etag') ?? '';
    const first = await put(`/models/${id}`, { name: 'First' }, { 'If-Match': tag });
    expect(first.status).toBe(200);
    expect((await put(`/models/${id}`, { name: 'Second' }, { 'If-Match': tag })).status).toBe(412);
    expect((await remove(`/models/${id}`, { 'If-Match': tag })).status).toBe(412);
    expect((await put(`/models/${id}`, { name: 'Any' }, { 'If-Match': '*' })).status).toBe(200);
    const now = (await forms.send(`/models/${id}`)).headers.get('etag') ?? '';
    expect((await remove(`/models/${id}`, { 'If-Match': `"0", ${now}` })).status).toBe(204);
  });

  it.each(['not-an-id', '00000000-0000-7000-8000-000000000000'])(
    'that does not exist is a 404 (%s)',
    async (id) => {
      expect((await forms.send(`/models/${id}`)).status).toBe(404);
      expect((await put(`/models/${id}`, {})).status).toBe(404);
      expect((await remove(`/models/${id}`)).status).toBe(404);
      expect((await forms.send(`/models/${id}/versions/${id}`)).status).toBe(404);
      expect((await forms.send('/models/serials/no.such.key')).status).toBe(404);
    },
  );
});

describe('the list of models', () => {
  it('can be filtered by type, key, status, language and keyword, and is paginated', async () => {
    const { id } = await makeActive(forms, 'processing', sampleContent.processing, 'list.one');
    await makeModel(forms, { type: 'theme', key: 'list.two', name: 'A 100% theme' });
    const keys = async (query: string) => (await read(`/models?${query}`)).values.map(({ key }) => key);
    expect(await keys('keys=list.one,list.two')).toEqual(['list.one', 'list.two']);
    expect(await keys('keys=list.one&keys=list.two&types=theme')).toEqual(['list.two']);
    expect(await keys('keys=list.one,list.two&statuses=ACTIVE')).toEqual(['list.one']);
    expect(await keys('keys=list.one,list.two&languages=en')).toEqual(['list.one']);
    expect(await keys('keyword=100%25')).toEqual(['list.two']);
    const page = await read('/models?keys=list.one,list.two&page=1&size=1');
    expect(page).toMatchObject({
      page: 1,
      pageSize: 1,
      totalPages: 2,
      totalCount: 2,
      values: [{ key: 'list.two' }],
    });
    expect((await read('/models?keys=list.one')).values[0]).toMatchObject({
      id,
      availableLanguages: ['en'],
      defaultLanguage: 'en',
      versions: [{ serial: '1.0', status: 'ACTIVE' }],
    });
  });

  it.each(['page=-1', 'page=x', 'size=0', 'size=201', 'page=1e9&size=1.5'])('refuses %s', async (query) => {
    expect((await forms.send(`/models?${query}`)).status).toBe(400);
  });
});

describe('rights', () => {
  it('let operators and keys read and only admins write', async () => {
    const json = { type: 'theme', name: 'x' };
    for (const as of ['operator', 'key'] as const) {
      expect((await forms.send('/models', { as })).status).toBe(200);
      expect((await forms.send('/models', { as, method: 'POST', json })).status).toBe(403);
    }
    expect((await forms.send('/models', { as: 'user' })).status).toBe(403);
    expect((await forms.send('/models', { as: 'nobody' })).status).toBe(401);
    expect((await forms.send('/models?t=abc', { as: 'nobody' })).status).toBe(403);
  });
});

describe('the default information', () => {
  it('is a single information model and cannot be deleted', async () => {
    const first = await makeActive(forms, 'information', sampleContent.information);
    const second = await makeActive(forms, 'information', sampleContent.information);
    const theme = await makeModel(forms, { type: 'theme' });
    expect((await put(`/models/${theme.id}`, { default: true })).status).toBe(422);
    await Promise.all([first, second].map(({ id }) => put(`/models/${id}`, { default: true })));
    const entries = await Promise.all([first, second].map(({ id }) => read(`/models/${id}`)));
    expect(entries.filter((entry) => entry.default)).toHaveLength(1);
    const chosen = entries.find((entry) => entry.default);
    expect((await remove(`/models/${chosen?.id}`)).status).toBe(409);
  });
});

describe('deleting an entry', () => {
  it('removes one without answers; its key can be reused with later serials', async () => {
    const { id, key } = await makeActive(forms, 'processing', sampleContent.processing);
    expect((await remove(`/models/${id}`)).status).toBe(204);
    expect((await forms.send(`/models/${id}`)).status).toBe(404);
    const again = await makeActive(forms, 'processing', sampleContent.processing, key);
    const entry = await read(`/models/${again.id}`);
    // The identifier element/processing/<key>/1.0 has meant something already.
    expect(entry.versions[0]?.serial).toBe('2.0');
  });

  it('archives one with answers and keeps it as DELETED', async () => {
    const info = await makeActive(forms, 'information', sampleContent.information);
    const element = await makeActive(forms, 'processing', sampleContent.processing);
    const { layout } = await forms.operations.resolveLayout({
      layoutData: { info: info.key, elements: [element.key] },
    });
    const answers = { [`element/processing/${element.key}/1.0`]: ['accepted'] };
    const now = new Date().toISOString();
    const common = { openedAt: now, givenAt: now, sealUntil: now, languages: [], form: false, hidden: [] };
    expect(await forms.operations.checkAnswers({ layout, answers, ...common })).toMatchObject({
      outcome: 'valid',
    });
    expect((await remove(`/models/${element.id}`)).status).toBe(204);
    expect(await read(`/models/${element.id}`)).toMatchObject({
      status: 'DELETED',
      versions: [{ serial: '1.0', status: 'ARCHIVED' }],
    });
    expect((await remove(`/models/${element.id}`)).status).toBe(204);
    expect((await put(`/models/${element.id}`, { name: 'x' })).status).toBe(409);
    const json = { defaultLanguage: 'en', data: { en: sampleContent.processing } };
    expect((await forms.send(`/models/${element.id}/versions`, { method: 'POST', json })).status).toBe(409);
    const list = await read(`/models?keys=${element.key}`);
    expect(list.totalCount).toBe(0);
    expect((await read(`/models?keys=${element.key}&statuses=DELETED`)).totalCount).toBe(1);
    const reuse = { type: 'processing', name: 'x', key: element.key };
    expect((await forms.send('/models', { method: 'POST', json: reuse })).status).toBe(409);
    expect(await forms.operations.activeVersions({ keys: [element.key, 'no.such.key'] })).toEqual({
      [element.key]: { major: null, serial: null, deleted: true },
    });
  });

  it('is rejected while ACTIVE layouts use the entry, and lists them', async () => {
    const element = await makeActive(forms, 'processing', sampleContent.processing);
    const theme = await makeActive(forms, 'theme', sampleContent.theme);
    const layout = await makeActive(forms, 'layout', {
      type: 'layout',
      elements: [element.key],
      theme: theme.id,
    });
    for (const { id } of [element, theme]) {
      const refused = await remove(`/models/${id}`);
      expect(refused.status).toBe(409);
      expect((await refused.json()).layouts).toEqual([layout.key]);
    }
    await setStatus(forms, layout.id, layout.version, 'ARCHIVED');
    expect((await remove(`/models/${element.id}`)).status).toBe(204);
  });

  it('never leaves an ACTIVE layout without its element under concurrent requests', async () => {
    for (let round = 0; round < 5; round += 1) {
      const element = await makeActive(forms, 'processing', sampleContent.processing);
      const layout = await makeModel(forms, { type: 'layout' });
      const draft = await makeDraft(forms, layout.id, { en: { type: 'layout', elements: [element.key] } });
      const [deleted, activated] = await Promise.all([
        remove(`/models/${element.id}`),
        setStatus(forms, layout.id, draft, 'ACTIVE'),
      ]);
      expect([deleted.status, activated.status]).toSatisfy(
        ([gone, made]: number[]) => (gone === 204 && made === 422) || (gone === 409 && made === 200),
      );
    }
  });
});

describe('export and import', () => {
  it('copy an entry to a free key as a draft', async () => {
    const { id } = await makeActive(forms, 'preference', sampleContent.preference);
    const exported = await read(`/models/${id}/export`);
    const imported = await forms.send('/models/import', {
      method: 'POST',
      json: { ...exported, key: 'imported.one' },
    });
    expect(imported.status).toBe(201);
    const entry = await imported.json();
    expect(entry).toMatchObject({ key: 'imported.one', type: 'preference', status: 'INACTIVE' });
    expect(entry.versions).toMatchObject([{ status: 'DRAFT', availableLanguages: ['en'] }]);
    const draft = await read(`/models/${entry.id}/versions/${entry.versions[0]?.id}`);
    expect(draft.data).toEqual(exported.versions[0]?.data);
    expect((await forms.send('/models/import', { method: 'POST', json: exported })).status).toBe(409);
  });

  it('check imported content like any other, and store nothing if it is invalid', async () => {
    const versions = [{ defaultLanguage: 'en', data: { en: { title: 'No more' } } }];
    const json = { key: 'imported.bad', type: 'processing', name: 'Bad', versions };
    const response = await forms.send('/models/import', { method: 'POST', json });
    expect(response.status).toBe(422);
    const { errors } = (await response.json()) as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer)).toContain('/versions/0/data/en/usage');
    expect((await forms.send('/models/serials/imported.bad')).status).toBe(404);
  });
});
