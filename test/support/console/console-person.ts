import { type BrowserSession, createBrowserSession } from '../pages/browser-session.ts';
import { lostLinks } from '../pages/parse-page.ts';

/** A person who uses the console in a browser without JavaScript. */
export interface ConsolePerson {
  browser: BrowserSession;
  /** Opens a page and follows redirects, also through the issuer. @param path such as `/console/audit`. */
  open(path: string): Promise<ConsolePage>;
  /** Sends a form from a page of the console, and follows redirects. */
  post(path: string, fields: Record<string, string> | URLSearchParams): Promise<ConsolePage>;
}

export interface ConsolePage {
  status: number;
  /** Where the browser has arrived: path and query. */
  path: string;
  html: string;
  headers: Headers;
}

const maxRedirects = 20;

/** @param baseUrl of the instance. @param browser which has no session yet if it is not given. */
export function createConsolePerson(baseUrl: string, browser = createBrowserSession()): ConsolePerson {
  async function follow(url: string, init?: RequestInit): Promise<ConsolePage> {
    let address = new URL(url, baseUrl);
    let response = await browser.fetch(address.href, init);
    for (let steps = 0; response.headers.has('location'); steps += 1) {
      if (steps === maxRedirects) throw new Error(`redirected for ever, last to ${address.href}`);
      address = new URL(response.headers.get('location') ?? '', address);
      response = await browser.fetch(address.href);
    }
    const html = await response.text();
    const lost = lostLinks(html);
    if (lost.length > 0) throw new Error(`links of ${address.pathname} lead nowhere: ${lost.join(', ')}`);
    return {
      status: response.status,
      path: address.pathname + address.search,
      html,
      headers: response.headers,
    };
  }
  return {
    browser,
    open: (path) => follow(path),
    post: (path, fields) =>
      follow(path, {
        method: 'POST',
        headers: { 'Sec-Fetch-Site': 'same-origin' },
        body: new URLSearchParams(fields),
      }),
  };
}

/** Signs in on the page of the built-in issuer. @param path the page to which the sign-in leads. */
export async function signInToConsole(
  baseUrl: string,
  username: string,
  { password = 'demo', path = '/console' }: { password?: string; path?: string } = {},
): Promise<ConsolePerson> {
  const person = createConsolePerson(baseUrl);
  const page = await submitSignIn(person, await person.open(path), { username, password });
  if (!page.path.startsWith('/console'))
    throw new Error(`${username} was not signed in: ${page.status} at ${page.path}`);
  return person;
}

/** Sends the name and password on the issuer's page. @returns where the browser arrives. */
export async function submitSignIn(
  person: ConsolePerson,
  page: ConsolePage,
  fields: { username: string; password: string },
): Promise<ConsolePage> {
  const action = /<form[^>]*action="([^"]*)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&');
  if (!action) throw new Error(`there is no sign-in page: ${page.status} at ${page.path}`);
  return person.post(action, fields);
}
