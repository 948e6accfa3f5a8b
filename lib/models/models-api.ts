import { setTimeout as wait } from 'node:timers/promises';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { StartupError } from '#lib/errors/fail.ts';

export type Schemas = components['schemas'];

/** The API of an instance, as a program for models uses it. */
export interface ModelsApi {
  get<T>(address: string): Promise<T>;
  /** @throws RefusedError for a response with 4xx. */
  post<T>(address: string, body: unknown): Promise<T>;
  /** @throws RefusedError for a response with 4xx. */
  put<T>(address: string, body: unknown): Promise<T>;
}

/** What the API refused, with the faults of the request. */
export class RefusedError extends Error {
  readonly status: number;
  readonly faults: Schemas['Fault'][];

  constructor(status: number, detail: string, faults: Schemas['Fault'][]) {
    super(detail);
    this.name = 'RefusedError';
    this.status = status;
    this.faults = faults;
  }
}

const maxAttempts = 10;
const maxWaitSeconds = 60;

/** @param instance.url base URL. @param instance.token access token of an administrator or author. */
export function createModelsApi({ url, token }: { url: string; token: string }): ModelsApi {
  async function request<T>(method: 'GET' | 'POST' | 'PUT', address: string, body?: unknown): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(new URL(address, url), {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          Accept: 'application/json',
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'follow',
      }).catch((cause: Error) => {
        throw new StartupError(`${url} does not answer: ${cause.message}`, { cause });
      });
      if (response.ok) return (await response.json()) as T;
      const isBusy = response.status === 429 || response.status === 503;
      if (!isBusy || attempt === maxAttempts) throw await refusal(address, response);
      await response.body?.cancel();
      const seconds = Number(response.headers.get('retry-after')) || 1;
      await wait(Math.min(seconds, maxWaitSeconds) * 1000);
    }
  }
  return {
    get: (address) => request('GET', address),
    post: (address, body) => request('POST', address, body),
    put: (address, body) => request('PUT', address, body),
  };
}

async function refusal(address: string, response: Response): Promise<Error> {
  const problem = (await response.json().catch(() => ({}))) as {
    detail?: string;
    errors?: Schemas['Fault'][];
  };
  const detail = problem.detail ?? `${address.split('?')[0]} was answered with ${response.status}.`;
  if (response.status === 401 || response.status >= 500) return new StartupError(detail);
  return new RefusedError(response.status, detail, problem.errors ?? []);
}
