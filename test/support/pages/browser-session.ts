import { lightFetch } from '../network/light-fetch.ts';

/** A browser without JavaScript: keeps cookies by path, follows nothing by itself. */
export interface BrowserSession {
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** Sends the only form of a page as a browser would. @param button name of the button that is pressed. */
  submit(pageUrl: string, html: string, fields: Record<string, string>): Promise<Response>;
  /** The cookies it has, as they were set. */
  cookies(): string[];
}

interface Cookie {
  name: string;
  value: string;
  path: string;
  raw: string;
}

export function createBrowserSession(): BrowserSession {
  const jar = new Map<string, Cookie>();
  const session: BrowserSession = {
    async fetch(url, init = {}) {
      const { pathname } = new URL(url);
      const sent = [...jar.values()].filter(
        ({ path }) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')),
      );
      const headers = new Headers(init.headers);
      if (!headers.has('accept')) headers.set('Accept', 'text/html');
      if (sent.length > 0)
        headers.set('Cookie', sent.map(({ name, value }) => `${name}=${value}`).join('; '));
      const response = await lightFetch(new URL(url), { ...init, headers, redirect: 'manual' });
      for (const raw of response.headers.getSetCookie()) keep(jar, raw);
      return response;
    },
    submit(pageUrl, html, fields) {
      const action = /<form[^>]*action="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
      return session.fetch(new URL(action, pageUrl).href, {
        method: 'POST',
        body: new URLSearchParams(fields),
      });
    },
    cookies: () => [...jar.values()].map(({ raw }) => raw),
  };
  return session;
}

function keep(jar: Map<string, Cookie>, raw: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(raw) ?? [];
  const path = /;\s*path=([^;]*)/i.exec(raw)?.[1] ?? '/';
  if (/expires=Thu, 01 Jan 1970|max-age=0(;|$)/i.test(raw)) jar.delete(`${name} ${path}`);
  else jar.set(`${name} ${path}`, { name, value, path, raw });
}
