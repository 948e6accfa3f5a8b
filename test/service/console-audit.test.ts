import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
let pages: ConsolePages;
beforeAll(async () => {
  pages = await openPages(instance, 'admin');
});
afterAll(() => pages?.close());

const here = '/console/audit';
const textOf = async (path: string) => (await pages.get(path)).text();
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
    expect(file.headers.get('content-disposition')).toContain('checkpoint.json');
    expect(await file.json()).toEqual(newest);
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

  it('has no name of a person, and leads to the person’s page', async () => {
    const admin = await signIn(instance, 'admin');
    await admin.send('POST', '/subjects', { name: 'Ann Example' });
    const html = await textOf(`${here}?action=subject.created`);
    expect(html).not.toContain('Ann Example');
    const link = /href="(\/console\/audit\/subject\/[^"]+)"/.exec(html)?.[1] ?? '';
    expect(await textOf(link)).toContain('Ann Example');
  });

  it('refuses a place that it did not make', async () => {
    for (const place of ['abc', Buffer.from('{"before":"x","lists":{}}').toString('base64url')])
      expect((await pages.get(`${here}?cursor=${place}`)).status).toBe(404);
  });
});
