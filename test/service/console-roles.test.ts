import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GivenRole, givenRoles } from '#lib/contracts/principal.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { fillInstance, patternOf } from '../support/console/walk-console.ts';
import { useInstance } from '../support/instances/instance.ts';
import { parsePage } from '../support/pages/parse-page.ts';

const instance = useInstance();
const roles = givenRoles.filter((role) => role !== 'user');
/** What people of a role find: paths that are linked, and to which forms are sent, by pattern. */
interface Found {
  links: Map<string, string>;
  forms: Map<string, { path: string; fields: Record<string, string> }>;
  /** Pages on which a part says that it is for other roles. */
  barred: string[];
}
const pages = {} as Record<GivenRole, ConsolePages>;
const found = {} as Record<GivenRole, Found>;

beforeAll(async () => {
  await fillInstance(instance);
  for (const role of givenRoles) pages[role] = await openPages(instance, role);
  for (const role of roles) found[role] = await walk(pages[role]);
}, 120_000);
afterAll(() => Promise.all(Object.values(pages).map((each) => each.close())));

/** Follows all links within the console, each of which has to be a page, and notes the forms. */
async function walk(of: ConsolePages): Promise<Found> {
  const links = new Map([['/console', '/console']]);
  const forms: Found['forms'] = new Map();
  const barred: string[] = [];
  for (const path of links.values()) {
    const response = await of.get(path);
    if (response.status !== 200) throw new Error(`${path} is linked, and answers ${response.status}`);
    if (!response.headers.get('content-type')?.startsWith('text/html')) continue;
    const html = await response.text();
    if (html.includes('for people with the role')) barred.push(path);
    for (const [, href = ''] of html.matchAll(/href="(\/console[^"]*)"/g)) {
      const pattern = patternOf(href);
      if (!links.has(pattern) && !/\/assets\/|\/sign-in\?/.test(href))
        links.set(pattern, href.replaceAll('&amp;', '&'));
    }
    for (const { attribs } of parsePage(html).tagged('form')) {
      if (attribs.method !== 'post' || attribs.action === '/console/sign-out') continue;
      const target = attribs.action || path;
      forms.set(patternOf(target), { path: target, fields: { once: randomId() } });
    }
  }
  return { links, forms, barred };
}
const statusesOf = (paths: Iterable<string>, ask: (path: string) => Promise<Response>) =>
  Promise.all([...paths].map(async (path) => [path, (await ask(path)).status] as const));
const roomsOf = ({ links }: Found) =>
  [...new Set([...links.keys()].map((path) => path.split('/')[2]?.replace(/\?.*/, '')))]
    .filter(Boolean)
    .sort();

describe('what a person sees in the console', () => {
  it('follows the roles: an administrator may open whatever others find', async () => {
    // Some links are there once something was read, or the log was signed.
    const others = roles.flatMap((role) =>
      [...found[role].links].filter(([each]) => !found.admin.links.has(each)),
    );
    for (const [path, status] of await statusesOf(
      others.map(([, path]) => path),
      (path) => pages.admin.get(path),
    ))
      expect(status, path).not.toBe(403);
  });

  it('is what the work of the role needs', () => {
    expect(Object.fromEntries(roles.map((role) => [role, roomsOf(found[role])]))).toEqual({
      admin: [
        'audit',
        'campaigns',
        'elements',
        'forms',
        'integration',
        'receipts',
        'settings',
        'subjects',
        'transactions',
      ],
      operator: [
        'campaigns',
        'elements',
        'forms',
        'integration',
        'receipts',
        'settings',
        'subjects',
        'transactions',
      ],
      clerk: ['campaigns', 'receipts', 'settings', 'subjects', 'transactions'],
      author: ['elements', 'forms', 'settings'],
      auditor: [
        'audit',
        'campaigns',
        'elements',
        'forms',
        'integration',
        'receipts',
        'settings',
        'subjects',
        'transactions',
      ],
      technician: ['integration', 'settings'],
    });
  });

  it.each(roles)('has no part that is not for the %s', (role) => {
    expect(found[role].barred).toEqual([]);
  });

  it.each(roles)('has no form whose sending the services would refuse to the %s', async (role) => {
    for (const { path, fields } of found[role].forms.values())
      expect((await pages[role].post(path, fields)).status, path).not.toBe(403);
  });

  it('is a page with a way on for a person who only answers', async () => {
    const paths = [...found.admin.links.values()].filter((each) => each !== '/console');
    for (const [path, status] of await statusesOf(paths, (each) => pages.user.get(each)))
      expect([path, status]).toEqual([path, 403]);
    const own = await pages.user.get('/console');
    expect([own.status, await own.text()]).toEqual([200, expect.stringContaining('<h1>My choices</h1>')]);
    const page = parsePage(await (await pages.user.get('/console/subjects')).text());
    expect(page.tagged('nav')).toEqual([]);
    const sent = page.tagged('form').filter(({ attribs }) => attribs.method === 'post');
    expect(sent.map(({ attribs }) => attribs.action)).toEqual(['/console/sign-out', '/console/sign-out']);
  });

  it.each(roles)('is 403 for the %s where only others have a link, as a page and as a form', async (role) => {
    const links = [...found.admin.links].filter(([pattern]) => !found[role].links.has(pattern));
    const rooms = new Set(roomsOf(found[role]));
    // Within a room that is open, a page may exist that has no link in the state that the walk has found.
    const denied = links
      .map(([, path]) => path)
      .filter((path) => !rooms.has(path.split('/')[2]?.replace(/\?.*/, '')));
    const read = await statusesOf(denied, (path) => pages[role].get(path));
    expect(read).toEqual(denied.map((path) => [path, 403]));
    for (const path of denied)
      expect(await (await pages[role].get(path)).text(), path).toMatch(/with the role [^.]*Administrator/);
    const sent = await statusesOf(denied, (path) => pages[role].post(path, { once: randomId() }));
    for (const [path, status] of sent) expect([403, 404], path).toContain(status);
  });

  it('is 403 for an auditor wherever an administrator changes something', async () => {
    const denied = [...found.admin.links].filter(([pattern]) => !found.auditor.links.has(pattern));
    expect(denied.length).toBeGreaterThan(20);
    const read = await statusesOf(
      denied.map(([, path]) => path),
      (path) => pages.auditor.get(path),
    );
    expect(read.filter(([, status]) => status !== 403 && status !== 404)).toEqual([]);
  });

  it('is 403 for an operator wherever only an administrator has a link', async () => {
    const denied = [...found.admin.links].filter(([pattern]) => !found.operator.links.has(pattern));
    expect(denied.length).toBeGreaterThan(10);
    const read = await statusesOf(
      denied.map(([, path]) => path),
      (path) => pages.operator.get(path),
    );
    expect(read).toEqual(denied.map(([, path]) => [path, 403]));
  });
});
