import { contractFetch } from '../../support/contract/contract.ts';

/** What a client got to see. */
export interface Seen {
  request: string;
  status: number;
  headers: string;
  body: string;
  type: string;
}

export interface Recorder {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  seen: Seen[];
}

/**
 * A `fetch` that remembers every answer. @param strict whether answers are held to the contract, which knows
 * no 500.
 */
export function createRecorder(url: string, { strict }: { strict: boolean }): Recorder {
  const seen: Seen[] = [];
  const checked = contractFetch(url);
  const plain = (path: string, init?: RequestInit) =>
    fetch(new URL(path, url), { redirect: 'manual', ...init });
  return {
    seen,
    async fetch(path, init) {
      // The issuer's own pages are not in the contract.
      const response = await (strict && !path.startsWith('/auth/') ? checked : plain)(path, init);
      seen.push({
        request: `${init?.method ?? 'GET'} ${path.replace(/^https?:\/\/[^/]+/, '').split('?')[0]}`,
        status: response.status,
        headers: [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'),
        body: await response.clone().text(),
        type: response.headers.get('content-type') ?? '',
      });
      return response;
    },
  };
}
