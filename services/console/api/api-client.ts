import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Document } from 'openapi-backend';
import { currentRequestId } from '#lib/observability/logger.ts';
import { SignInNeeded } from '../sessions/sign-in-needed.ts';
import { ApiFailure, readFreshChallenge } from './api-failure.ts';
import type { ApiReply, CallInput, OperationId, ResultOf, RowOf } from './api-types.ts';
import { type ApiCall, curlLine } from './curl-line.ts';
import { operationRights } from './operation-rights.ts';

const timeoutMs = 10_000;
/** From the call to the last byte of a file. */
const fileTimeoutMs = 120_000;

/** A client that prefers HTML gets a page for a failure, too. */
const htmlOrProblem = 'application/problem+json, text/html;q=0.9';

/** Calls the public API with the token of one person, for one request to the console. */
export interface ApiClient {
  /**
   * Calls an operation of openapi.yaml.
   * @throws ApiFailure for a failure, and with status 503 without a response;
   * SignInNeeded if the API does not accept the token, or requires a more recent sign-in.
   */
  call<Id extends OperationId>(operation: Id, input?: CallInput<Id>): Promise<ApiReply<ResultOf<Id>>>;
  /**
   * Calls an operation that responds with a list: an array, or the member `values`.
   * @returns a page of the list, and the cursor of the next one. @throws as `call`.
   */
  list<Id extends OperationId>(
    operation: Id,
    input?: CallInput<Id>,
  ): Promise<{ rows: RowOf<Id>[]; next?: string }>;
  /**
   * Calls an operation whose response is a page, such as a preview.
   * @returns the page. @throws as `call`.
   */
  page<Id extends OperationId>(operation: Id, input?: CallInput<Id>): Promise<string>;
  /**
   * Calls an operation whose response is a file, which may be large. A parameter says its format.
   * @returns the file while it arrives; it ends with an error if it is cut off. @throws as `call`.
   */
  file<Id extends OperationId>(
    operation: Id,
    input?: CallInput<Id>,
  ): Promise<{ stream: Readable; headers: Headers }>;
  /** The calls made so far, as commands for a shell. */
  curlLines(): string[];
  /** Those of them that changed something, or were to. */
  changingLines(): string[];
}

/** Makes the client of one request. */
export type CreateApiClient = (session: { accessToken: string; roles: readonly string[] }) => ApiClient;

interface Target {
  method: string;
  path: string;
}

/**
 * @param apiUrl where the API is called; @param baseUrl its public address, for "The same by API". Both
 * without a trailing slash.
 */
export function createApiClients({
  document,
  apiUrl,
  baseUrl,
}: {
  document: Document;
  apiUrl: string;
  baseUrl: string;
}): CreateApiClient {
  const targets = readTargets(document);
  const { lackingRoles } = operationRights(document);
  const linesOf = (calls: readonly ApiCall[]) => calls.map((call) => curlLine(call, baseUrl));
  return (session) => {
    const calls: ApiCall[] = [];
    async function request<Id extends OperationId>(
      operation: Id,
      input: CallInput<Id>,
      wanted: { accept: string; withinMs?: number },
    ) {
      const target = targets.get(operation);
      if (!target) throw new Error(`openapi.yaml has no operation ${operation}`);
      const call = { ...input, method: target.method, target: fillTarget(target.path, input) };
      calls.push(call);
      const response = await send(`${apiUrl}${call.target}`, { ...call, ...wanted }, session.accessToken);
      if (response.status === 401)
        throw new SignInNeeded(readFreshChallenge(response.headers.get('www-authenticate')));
      if (response.status >= 400)
        throw failureOf(response, await readJson(response), lackingRoles(session.roles, operation));
      return response;
    }
    return {
      curlLines: () => linesOf(calls),
      changingLines: () => linesOf(calls.filter(({ method }) => method !== 'GET')),
      async call(operation, input = {}) {
        const response = await request(operation, input, { accept: 'application/json' });
        // A redirect says where, and nothing else.
        const body = response.ok ? await readJson(response) : undefined;
        return {
          status: response.status,
          body,
          etag: response.headers.get('etag') ?? undefined,
          location: response.headers.get('location') ?? undefined,
          next: nextCursor(response.headers.get('link')),
        };
      },
      async list(operation, input = {}) {
        const response = await request(operation, input, { accept: 'application/json' });
        const body = await readJson(response);
        if (!Array.isArray(body)) return { rows: body.values, next: body.next };
        return { rows: body, next: nextCursor(response.headers.get('link')) };
      },
      async page(operation, input = {}) {
        return readText(await request(operation, input, { accept: htmlOrProblem }));
      },
      async file(operation, input = {}) {
        const wanted = { accept: htmlOrProblem, withinMs: fileTimeoutMs };
        const { body, headers } = await request(operation, input, wanted);
        return { stream: Readable.fromWeb(body as ReadableStream), headers };
      },
    };
  };
}

/** Method and path of every operation, by operationId. */
function readTargets(document: Document): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>();
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(item as Record<string, { operationId?: string }>)) {
      if (operation.operationId) targets.set(operation.operationId, { method: method.toUpperCase(), path });
    }
  }
  return targets;
}

function fillTarget<Id extends OperationId>(
  path: string,
  { params = {}, query, page }: CallInput<Id>,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...page })) {
    const text = Array.isArray(value) ? value.join(',') : String(value ?? '');
    if (text !== '') search.set(name, text);
  }
  // Lists and times stay readable: a query may have colons and commas (RFC 3986 §3.4).
  const text = search.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  return text === '' ? filled : `${filled}?${text}`;
}

async function send(
  url: string,
  {
    method,
    body,
    file,
    ifMatch,
    accept,
    withinMs = timeoutMs,
  }: ApiCall & { accept: string; withinMs?: number },
  token: string,
): Promise<Response> {
  try {
    // The calls of one page have its id: the audit log of the console shows them as one line.
    const requestId = currentRequestId();
    return await fetch(url, {
      method,
      headers: {
        ...(requestId && { 'X-Request-Id': requestId }),
        Accept: accept,
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(file && { 'Content-Type': file.type || 'application/octet-stream' }),
        ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
      },
      body: file ?? (body === undefined ? null : JSON.stringify(body)),
      redirect: 'manual',
      signal: AbortSignal.timeout(withinMs),
    });
  } catch (cause) {
    throw new ApiFailure(503, {}, { cause });
  }
}

async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    throw new ApiFailure(503, {}, { cause });
  }
}

/** The contract says what the body is (`ResultOf`). */
async function readJson(response: Response) {
  try {
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new ApiFailure(response.ok ? 503 : response.status, {}, { cause });
  }
}

function failureOf(response: Response, body: unknown, roles: readonly string[]): ApiFailure {
  const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiFailure(response.status, problem, {
    ...(Number.isFinite(seconds) && { retryAfter: seconds }),
    ...(response.status === 403 && { roles }),
  });
}

/** The parameter `cursor` of the URL with `rel="next"` (RFC 8288). */
function nextCursor(link: string | null): string | undefined {
  const url = /<([^<>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  return url ? (new URL(url, 'http://localhost').searchParams.get('cursor') ?? undefined) : undefined;
}
