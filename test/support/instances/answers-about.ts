import { readContract } from '../contract/contract.ts';
import { listOperations, type ResponseObject, resolve } from '../contract/contract-paths.ts';
import type { Caller, Reachable } from './callers.ts';

/** What a client read. */
interface Read {
  request: string;
  body: string;
}

/** What answers are about: transactions with old tokens, and values of parameters of paths and queries. */
interface About {
  transactions: readonly { id: string; token: string }[];
  /** By name; an operation with another parameter of the path, or another required one, is left out. */
  parameters: Readonly<Record<string, readonly string[]>>;
}

/** Operations that answer about other things than people: models, files, the contract. */
const others = /^\/(federation|models|assets|docs|openapi|auth|\.well-known)\b/;

/**
 * Reads all that the GET operations of the contract tell an administrator, and of transactions also bearers
 * of their old tokens: in every format, on all pages of lists.
 */
export async function readAnswersAbout(instance: Reachable, admin: Caller, about: About): Promise<Read[]> {
  const read: Read[] = [];
  const get = async (path: string, headers: Record<string, string>) => {
    const response = await instance.fetch(path, { headers, redirect: 'manual' });
    const request = `GET ${path} as ${headers.Accept}: ${response.status}`;
    read.push({
      request,
      body: `${await response.clone().text()}\n${JSON.stringify([...response.headers])}`,
    });
    const link = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    const { next } = (await response.json().catch(() => ({}))) as { next?: string };
    const onward = new URL(path, instance.url);
    if (next !== undefined) onward.searchParams.set('cursor', next);
    return link ?? (next === undefined ? undefined : onward.href);
  };
  for (const { path, formats } of reads()) {
    for (const Accept of formats)
      for (const address of addressesOf(path, about)) {
        let page: string | undefined = address;
        while (page !== undefined) page = await get(page, { ...admin.headers, Accept });
      }
    if (!path.includes('{txid}')) continue;
    for (const { id, token } of about.transactions)
      for (const Accept of formats) await get(`${path.replace('{txid}', id)}?t=${token}`, { Accept });
  }
  return read;
}

/** The GET operations about people, and their formats. */
function reads(): { path: string; formats: string[] }[] {
  const document = readContract();
  return listOperations(document).flatMap(({ path, method, operation }) => {
    if (method !== 'get' || others.test(path) || operation['x-served-by'] === 'standalone') return [];
    const { content = {} } = resolve<ResponseObject>(document, operation.responses[200] ?? {}).value;
    const formats = new Set(['application/json', 'text/html', ...Object.keys(content)]);
    return [{ path, formats: [...formats] }];
  });
}

/** Queries without which these operations answer nothing. */
const queries: Record<string, string> = {
  '/records': 'subject',
  '/decisions': 'subject',
};

/** The addresses of an operation, with each value of its parameter. */
function addressesOf(path: string, { transactions, parameters }: About): string[] {
  const known: About['parameters'] = { ...parameters, txid: transactions.map(({ id }) => id) };
  const [, name] = /\{(\w+)\}/.exec(path) ?? [];
  if (name !== undefined)
    return (known[name] ?? []).map((value) => path.replace(`{${name}}`, encodeURIComponent(value)));
  const more = path === '/decisions' ? '&element=processing.001' : '';
  const query = queries[path];
  if (query === undefined) return [path];
  return (known.name ?? []).map((value) => `${path}?${query}=${encodeURIComponent(value)}${more}`);
}
