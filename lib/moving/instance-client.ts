import { setTimeout as wait } from 'node:timers/promises';
import { StartupError } from '#lib/errors/fail.ts';
import { RefusedError, type Schemas } from '#lib/models/models-api.ts';

/** An instance that speaks the interface, and a credential for it. */
export interface Access {
  /** Base URL. */
  url: string;
  /** Headers with the credential. @param isExpired whether those of the last call were answered with 401. */
  headers: (isExpired: boolean) => Promise<Record<string, string>>;
}

/** A response that was found. */
export interface Found {
  text: string;
  /** Query of the next page, from `Link: rel="next"`. */
  next: string | undefined;
}

/** The operations of an instance, for programs that move data. */
export interface InstanceClient {
  /** Base URL without a slash at its end. */
  url: string;
  /** @returns undefined for 404 and 406. @throws RefusedError for another 4xx. */
  find(address: string, accept?: string): Promise<Found | undefined>;
  /** Reads JSON. @returns undefined for 404. */
  findJson<T>(address: string): Promise<T | undefined>;
  /** Reads JSON that must be there. */
  read<T>(address: string): Promise<T>;
  /** The items of an array that is divided into pages. */
  list<T>(address: string): AsyncGenerator<T>;
  /** Sends JSON. @throws RefusedError for a response with 4xx. */
  send<T>(method: 'POST' | 'PUT', address: string, body: unknown): Promise<T>;
}

const maxAttempts = 20;
const maxWaitSeconds = 60;

/** Waits and repeats while the instance is busy or away. */
export function createInstanceClient({ url: given, headers }: Access): InstanceClient {
  const url = withoutSlash(given);

  async function request(
    method: string,
    address: string,
    { accept = 'application/json', body }: { accept?: string; body?: unknown } = {},
  ): Promise<Response> {
    let isExpired = false;
    for (let attempt = 1; ; attempt += 1) {
      const response: Response | undefined = await fetch(`${url}${address}`, {
        method,
        headers: {
          ...(await headers(isExpired)),
          Accept: accept,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'error',
      }).catch(() => undefined);
      if (response?.ok) return response;
      const status: number | undefined = response?.status;
      isExpired = status === 401 && !isExpired;
      const isBusy = status === undefined || status === 429 || status === 503 || isExpired;
      if (!isBusy || attempt === maxAttempts) {
        if (response) return response;
        throw new StartupError(`${url} does not answer. Run the program again to go on.`);
      }
      await response?.body?.cancel();
      const seconds = Number(response?.headers.get('retry-after')) || 1;
      if (!isExpired) await wait(Math.min(seconds, maxWaitSeconds) * 1000);
    }
  }

  async function find(address: string, accept?: string): Promise<Found | undefined> {
    const response = await request('GET', address, accept === undefined ? {} : { accept });
    if (response.status === 404 || response.status === 406) {
      await response.body?.cancel();
      return undefined;
    }
    if (!response.ok) throw await refusal(url, address, response);
    return { text: await response.text(), next: nextOf(response.headers.get('link'), response.url) };
  }

  async function findJson<T>(address: string): Promise<T | undefined> {
    const found = await find(address);
    return found && parse<T>(found.text, address);
  }

  async function read<T>(address: string): Promise<T> {
    const found = await findJson<T>(address);
    if (found === undefined) throw new StartupError(`${url} has no ${nameOf(address)}.`);
    return found;
  }

  async function* list<T>(address: string): AsyncGenerator<T> {
    for (let next: string | undefined = address; next !== undefined; ) {
      const page: Found | undefined = await find(next);
      if (!page) throw new StartupError(`${url} has no ${nameOf(address)}.`);
      yield* parse<T[]>(page.text, address);
      // At the same path: a link may name the instance as others reach it.
      next = page.next && `${nameOf(address)}${page.next}`;
    }
  }

  async function send<T>(method: 'POST' | 'PUT', address: string, body: unknown): Promise<T> {
    const response = await request(method, address, { body });
    if (!response.ok) throw await refusal(url, address, response);
    return parse<T>(await response.text(), address);
  }

  function parse<T>(text: string, address: string): T {
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new StartupError(`${url}${nameOf(address)} is answered with something else than JSON.`, {
        cause,
      });
    }
  }

  return { url, find, findJson, read, list, send };
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? withoutSlash(url.slice(0, -1)) : url;
}

/** An address without its query, which may name a person. */
function nameOf(address: string): string {
  return address.split('?')[0] ?? '';
}

/** RFC 8288. */
function nextOf(link: string | null, base: string): string | undefined {
  for (const part of (link ?? '').split(/,(?=\s*<)/)) {
    const [, target] = /^\s*<([^>]*)>/.exec(part) ?? [];
    if (target !== undefined && /;\s*rel="?next"?/i.test(part)) return new URL(target, base).search;
  }
  return undefined;
}

async function refusal(url: string, address: string, response: Response): Promise<Error> {
  const text = await response.text();
  const { detail, errors } = problemOf(text);
  const said = detail ?? `${url}${nameOf(address)} was answered with ${response.status}.`;
  return response.status === 401 || response.status === 403 || response.status >= 500
    ? new StartupError(said)
    : new RefusedError(response.status, said, errors ?? []);
}

function problemOf(text: string): { detail?: string; errors?: Schemas['Fault'][] } {
  try {
    return JSON.parse(text) as { detail?: string; errors?: Schemas['Fault'][] };
  } catch {
    return {};
  }
}
