import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Reachable } from './callers.ts';

export type ShownChoices = components['schemas']['Choices'];

/** A browser of somebody who looks at the own choices: it keeps the cookie, and follows no redirect. */
export interface ChoicesVisitor {
  cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Posts fields as a page of the instance does. */
  post(path: string, fields?: [string, string][], headers?: Record<string, string>): Promise<Response>;
  /** The choices as JSON. */
  read(): Promise<ShownChoices['organisations']>;
}

export function choicesVisitor(instance: Reachable): ChoicesVisitor {
  const visitor: ChoicesVisitor = {
    cookie: '',
    get: (path, headers = {}) => send(path, { headers: { Accept: 'text/html', ...headers } }),
    post: (path, fields = [], headers = {}) =>
      send(path, {
        method: 'POST',
        headers: { Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin', ...headers },
        body: new URLSearchParams(fields),
      }),
    async read() {
      const response = await send('/choices', { headers: { Accept: 'application/json' } });
      if (!response.ok) throw new Error(`no choices: ${response.status}`);
      return ((await response.json()) as ShownChoices).organisations;
    },
  };
  async function send(path: string, init: RequestInit & { headers: Record<string, string> }) {
    const headers = { ...init.headers, ...(visitor.cookie && { Cookie: visitor.cookie }) };
    const response = await instance.fetch(path.replace(instance.url, ''), {
      ...init,
      headers,
      redirect: 'manual',
    });
    for (const set of response.headers.getSetCookie()) visitor.cookie = set.split(';')[0] ?? '';
    return response;
  }
  return visitor;
}
