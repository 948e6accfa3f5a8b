import { lightFetch } from '../network/light-fetch.ts';
import type { TestInstance } from './instance.ts';

/** An instance, wherever it runs. */
export type Reachable = Pick<TestInstance, 'url' | 'fetch'>;

/** A caller with a credential of its own. */
export interface Caller {
  headers: Record<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Sends JSON. */
  send(
    method: 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
}

/** Someone who sends these headers with every request. */
export function callerWith(instance: Reachable, headers: Record<string, string>): Caller {
  return {
    headers,
    get: (path, more = {}) => instance.fetch(path, { headers: { ...headers, ...more } }),
    send: (method, path, body, more = {}) =>
      instance.fetch(path, {
        method,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...more,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
}

/** A caller who sends a request again while the instance is too busy to admit it (503). */
export function patient(caller: Caller): Caller {
  const admitted = async (send: () => Promise<Response>): Promise<Response> => {
    let response: Response;
    do response = await send();
    while (response.status === 503);
    return response;
  };
  return {
    ...caller,
    get: (...request) => admitted(() => caller.get(...request)),
    send: (...request) => admitted(() => caller.send(...request)),
  };
}

/** Signs in with the password grant, as existing clients do (docs/interface.md, "Credentials"). */
export async function signIn(instance: Reachable, username: string, password = 'demo'): Promise<Caller> {
  const response = await lightFetch(new URL('/auth', instance.url), {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'cmclient', grant_type: 'password', username, password }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return callerWith(instance, { Authorization: `Bearer ${access_token}` });
}

/** Has the admin make an API key. */
export async function createKey(
  instance: Reachable,
  name = 'shop',
  scope: 'OWNER' | 'PEER' | 'DECISION' = 'OWNER',
): Promise<Caller & { id: string; key: string }> {
  const admin = await signIn(instance, 'admin');
  const made = (await (await admin.send('POST', '/keys', { name, scope })).json()) as {
    id: string;
    key: string;
  };
  return { ...callerWith(instance, { CM_KEY: made.key }), ...made };
}
