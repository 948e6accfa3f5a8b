import { setTimeout as wait } from 'node:timers/promises';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { StartupError } from '#lib/errors/fail.ts';

export type Schemas = components['schemas'];

/** The API of an instance, as a program for models uses it. */
export interface ModelsApi {
  get<T>(address: string): Promise<T>;
  file(address: string): Promise<{ type: string; bytes: Buffer }>;
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
  async function request(
    method: 'GET' | 'POST' | 'PUT',
    address: string,
    { accept = 'application/json', body }: { accept?: string; body?: unknown } = {},
  ): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(new URL(address, url), {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          Accept: accept,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'follow',
      }).catch((cause: Error) => {
        throw new StartupError(`${url} does not answer: ${cause.message}`, { cause });
      });
      if (response.ok) return response;
      const isBusy = response.status === 429 || response.status === 503;
      if (!isBusy || attempt === maxAttempts) throw await refusal(address, response);
      await response.body?.cancel();
      const seconds = Number(response.headers.get('retry-after')) || 1;
      await wait(Math.min(seconds, maxWaitSeconds) * 1000);
    }
  }
  const read = async <T>(response: Promise<Response>) => (await (await response).json()) as T;
  return {
    get: (address) => read(request('GET', address)),
    async file(address) {
      const response = await request('GET', address, { accept: '*/*' });
      const type = response.headers.get('content-type') ?? '';
      return { type, bytes: Buffer.from(await response.arrayBuffer()) };
    },
    post: (address, body) => read(request('POST', address, { body })),
    put: (address, body) => read(request('PUT', address, { body })),
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
