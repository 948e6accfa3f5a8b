import type { Page, Response } from 'playwright-core';
import { rooms } from '../../../services/console/rooms/rooms.ts';
import { createKey, type Reachable, signIn } from '../instances/callers.ts';

/** Longest walk through the console, in pages. */
const maxPages = 120;

/**
 * Makes something to see on the pages of the console: answers, an API key, a webhook that fails, a draft
 * beside an active version, a requested erasure, and a peer.
 */
export async function fillInstance(instance: Reachable, peer?: Reachable): Promise<void> {
  const admin = await signIn(instance, 'admin');
  // Nothing outside can be reached in tests.
  const targetUrl = 'https://shop.example.org/hooks';
  const subscribedActions = ['consent.committed'];
  await admin.send('POST', '/webhooks', { name: 'shop', targetUrl, subscribedActions });
  const layoutData = { elements: ['processing.001', 'preference.003'] };
  for (const [subject, decision] of [
    ['anna', 'accepted'],
    ['bert', 'refused'],
  ]) {
    const values = { 'element/processing/processing.001/1.0': [decision] };
    await admin.send('POST', '/consents/singlestep', { context: { subject, layoutData }, values });
  }
  await admin.send('POST', '/keys', { name: 'shop', scope: 'OWNER' });
  const read = await admin.get('/models/serials/processing.002');
  const { id, versions } = (await read.json()) as { id: string; versions: { id: string }[] };
  const version = await admin.get(`/models/${id}/versions/${versions[0]?.id}`);
  const { defaultLanguage, data } = (await version.json()) as { defaultLanguage: string; data: object };
  await admin.send('POST', `/models/${id}/versions`, { defaultLanguage, data });
  const person = await signIn(instance, 'user');
  await person.send('POST', '/choices/erasure', {});
  if (peer) await pairWith(instance, peer);
}

/** Pairs an instance with another one, which shares an element. */
export async function pairWith(instance: Reachable, peer: Reachable): Promise<void> {
  const admin = await signIn(instance, 'admin');
  const owner = await signIn(peer, 'admin');
  const { id } = (await (await owner.get('/models/serials/processing.001')).json()) as { id: string };
  await owner.send('PUT', `/models/${id}`, { shared: true });
  const { key } = await createKey(peer, 'for the other', 'PEER');
  const paired = await admin.send('POST', '/peers', { url: peer.url, apiKey: key });
  if (!paired.ok) throw new Error(`the instances were not paired: ${await paired.text()}`);
}

/** Signs in with a demo account on the page of the built-in issuer, and waits for the first page. */
export async function enterConsole(page: Page, baseUrl: string, username: string): Promise<void> {
  await page.goto(`${baseUrl}/console`);
  await page.fill('#username', username);
  await page.fill('#password', 'demo');
  await page.click('button.primary');
  await page.waitForSelector('nav.places', { state: 'attached' });
}

/**
 * Opens every page of the console to which links lead; of several that differ in an id alone, one.
 * @param visit is called at each page. @returns the opened paths.
 */
export async function walkConsole(
  page: Page,
  baseUrl: string,
  visit: (path: string, response: Response | null) => Promise<void>,
): Promise<string[]> {
  const paths = ['/console'];
  const seen = new Set(paths);
  for (const path of paths) {
    await visit(path, await page.goto(baseUrl + path));
    for (const href of await linksOf(page)) {
      if (seen.has(patternOf(href)) || paths.length === maxPages) continue;
      seen.add(patternOf(href));
      paths.push(href);
    }
  }
  return paths;
}

/** The paths of the console to which the page has links, without files. */
async function linksOf(page: Page): Promise<string[]> {
  const hrefs = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))`,
  );
  return hrefs
    .filter((href) => href.startsWith('/console') && !/format=|\/(export|json)$|\.(svg|png|pdf)$/.test(href))
    .filter((href) => rooms.some(({ path }) => path !== '' && href.startsWith(`/console${path}`)));
}

/**
 * Keys differ in their number, other ids in more. Elements of all types have the same pages for these three
 * acts.
 */
export const patternOf = (href: string) =>
  href
    .replace(/\?.*/, '')
    .replaceAll(/\/[\w-]{20,}/g, '/*')
    .replaceAll(/\.\d{3}(?=\/|$)/g, '.*')
    .replace(/\/elements\/\w+\.\*\/(name|archive|delete)$/, '/elements/*/$1');
