import { createBrowserSession } from '../pages/browser-session.ts';
import type { AuthUnderTest } from './auth-service.ts';

/** An account as the API shows it; `link` in answers that make one. */
export interface ShownAccount {
  id: string;
  name: string;
  role: string;
  state: string;
  creationDate: number;
  lastSignInDate?: number;
  link: string;
  linkExpires: string;
  email?: string;
  mailed?: boolean;
}

/** A password that is long enough. */
export const goodPassword = 'a long enough phrase';

/** Someone who manages accounts with an access token. */
export interface AccountCaller {
  send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Response>;
  /** Invites a person. @throws Error if the answer is no 201. */
  invite(name: string, role?: string): Promise<ShownAccount>;
  /** All accounts by name. */
  list(): Promise<Map<string, ShownAccount>>;
}

export function callerWithToken(under: AuthUnderTest, token: string): AccountCaller {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const caller: AccountCaller = {
    send: (method, path, body) =>
      under.fetch(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    async invite(name, role = 'operator') {
      const response = await caller.send('POST', '/accounts', { name, role });
      if (response.status !== 201) throw new Error(`no invitation for ${name}: ${await response.text()}`);
      return (await response.json()) as ShownAccount;
    },
    async list() {
      const response = await caller.send('GET', '/accounts?limit=200');
      return new Map(((await response.json()) as ShownAccount[]).map((shown) => [shown.name, shown]));
    },
  };
  return caller;
}

/** Opens a link in a browser without JavaScript, and chooses a password. @returns the answer to the form. */
export async function choosePassword(link: string, password = goodPassword): Promise<Response> {
  const browser = createBrowserSession();
  const page = await browser.fetch(link);
  if (page.status !== 200) return page;
  return browser.submit(link, await page.text(), { password, repeated: password });
}
