import { lookup } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { Agent, type Dispatcher, fetch, request, setGlobalDispatcher } from 'undici';
import type { HttpClient, Reply } from '../../bench/http-client.ts';

/** The router's address in the cluster (test/infrastructure/cluster/system/traefik.yaml). */
export const routerAddress = '10.96.0.80';

/** Calls of hosts under example.test reach the router of the cluster over TLS. */
export interface Router {
  fetch(
    url: string,
    init?: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<Answer>;
  /** A client of one host, as benches use it. */
  clientOf(url: string): HttpClient;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** @param authorities files with certificates of authorities that sign the router's certificates. */
export async function createRouter(authorities: readonly string[]): Promise<Router> {
  const ca = await Promise.all(authorities.map((file) => readFile(file, 'utf8')));
  const dispatcher = new Agent({
    connections: 64,
    connect: {
      ca,
      lookup: (host, options, callback) => {
        if (!host.endsWith('.example.test')) return lookup(host, options, callback);
        return options.all
          ? callback(null, [{ address: routerAddress, family: 4 }])
          : callback(null, routerAddress, 4);
      },
    },
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
  });
  // The programs of the demonstration use fetch.
  setGlobalDispatcher(dispatcher);
  globalThis.fetch = fetch as unknown as typeof globalThis.fetch;
  return {
    async fetch(url, { method = 'GET', headers = {}, body } = {}) {
      const answer = await request(url, {
        dispatcher,
        method: method as Dispatcher.HttpMethod,
        headers,
        body,
      });
      return {
        status: answer.statusCode,
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: await answer.body.text(),
      };
    },
    clientOf(base) {
      const send = async (
        method: 'GET' | 'POST',
        path: string,
        headers: Record<string, string>,
        body?: string,
      ) => {
        const answer = await request(`${base}${path}`, { dispatcher, method, headers, body });
        const location = answer.headers.location;
        const reply: Reply = {
          status: answer.statusCode,
          location: location === undefined ? undefined : String(location),
          body: await answer.body.text(),
        };
        return reply;
      };
      return {
        get: (path, headers) => send('GET', path, headers),
        post: (path, headers, body) => send('POST', path, headers, body),
        close() {},
      };
    },
    close: () => dispatcher.destroy(),
  };
}
