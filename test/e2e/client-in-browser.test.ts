import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { unpackClient } from '../clients/packed-client.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, useSetup } from '../support/instances/instance.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

/** Files of a site of another origin, by path. */
const files = new Map<string, string>();
const server = createServer(({ url = '' }, response) => {
  const type = url === '/' ? 'text/html' : 'text/javascript';
  response.writeHead(files.has(url) ? 200 : 404, { 'Content-Type': `${type}; charset=utf-8` });
  response.end(files.get(url));
});
afterAll(() => server.close());

const driver = path.join(import.meta.dirname, '../clients/drivers/accord-client-browser.mjs');
let readme = '';

/** The site has the files of the package, as `npm pack` makes it, and a page that finds them by its name. */
async function fillSite(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-site-'));
  try {
    const installed = await unpackClient(folder);
    for (const name of await readdir(path.join(installed, 'dist')))
      files.set(`/accord-client/dist/${name}`, await readFile(path.join(installed, 'dist', name), 'utf8'));
    readme = await readFile(path.join(installed, 'README.md'), 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
  const imports = { 'accord-client': '/accord-client/dist/index.js' };
  files.set(
    '/',
    `<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,">
    <script type="importmap">${JSON.stringify({ imports })}</script>`,
  );
  files.set('/driver.js', await readFile(driver, 'utf8'));
}

const site = useSetup(async () => {
  await fillSite();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://localhost:${port}`, otherOrigin: `http://127.0.0.1:${port}` };
});
const instance = useSetup(() => startTestInstance({ CORS_ORIGINS: site.origin }));
afterAll(() => instance.stop?.());
const operator = useSetup(() => signIn(instance, 'operator'));
const browser = useBrowser();

/** A page of the site, in which nothing may fail. */
async function openPage(origin = site.origin): Promise<Page> {
  const page = await browser.newPage();
  const failures: string[] = [];
  page.on('pageerror', ({ message }) => failures.push(message));
  onTestFinished(() => expect(failures).toEqual([]));
  await page.goto(origin);
  return page;
}

const inPage = (page: Page, ...flow: string[]) =>
  page.evaluate(`import('/driver.js').then(({ run }) => run(...${JSON.stringify(flow)}))`);
const inWorker = (page: Page, ...flow: string[]) =>
  page.evaluate(`new Promise((resolve) => {
    const worker = new Worker('/driver.js', { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve('the worker failed: ' + message);
    worker.postMessage(${JSON.stringify(flow)});
  })`);

describe.each([
  ['a page', inPage],
  ['a worker', inWorker],
] as const)('the client for JavaScript in %s of an origin that an instance lists', (_, run) => {
  it('answers the form of a link, verifies the receipt, withdraws, and has a code of each problem', async () => {
    const page = await openPage();
    expect(await run(page, 'person', (await createTransaction(operator)).url)).toEqual({
      asked: 3,
      state: 'COMMITTED',
      proved: 3,
      isForgeryRefused: true,
      pdf: '%PDF-',
      kind: 'WITHDRAWAL',
      problem: 'forbidden',
    });
  });

  it('renews a token that is refused, reads lists page after page, and follows a redirect', async () => {
    const page = await openPage();
    const token = operator.headers.Authorization?.replace('Bearer ', '') ?? '';
    expect(await run(page, 'staff', instance.url, 'outdated', token)).toEqual({
      username: 'operator',
      listed: 3,
      serial: '1.0',
      problem: expect.stringMatching(/^[a-z-]+$/),
    });
  });
});

describe('the client for JavaScript in a page', () => {
  it('makes the first consent of its README', async () => {
    const page = await openPage();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    const example = readme.split('```js\n')[1]?.split('```')[0] ?? '';
    files.set('/first.js', example.replace('http://localhost:8080', instance.url));
    await page.evaluate("import('/first.js').then(() => true)");
    await expect.poll(() => said.at(-1)).toContain('processing.001');
    expect(JSON.parse(said.at(-1) ?? '')).toMatchObject({
      'processing.001': [{ value: 'accepted', status: 'VALID' }],
      'processing.002': [{ value: 'refused', status: 'VALID' }],
    });
  });

  it('reads forms from any origin, but neither answers them nor has a key', async () => {
    const { key } = await createKey(instance);
    const { url } = await createTransaction(operator);
    const page = await openPage(site.otherOrigin);
    const expected = { asked: 3, submitted: 'TypeError', withKey: 'TypeError' };
    expect(await inPage(page, 'stranger', url, key)).toEqual(expected);
    await page.goto(site.origin);
    expect(await inPage(page, 'stranger', url, key)).toMatchObject({
      submitted: expect.stringMatching(/^[a-z-]+$/),
      withKey: 'TypeError',
    });
  });
});
