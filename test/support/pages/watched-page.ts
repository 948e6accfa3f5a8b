import type { BrowserContextOptions, Page, Request, Response } from 'playwright-core';
import { contractChecker } from '../contract/contract.ts';
import { patience } from '../run/patience.ts';
import type { OpenBrowser } from './use-browser.ts';

/** A page as a subject opens it, with everything noted that no page of ours may do. */
export interface WatchedPage {
  page: Page;
  /**
   * What the page has done wrong since it was opened: errors, requests to strangers, cookies, stored data,
   * undocumented responses.
   */
  complaints(): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * What a browser says of its own: that a page has a status of 4xx, which is wanted here, and that it leaves
 * it to the page's script to move the focus in a frame of another origin.
 */
const expected = /^(Failed to load resource: the server responded|Blocked autofocusing)/;

/** What a page's script says of a request that ended because the page was left. */
const ended = /Failed to fetch/;

const checker = contractChecker();

/**
 * Opens an empty page in a browser profile of its own. @param origins whose pages may be fetched: the
 * instance's, and the host's if there is one.
 */
export async function openWatchedPage(
  browser: OpenBrowser,
  origins: readonly string[],
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 800, height: 900 }, ...options });
  context.setDefaultTimeout(patience.timeout);
  const page = await context.newPage();
  const heard: string[] = [];
  const checks: Promise<void>[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected.test(message.text())) heard.push(`said: ${message.text()}`);
  });
  page.on('pageerror', (error) => heard.push(`failed: ${error.message}`));
  page.on('request', (request) => {
    if (!isKnown(request, origins)) heard.push(`asked a stranger: ${request.url()}`);
  });
  let aborted = 0;
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText === 'net::ERR_ABORTED') aborted += 1;
  });
  page.on('response', (response) => {
    if (new URL(response.url()).origin === origins[0])
      checks.push(checkResponse(response).catch((error: Error) => void heard.push(error.message)));
  });
  return {
    page,
    async complaints() {
      await Promise.all(checks);
      let forgiven = aborted;
      const said = heard.filter((each) => {
        const isForgiven = ended.test(each) && forgiven > 0;
        if (isForgiven) forgiven -= 1;
        return !isForgiven;
      });
      return [...said, ...(await traces(page))];
    },
    close: () => context.close(),
  };
}

function isKnown(request: Request, origins: readonly string[]): boolean {
  const { origin, protocol } = new URL(request.url());
  return protocol === 'data:' || origins.includes(origin);
}

/** Lists data that a page has stored in the browser; there must be none. */
async function traces(page: Page): Promise<string[]> {
  const { cookies, origins } = await page.context().storageState({ indexedDB: true });
  const session = await page.evaluate<number>('sessionStorage.length').catch(() => 0);
  return [
    ...cookies.map(({ name }) => `set the cookie ${name}`),
    ...origins.map(({ origin }) => `stored data of ${origin}`),
    ...(session > 0 ? ['stored data for the session'] : []),
  ];
}

/**
 * Every response that the browser gets is held to the contract; the pages of the issuer and of the console
 * are not in it.
 */
async function checkResponse(response: Response): Promise<void> {
  const { pathname } = new URL(response.url());
  if (/^\/(auth|console)\//.test(`${pathname}/`)) return;
  const headers = new Headers(response.headers());
  const contentType = headers.get('content-type');
  checker.check({
    method: response.request().method(),
    path: pathname,
    status: response.status(),
    contentType,
    headers,
    body: contentType?.includes('json') ? await response.text() : contentType ? 'a page' : undefined,
  });
}
