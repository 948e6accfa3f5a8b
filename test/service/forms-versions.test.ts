import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import {
  type FormsAnswer,
  type FormsResponse,
  type FormsService,
  formsBaseUrl,
  startForms,
} from '../support/instances/forms-service.ts';
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

const { preference, processing } = sampleContent;
const post = (path: string, json: unknown) => forms.send(path, { method: 'POST', json });
const put = (path: string, json: unknown, headers = {}) => forms.send(path, { method: 'PUT', json, headers });
const read = async (path: string) => (await forms.send(path)).json();
const pointers = async (response: FormsResponse) =>
  (await response.json()).errors.map(({ pointer }) => pointer);

/** Adds a draft and activates it. @returns the serial given. */
async function activate(id: string, content: object, type: 'MAJOR' | 'MINOR'): Promise<string> {
  const draft = await makeDraft(forms, id, { en: content }, type);
  const response = await setStatus(forms, id, draft, 'ACTIVE');
  expect(response.status).toBe(200);
  return (await response.json()).serial;
}

describe('a draft', () => {
  it('is created once per entry under concurrent requests', async () => {
    const { id } = await makeModel(forms, { type: 'processing' });
    const json = { defaultLanguage: 'en', data: { en: processing } };
    const made = await Promise.all(Array.from({ length: 8 }, () => post(`/models/${id}/versions`, json)));
    expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  it('is edited, set MAJOR or MINOR, and deleted only if the client has read its present revision', async () => {
    const { id } = await makeModel(forms, { type: 'processing' });
    const version = `/models/${id}/versions/${await makeDraft(forms, id, { en: processing })}`;
    const tag = (await forms.send(version)).headers.get('etag') ?? '';
    const json = { defaultLanguage: 'fr', data: { fr: { ...processing, title: 'Lettre' } } };
    const edited = await put(version, json, { 'If-Match': tag });
    expect(edited.status).toBe(200);
    expect(await edited.json()).toMatchObject({ type: 'MINOR', status: 'DRAFT', availableLanguages: ['fr'] });
    expect((await put(version, json, { 'If-Match': tag })).status).toBe(412);
    expect((await put(`${version}/type`, { type: 'MAJOR' }, { 'If-Match': tag })).status).toBe(412);
    expect((await put(`${version}/status`, { status: 'ACTIVE' }, { 'If-Match': tag })).status).toBe(412);
    expect((await forms.send(version, { method: 'DELETE', headers: { 'If-Match': tag } })).status).toBe(412);
    expect(await (await put(`${version}/type`, { type: 'MAJOR' })).json()).toMatchObject({ type: 'MAJOR' });
    expect((await put(`${version}/type`, { type: 'PATCH' })).status).toBe(422);
    expect((await forms.send(version, { method: 'DELETE' })).status).toBe(204);
    expect((await forms.send(version)).status).toBe(404);
    expect((await read(`/models/${id}`)).versions).toEqual([]);
  });
});

describe('activation', () => {
  it('assigns serials: first 1.0, MINOR raises the second number, MAJOR the first; none is used twice', async () => {
    const { id } = await makeModel(forms, { type: 'processing' });
    expect(await activate(id, processing, 'MINOR')).toBe('1.0');
    expect(await activate(id, processing, 'MINOR')).toBe('1.1');
    expect(await activate(id, processing, 'MAJOR')).toBe('2.0');
    const active = (await read(`/models/${id}`)).versions.find(({ status }) => status === 'ACTIVE');
    await setStatus(forms, id, active?.id ?? '', 'ARCHIVED');
    expect((await read(`/models/${id}`)).status).toBe('INACTIVE');
    expect(await activate(id, processing, 'MINOR')).toBe('2.1');
    expect(await activate(id, processing, 'MAJOR')).toBe('3.0');
    const { versions } = await read(`/models/${id}`);
    expect(versions.map(({ serial }) => serial)).toEqual(['3.0', '2.1', '2.0', '1.1', '1.0']);
    expect(versions.filter(({ status }) => status === 'ACTIVE')).toHaveLength(1);
  });

  it('of a draft happens once under concurrent requests', async () => {
    const { id } = await makeModel(forms, { type: 'processing' });
    const draft = await makeDraft(forms, id, { en: processing });
    const all = await Promise.all(Array.from({ length: 8 }, () => setStatus(forms, id, draft, 'ACTIVE')));
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    expect((await read(`/models/${id}`)).versions).toMatchObject([{ serial: '1.0', status: 'ACTIVE' }]);
  });

  it('publishes an event with the entry, its serial and its version; so do archiving and deletion', async () => {
    const { id, key, version } = await makeActive(forms, 'processing', processing);
    await setStatus(forms, id, version, 'ARCHIVED');
    await forms.send(`/models/${id}`, { method: 'DELETE' });
    await expect.poll(() => forms.events.filter(({ subject }) => subject === id)).toHaveLength(3);
    const told = forms.events.filter(({ subject }) => subject === id);
    expect(told.map(({ type }) => type)).toEqual([
      'io.accord.model.activated.v1',
      'io.accord.model.archived.v1',
      'io.accord.model.deleted.v1',
    ]);
    expect(told[0]).toMatchObject({
      source: formsBaseUrl,
      data: { model: id, key, type: 'processing', serial: '1.0' },
    });
    const seen = told.map(({ data }) => data.version as number);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(Date.parse(told[0]?.time ?? '')).not.toBeNaN();
    await expect.poll(async () => (await forms.db.query(sql`SELECT 1 FROM outbox`)).length).toBe(0);
  });

  it('makes the version available under latest and active', async () => {
    const { id, version } = await makeActive(forms, 'processing', processing);
    const draft = await makeDraft(forms, id, { en: processing });
    const latest = await forms.send(`/models/${id}/versions/latest`);
    expect([latest.status, latest.headers.get('location')]).toEqual([
      303,
      `${formsBaseUrl}/models/${id}/versions/${draft}`,
    ]);
    const active = await forms.send(`/models/${id}/versions/active`);
    expect(active.headers.get('location')).toBe(`${formsBaseUrl}/models/${id}/versions/${version}`);
    const empty = await makeModel(forms, { type: 'email' });
    expect((await forms.send(`/models/${empty.id}/versions/latest`)).status).toBe(404);
    expect((await forms.send(`/models/${empty.id}/versions/active`)).status).toBe(404);
  });
});

describe('every other status change', () => {
  it.each([
    ['DRAFT', 'ARCHIVED'],
    ['DRAFT', 'DRAFT'],
    ['ACTIVE', 'ACTIVE'],
    ['ACTIVE', 'DRAFT'],
    ['ARCHIVED', 'ACTIVE'],
    ['ARCHIVED', 'DRAFT'],
    ['ARCHIVED', 'ARCHIVED'],
  ])('from %s to %s is a 409', async (from, to) => {
    const { id } = await makeModel(forms, { type: 'processing' });
    const version = await makeDraft(forms, id, { en: processing });
    if (from !== 'DRAFT') await setStatus(forms, id, version, 'ACTIVE');
    if (from === 'ARCHIVED') await setStatus(forms, id, version, 'ARCHIVED');
    expect((await setStatus(forms, id, version, to)).status).toBe(409);
    expect((await read(`/models/${id}/versions/${version}`)).status).toBe(from);
  });

  it('to an unknown status is a 422', async () => {
    const { id, version } = await makeActive(forms, 'processing', processing);
    expect((await setStatus(forms, id, version, 'DELETED')).status).toBe(422);
  });
});

describe('an activated version', () => {
  it('cannot be changed through the API', async () => {
    const { id, version } = await makeActive(forms, 'processing', processing);
    const path = `/models/${id}/versions/${version}`;
    expect((await put(path, { defaultLanguage: 'en', data: { en: processing } })).status).toBe(409);
    expect((await put(`${path}/type`, { type: 'MAJOR' })).status).toBe(409);
    expect((await forms.send(path, { method: 'DELETE' })).status).toBe(409);
  });

  it('cannot be changed by SQL', async () => {
    const { version } = await makeActive(forms, 'processing', processing);
    const { db } = forms;
    const changes = [
      sql`UPDATE model_versions SET data = '{}' WHERE id = ${version}`,
      sql`UPDATE model_versions SET minor = 7 WHERE id = ${version}`,
      sql`UPDATE model_versions SET status = 'DRAFT', major = NULL, minor = NULL, activated_at = NULL WHERE id = ${version}`,
      sql`UPDATE model_versions SET default_language = 'fr' WHERE id = ${version}`,
      sql`DELETE FROM model_versions WHERE id = ${version}`,
    ];
    for (const change of changes)
      await expect(db.query(change)).rejects.toThrow(/activated version|goes from/);
  });
});

describe('a MINOR version', () => {
  it('may reword, add languages and add options at the end', async () => {
    const { id } = await makeActive(forms, 'preference', preference);
    const reworded = {
      ...preference,
      label: 'How often, please?',
      options: ['Each day', 'Weekly', 'Never', 'Monthly'],
    };
    expect(await activate(id, reworded, 'MINOR')).toBe('1.1');
  });

  it.each([
    ['an option removed', { options: ['Daily', 'Weekly'] }, '/data/en/options'],
    ['options reordered', { options: ['Never', 'Weekly', 'Daily'] }, '/data/en/options/0'],
    ['another valueType', { valueType: 'LIST_SINGLE' }, '/data/en/valueType'],
    ['optional', { optional: true }, '/data/en/optional'],
  ])('must not have %s; a MAJOR may', async (_what, change, pointer) => {
    const { id } = await makeActive(forms, 'preference', preference);
    const draft = await makeDraft(forms, id, { en: { ...preference, ...change } });
    const refused = await setStatus(forms, id, draft, 'ACTIVE');
    expect(refused.status).toBe(422);
    expect(await pointers(refused)).toContain(pointer);
    await put(`/models/${id}/versions/${draft}/type`, { type: 'MAJOR' });
    expect((await setStatus(forms, id, draft, 'ACTIVE')).status).toBe(200);
  });

  it('must not change whether it is refusable', async () => {
    const { id } = await makeActive(forms, 'processing', processing);
    const draft = await makeDraft(forms, id, { en: { ...processing, refusable: false } });
    const refused = await setStatus(forms, id, draft, 'ACTIVE');
    expect(await pointers(refused)).toEqual(['/data/en/refusable']);
  });
});

describe('the list of versions', () => {
  it('is paginated, newest first, and rejects foreign cursors', async () => {
    const { id } = await makeModel(forms, { type: 'email' });
    for (let count = 0; count < 3; count += 1) await activate(id, sampleContent.email, 'MINOR');
    const first = await forms.send(`/models/${id}/versions?limit=2`);
    const next = /<(.+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await forms.send(next);
    const pages = (await Promise.all([first.json(), second.json()])) as unknown as FormsAnswer[][];
    const serials = pages.flat().map(({ serial }) => serial);
    expect(serials).toEqual(['1.2', '1.1', '1.0']);
    expect(second.headers.get('link')).toBeNull();
    for (const bad of ['cursor=x', 'limit=0', 'limit=201', `cursor=${btoa('["now","x"]')}`])
      expect((await forms.send(`/models/${id}/versions?${bad}`)).status).toBe(400);
  });
});

describe('a layout', () => {
  it('is activated only if its references resolve without conflict', async () => {
    const element = await makeActive(forms, 'processing', processing);
    const conditions = await makeActive(forms, 'conditions', sampleContent.conditions);
    const cases: [object, number, string?][] = [
      [{ elements: [element.key, 'no.such'] }, 422, '/data/en/elements/1'],
      [{ elements: [element.key], info: element.key }, 422, '/data/en/info'],
      [{ elements: [element.key, conditions.key] }, 422, '/data/en/elements/0'],
      [{ elements: [`${element.key}@peer.example`] }, 422, '/data/en/elements/0'],
      [{ elements: [element.key] }, 200],
    ];
    for (const [content, status, pointer] of cases) {
      const { id } = await makeModel(forms, { type: 'layout' });
      const draft = await makeDraft(forms, id, { en: { type: 'layout', ...content } });
      const response = await setStatus(forms, id, draft, 'ACTIVE');
      expect(response.status, JSON.stringify(content)).toBe(status);
      if (pointer) expect(await pointers(response)).toContain(pointer);
    }
  });

  it('may refer to an element that is not ACTIVE yet', async () => {
    const { key } = await makeModel(forms, { type: 'processing' });
    await makeActive(forms, 'layout', { type: 'layout', elements: [key] });
  });
});
