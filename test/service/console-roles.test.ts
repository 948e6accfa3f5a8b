import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomId } from '#lib/ids/random-ids.ts';
import { rooms } from '../../services/console/rooms/rooms.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { fillInstance, patternOf } from '../support/console/walk-console.ts';
import { useInstance } from '../support/instances/instance.ts';

const instance = useInstance();
let admin: ConsolePages;
let operator: ConsolePages;
let user: ConsolePages;
/** Paths to which pages link, by pattern, of an administrator and of an operator. */
let ofAdmin: Map<string, string>;
let ofOperator: Map<string, string>;

beforeAll(async () => {
  await fillInstance(instance);
  admin = await openPages(instance, 'admin');
  operator = await openPages(instance, 'operator');
  user = await openPages(instance, 'user');
  ofAdmin = await walk(admin);
  ofOperator = await walk(operator);
});
afterAll(() => Promise.all([admin, operator, user].map((each) => each?.close())));

/** Follows all links within the console. @returns the paths, all of which are pages. */
async function walk(pages: ConsolePages): Promise<Map<string, string>> {
  const found = new Map([['/console', '/console']]);
  for (const path of found.values()) {
    const response = await pages.get(path);
    if (response.status !== 200) throw new Error(`${path} is linked, and answers ${response.status}`);
    if (!response.headers.get('content-type')?.startsWith('text/html')) continue;
    for (const [, href = ''] of (await response.text()).matchAll(/href="(\/console[^"]*)"/g)) {
      const pattern = patternOf(href);
      if (!found.has(pattern) && !href.includes('/assets/'))
        found.set(pattern, href.replaceAll('&amp;', '&'));
    }
  }
  return found;
}
const statusesOf = (paths: Iterable<string>, ask: (path: string) => Promise<Response>) =>
  Promise.all([...paths].map(async (path) => [path, (await ask(path)).status] as const));

describe('what a person sees in the console', () => {
  it('follows the roles: whatever has a link opens, for each role', () => {
    expect(ofAdmin.size).toBeGreaterThan(ofOperator.size);
    expect(ofOperator.size).toBeGreaterThan(rooms.length);
    for (const pattern of ofOperator.keys()) expect(ofAdmin.has(pattern), pattern).toBe(true);
  });

  it('is nothing for a person without a role of the console', async () => {
    for (const [path, status] of await statusesOf(ofAdmin.values(), (path) => user.get(path)))
      expect([path, status]).toEqual([path, 403]);
  });

  it('is 403 for an operator wherever only an administrator has a link, as a page and as a form', async () => {
    const denied = [...ofAdmin].filter(([pattern]) => !ofOperator.has(pattern)).map(([, path]) => path);
    expect(denied.length).toBeGreaterThan(10);
    const read = await statusesOf(denied, (path) => operator.get(path));
    expect(read).toEqual(denied.map((path) => [path, 403]));
    for (const path of denied)
      expect(await (await operator.get(path)).text(), path).toMatch(/with the role Administrator\./);
    const sent = await statusesOf(denied, (path) => operator.post(path, { once: randomId() }));
    for (const [path, status] of sent) expect([403, 404], path).toContain(status);
  });
});
