import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditActions, readActions } from '#lib/audit/actions.ts';
import { loadCatalogues } from '#lib/pages/catalogues.ts';
import { createReader } from '#lib/pages/reader.ts';
import { startApiBetween } from '../support/console/api-between.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
let pages: ConsolePages;
beforeAll(async () => {
  pages = await openPages(instance, 'admin');
});
afterAll(() => pages?.close());

const here = '/console/audit';
const textOf = async (path: string, from = pages) => (await from.get(path)).text();
/** The cells of a table of a page, without mark-up. */
const rowsOf = (html: string) =>
  [...html.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)]
    .slice(1)
    .map(([, row = '']) => row.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '));
const createKeys = async (count: number) => {
  const admin = await signIn(instance, 'admin');
  for (let index = 0; index < count; index += 1)
    await admin.send('POST', '/keys', { name: `key ${index}`, scope: 'OWNER' });
};

it('every action that reads counts as one', () => {
  const reads = auditActions.filter((action) => /\.(read|listed|exported|extracted|counted)$/.test(action));
  expect([...readActions].sort()).toEqual(reads.sort());
});

describe('the audit log in the console', () => {
  it('lists what was done in all areas, with names, newest first', async () => {
    await createKey(instance, 'the shop');
    const admin = await signIn(instance, 'admin');
    await admin.send('POST', '/models', { type: 'layout', name: 'Sign-up' });
    await admin.send('POST', '/models', { type: 'theme', name: 'Sand' });
    const html = await textOf(here);
    for (const name of ['Sand', 'Sign-up']) {
      const href = new RegExp(`href="([^"]+)"><bdi>${name}<`).exec(html)?.[1] ?? '';
      expect(await textOf(href)).toContain(`<h1>${name}</h1>`);
    }
    const [model = '', , key = ''] = rowsOf(html);
    expect(model).toContain('Element or form created');
    expect(model).toContain('Sand');
    expect(key).toContain('API key generated');
    expect(key).toContain('the shop');
  });

  it('has pages over all areas that neither repeat nor skip lines, also if others are written', async () => {
    await createKeys(60);
    const seen: string[] = [];
    let path: string | undefined = `${here}?action=key.created`;
    while (path) {
      const html: string = await textOf(path);
      seen.push(...rowsOf(html).flatMap((row) => /(key \d+) API/.exec(row)?.[1] ?? []));
      await createKeys(1);
      path = /href="([^"]*cursor=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => `key ${59 - index}`));
  });

  it('shows the roots of the newest checkpoint and offers it as a file', async () => {
    const admin = await signIn(instance, 'admin');
    const newest = await until(async () => {
      const { values } = (await (await admin.get('/audit/checkpoints')).json()) as {
        values: { jws: string; logs: Record<string, { root: string }> }[];
      };
      expect(values[0]?.logs.auth).toBeDefined();
      return values[0];
    });
    expect(await textOf(here)).toContain(newest?.logs.auth?.root.slice(0, 16));
    const file = await pages.get(`${here}/checkpoint/export`);
    expect(file.headers.get('content-disposition')).toMatch(
      /^attachment; filename="Riverside-checkpoint-\d{4}-\d\d-\d\d\.json"$/,
    );
    expect(await file.json()).toEqual(newest);
  });

  it('says in a sentence whether it is unchanged, and where not', async () => {
    const admin = await signIn(instance, 'admin');
    await admin.send('POST', '/models', { type: 'theme', name: 'Chalk' });
    await until(async () => {
      const { values } = (await (await admin.get('/audit/checkpoints')).json()) as {
        values: { logs: object }[];
      };
      expect(values[0]?.logs).toHaveProperty('models');
    });
    expect(await textOf(here)).toContain(`href="${here}/check"`);
    const html = await textOf(`${here}/check`);
    expect(html).toMatch(/Yes\. On [^<]+ lines of the log were read again, and they are exactly what/);
    expect(html).toContain('No witness is set');
    const page = (await (await admin.get('/audit/models?from=0&limit=200')).json()) as { values: object[] };
    page.values[0] = { ...page.values[0], target: 'model/another' };
    const between = await startApiBetween(instance, (target) =>
      target.startsWith('/audit/models?from=0') ? { body: page } : undefined,
    );
    const others = await openPages(instance, 'admin', { apiUrl: between.url });
    const changed = await textOf(`${here}/check`, others);
    expect(changed).toMatch(/No\. On [^<]+ It differs in: Elements and forms\. Tell who runs/);
    expect(changed).toContain('state-needs-you');
    await others.close();
    await between.close();
  });

  it('says of one line that it is unchanged, as of several', () => {
    const words = loadCatalogues(new URL('../../services/console/rooms/audit/locales/', import.meta.url));
    const { t } = createReader(words.pick('en'), 'UTC', 'en');
    const said = (lines: number) => t('audit.check.UNCHANGED', { now: 'Monday', signed: 'Sunday', lines });
    expect(said(1)).toContain('the only line of the log was read again, and it is exactly');
    expect(said(2)).toContain('all 2 lines of the log were read again, and they are exactly');
  });

  it.each(['fr', 'ar'])('says it in %s', async (language) => {
    const html = await (await pages.get(`${here}/check`, { 'Accept-Language': language })).text();
    expect(html).toContain(language === 'fr' ? 'Le journal est-il inchangé' : 'هل السجل دون تغيير؟');
    expect(html).not.toMatch(/>audit\.\w+/);
  });

  it('is filtered by area, action, actor and target, and exported as CSV', async () => {
    const admin = await signIn(instance, 'admin');
    const made = (await (await admin.send('POST', '/models', { type: 'theme', name: 'Dune' })).json()) as {
      id: string;
    };
    expect(rowsOf(await textOf(`${here}?area=auth&action=model.created`))).toEqual([]);
    expect(rowsOf(await textOf(`${here}?target=model/${made.id}`))).toHaveLength(1);
    const csv = await textOf(`${here}?target=model/${made.id}&format=csv`);
    expect(csv).toContain(`model.created,model/${made.id}`);
  });

  it('names persons to those who may read persons, and leads to their pages', async () => {
    const admin = await signIn(instance, 'admin');
    await admin.send('POST', '/subjects', { name: 'Ann Example' });
    const html = await textOf(`${here}?action=subject.created`);
    const link = /href="(\/console\/subjects\/[^"]+)"><bdi>Ann Example/.exec(html)?.[1] ?? '';
    expect(link).not.toContain('Ann');
    expect(await textOf(link)).toContain('Ann Example');
    expect(await textOf(`${here}?action=subject.created&format=csv`)).not.toContain('Ann Example');
    expect(rowsOf(await textOf(`${here}?action=subjects.listed`)).join()).toContain('admin');
  });

  const find = (fields: Record<string, string>) => pages.post(`${here}/find`, fields);
  const foundBy = async (fields: Record<string, string>) =>
    (await find(fields)).headers.get('location') ?? '';

  it('finds lines by the name of who did it and of what it is about', async () => {
    const { id: key } = await createKey(instance, 'the kiosk');
    expect(await foundBy({ who: 'The Kiosk' })).toBe(`${here}?actor=${key}`);
    expect(await foundBy({ who: 'The Kiosk', kind: 'changes', area: '', after: '2026-01-02' })).toBe(
      `${here}?kind=changes&after=2026-01-02&actor=${key}`,
    );
    const found = await textOf(await foundBy({ about: 'Sand', kind: 'changes' }));
    expect(found).toMatch(/name="about" value="Sand"/);
    expect(found).toMatch(/<option value="changes" selected>/);
    const lines = rowsOf(await textOf(await foundBy({ about: 'Sand' })));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toContain('Sand');
    const nothing = await find({ who: 'Nobody at all' });
    expect(nothing.status).toBe(422);
    expect(await nothing.text()).toContain('Nothing has this name.');
  });

  it('finds the lines about a person, whose name is on the page and in no address', async () => {
    const admin = await signIn(instance, 'admin');
    await admin.send('POST', '/subjects', { name: 'Bert Example' });
    const path = await foundBy({ about: 'Bert Example' });
    expect(decodeURIComponent(path)).not.toContain('Bert');
    const [read, created] = rowsOf(await textOf(path));
    expect(created).toContain('Person created');
    expect(read).toContain('Details of a person read');
    for (const line of [read, created]) expect(line).toContain('Bert Example');
    await admin.send('POST', '/subjects', { name: 'Dora Example', emailAddress: 'dora@example.org' });
    const called = rowsOf(await textOf(await foundBy({ about: 'dora@example.org' })));
    expect(called.at(-1)).toContain('Dora Example');
  });

  it('has one line for each page that reads a person, and none for the first page', async () => {
    const operator = await signIn(instance, 'operator');
    const context = { subject: 'Cleo Example', layoutData: { elements: ['processing.001'] } };
    const values = { 'element/processing/processing.001/1.0': ['accepted'] };
    await operator.send('POST', '/consents/singlestep', { context, values });
    // The log itself reads the names that it shows.
    const readRows = async () =>
      rowsOf(await textOf(`${here}?kind=reads`)).filter((row) => !row.includes('List of persons read'));
    const before = (await readRows()).length;
    await pages.get('/console');
    expect(await readRows()).toHaveLength(before);
    const found = await pages.post('/console/subjects', { word: 'Cleo Example' });
    const html = await textOf(found.headers.get('location') ?? '');
    const log = /href="([^"]+kind=reads)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const lines = rowsOf(await textOf(log));
    expect(lines).toHaveLength(1);
    for (const what of [
      'Details of a person read',
      'Answers of a person read',
      'Transaction of a person read',
    ])
      expect(lines[0]).toContain(what);
  });

  it('tells of a person also what was done with the transactions', async () => {
    const clerk = await signIn(instance, 'clerk');
    await recordAnswers(clerk, 'Dora Example', { 'element/processing/processing.001/1.0': ['accepted'] });
    const found = await pages.post('/console/subjects', { word: 'Dora Example' });
    const html = await textOf(found.headers.get('location') ?? '');
    const log = /href="([^"]+audit\?target=subject[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const changes = rowsOf(await textOf(`${log.replace(/&kind=\w+/, '')}&kind=changes`)).join();
    expect(changes).toContain('Answers submitted for a person');
  });

  it('shows only what was changed, or only who read data of people', async () => {
    const [changes, reads] = [await textOf(`${here}?kind=changes`), await textOf(`${here}?kind=reads`)].map(
      rowsOf,
    );
    expect(changes?.join()).toContain('Person created');
    expect(changes?.join()).not.toContain(' read ');
    expect(reads?.join()).not.toContain('created');
  });

  it('has the seconds, and the request where few look', async () => {
    const html = await textOf(`${here}?kind=changes`);
    expect(html).toMatch(/<time[^>]*>\d+ \w+ \d+, \d\d:\d\d:\d\d</);
    expect(html).toMatch(/<details[^>]*><summary>Request<\/summary>/);
  });

  it('is linked from what it is about', async () => {
    expect(await textOf('/console/elements/processing.001')).toMatch(
      /href="\/console\/audit\?target=model[^"]+"/,
    );
  });

  it('refuses a place that it did not make', async () => {
    for (const place of ['abc', Buffer.from('{"before":"x","lists":{}}').toString('base64url')])
      expect((await pages.get(`${here}?cursor=${place}`)).status).toBe(404);
  });
});
