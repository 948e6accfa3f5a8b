import { type Auth, type CredentialSource, createCredentials } from './credentials.ts';
import { iterate } from './iterate.ts';
import { type Iterators, type Operations, operations } from './operations.gen.ts';
import { readError } from './problem.ts';
import { type Sendable, type SendOptions, send } from './send.ts';
import type {
  Answer,
  CallOptions,
  Given,
  Input,
  MediaType,
  Operation,
  OperationId,
  Result,
} from './types.ts';

export interface AccordOptions extends SendOptions {
  /** The address of the instance, without a path. */
  baseUrl: string | URL;
  auth?: Auth;
}

/** A client with a method for each operation of the contract. */
export interface Accord extends Operations {
  /** For each list a method that gives its items, page after page. */
  readonly iterate: Iterators;
  /** Calls an operation by its name, and returns also the status and the headers, such as `ETag`. */
  call<Id extends OperationId, Accept extends MediaType<Id>>(
    id: Id,
    ...given: Given<Input<Id, Accept>>
  ): Promise<Answer<Result<Id, Accept>>>;
  /** The same instance with other credentials, such as the token of a transaction. */
  as(auth: Auth): Accord;
}

/** @throws {AccordError} from each method, if the instance refuses the request. */
export function createAccord(options: AccordOptions): Accord {
  const baseUrl = new URL(options.baseUrl);
  const credentials = createCredentials(options.auth, baseUrl, options);
  const call = (id: OperationId, input: object = {}, { signal }: CallOptions = {}) =>
    callOperation(operations[id], input as Record<string, unknown>, {
      baseUrl,
      credentials,
      options,
      signal,
    });
  const names = Object.keys(operations) as OperationId[];
  const methods = names.map((id) => [
    id,
    async (input?: object, each?: CallOptions) => (await call(id, input, each)).data,
  ]);
  const iterators = names
    .filter((id) => operations[id].query.includes('cursor'))
    .map((id) => [
      id,
      (input: object = {}, each?: CallOptions) =>
        iterate((cursor) => call(id, cursor ? { ...input, cursor } : input, each)),
    ]);
  return {
    ...Object.fromEntries(methods),
    iterate: Object.fromEntries(iterators),
    call,
    as: (auth: Auth) => createAccord({ ...options, auth }),
  } as Accord;
}

interface Call {
  baseUrl: URL;
  credentials: CredentialSource;
  options: SendOptions;
  signal?: AbortSignal;
}

async function callOperation(
  operation: Operation,
  input: Record<string, unknown>,
  { baseUrl, credentials, options, signal }: Call,
): Promise<Answer<unknown>> {
  for (let isFirst = true; ; isFirst = false) {
    const { url, request } = requestOf(operation, input, baseUrl);
    if (!operation.isPublic) {
      const given = await credentials.get();
      Object.assign(request.headers, given.headers);
      for (const [name, value] of Object.entries(given.query)) url.searchParams.set(name, value);
    }
    let response = await send(url, { ...request, signal }, options);
    const target = new URL(response.headers.get('location') ?? '', url);
    if (response.status === 303 && operation.method === 'GET' && target.origin === url.origin)
      response = await send(target, { ...request, signal }, options);
    // Pages and workers of browsers are not shown where a redirect leads: browsers follow it themselves.
    if (response.type === 'opaqueredirect' && operation.method === 'GET')
      response = await send(url, { ...request, redirect: 'follow', signal }, options);
    if (response.status === 401 && isFirst && !operation.isPublic && credentials.renew()) continue;
    if (!response.ok) throw await readError(response);
    return { data: await readBody(response), status: response.status, headers: response.headers };
  }
}

function requestOf(
  operation: Operation,
  input: Record<string, unknown>,
  baseUrl: URL,
): { url: URL; request: Sendable } {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(input[name])));
  const url = new URL(path, baseUrl);
  for (const name of operation.query)
    for (const value of [input[name] ?? []].flat()) url.searchParams.append(name, String(value));
  const headers: Record<string, string> = {};
  for (const name of operation.headers) if (input[name] !== undefined) headers[name] = String(input[name]);
  const accept = input.accept ?? operation.accept;
  if (accept) headers.Accept = String(accept);
  const { method } = operation;
  // Redirects are followed within the instance alone, where they are shown.
  const redirect = 'manual';
  if (input.body === undefined) return { url, request: { method, headers, redirect } };
  const type = String(input.contentType ?? operation.body);
  headers['Content-Type'] = type;
  return { url, request: { method, headers, redirect, body: encode(type, input.body) } };
}

function encode(type: string, body: unknown): NonNullable<Sendable['body']> {
  if (type.endsWith('json')) return JSON.stringify(body);
  if (type === 'application/x-www-form-urlencoded' && !(body instanceof URLSearchParams)) {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(body as Record<string, unknown>))
      for (const each of [value ?? []].flat()) form.append(name, String(each));
    return form;
  }
  return body as Blob;
}

async function readBody(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim() ?? '';
  if (response.status === 204 || !type) return undefined;
  if (type.endsWith('json') && !type.endsWith('ndjson')) return response.json();
  const isText = /^text\/|^image\/svg|^application\/(jose|xml|yaml|x-ndjson)$/.test(type);
  return isText ? response.text() : response.blob();
}
