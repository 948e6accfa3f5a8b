import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { acceptedContract } from '#lib/http/accepted-contract.ts';
import { allowEmpty, readContract as read } from '#lib/http/contract-document.ts';
import { escapePointer } from '#lib/json/pointer.ts';
import { lightFetch } from '../network/light-fetch.ts';
import { closeResponses } from './close-responses.ts';
import {
  type ContractDocument,
  createContractPaths,
  type ResponseObject,
  resolve,
} from './contract-paths.ts';
import { findLostPointer, type SentRequest } from './pointers.ts';

/** A response as a client saw it. `path` may carry a query; `body` is the text, or the parsed JSON. */
export interface ObservedResponse {
  method: string;
  path: string;
  status: number;
  contentType: string | null;
  headers: Headers;
  body: unknown;
  /** The request; with it the pointers of faults are checked. */
  sent?: SentRequest;
}

export interface ContractChecker {
  /** @throws Error with the differences from the contract. */
  check(observed: ObservedResponse): void;
}

/** openapi.yaml of this repository, as generators of clients read it. */
export function readPublishedContract(): ContractDocument {
  return read(new URL('../../../openapi.yaml', import.meta.url)) as unknown as ContractDocument;
}

/** openapi.yaml with everything that an instance accepts. */
export function readContract(): ContractDocument {
  return acceptedContract(readPublishedContract());
}

/**
 * Checks responses against the contract: operation, status, media type, headers, body, and problem codes.
 * Every undocumented response fails.
 */
export function createContractChecker(document: ContractDocument): ContractChecker {
  const paths = createContractPaths(document);
  const validatorFor = createValidators(document);
  return {
    check(observed) {
      const found = paths.find(observed.method, observed.path, observed.status);
      const said = `${observed.method} ${observed.path.split('?')[0]} answered ${observed.status}`;
      if (typeof found === 'string') throw new Error(`${said}, but ${found}\n${excerpt(observed.body)}`);
      const fail = (why: string): never => {
        throw new Error(`${said}, which breaks the contract of ${found.operationId}: ${why}`);
      };
      checkHeaders(document, found.response, observed.headers, fail);
      // The contract does not document the bodies of redirects.
      if (observed.status >= 300 && observed.status < 400) return;
      if (observed.method === 'HEAD') return;
      const schema = mediaTypeOf(found.response, observed, fail);
      if (schema === undefined) return;
      const { mediaType, pointer } = schema;
      const body = /[/+]json$/.test(mediaType) ? parseJson(observed.body, fail) : observed.body;
      const validate = validatorFor(`${found.pointer}${pointer}`);
      if (!validate(body)) fail(`${describe(validate.errors ?? [])}\n${excerpt(observed.body)}`);
      if (mediaType === 'application/problem+json') checkProblem(found.response, observed.status, body, fail);
      const lost = observed.sent && findLostPointer(document, found.operation, observed.sent, body);
      if (lost) fail(`${lost}\n${excerpt(observed.sent?.body ?? '')}`);
    },
  };
}

let ourChecker: ContractChecker | undefined;

/** The checker of openapi.yaml, shared by all tests. It compiles each schema on first use. */
export function contractChecker(): ContractChecker {
  ourChecker ??= createContractChecker(readContract());
  return ourChecker;
}

/**
 * A `fetch` for tests: takes paths, does not follow redirects, and checks every response against
 * openapi.yaml.
 * @param baseUrl the instance under test.
 */
export function contractFetch(
  baseUrl: string,
  checker = contractChecker(),
): (path: string, init?: RequestInit) => Promise<Response> {
  return async (path, init = {}) => {
    const url = new URL(path, baseUrl);
    const response = await lightFetch(url, init);
    checker.check({
      method: (init.method ?? 'GET').toUpperCase(),
      path: url.pathname,
      status: response.status,
      contentType: response.headers.get('content-type'),
      headers: response.headers,
      body: await response.clone().text(),
      sent: sentBy(init),
    });
    return response;
  };
}

function sentBy({ body, headers }: RequestInit): SentRequest {
  const isForm = body instanceof URLSearchParams;
  const type = new Headers(headers).get('content-type')?.split(';')[0]?.trim().toLowerCase();
  return {
    type: type ?? (isForm ? 'application/x-www-form-urlencoded' : ''),
    body: typeof body === 'string' || isForm ? String(body) : undefined,
  };
}

/** Makes an Ajv with OpenAPI's formats. Responses have no members that the document does not name. */
export function createContractAjv(document: ContractDocument): Ajv {
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false });
  (addFormats as unknown as (target: Ajv) => void)(ajv);
  ajv.addFormat('binary', true);
  return ajv.addSchema(allowEmpty(closeResponses(document)), 'openapi');
}

type Fail = (why: string) => never;

function createValidators(document: ContractDocument): (pointer: string) => ValidateFunction {
  const ajv = createContractAjv(document);
  const compiled = new Map<string, ValidateFunction>();
  return (pointer) => {
    const known = compiled.get(pointer);
    if (known) return known;
    const validate = ajv.compile({ $ref: `openapi#${encodeURI(pointer)}` });
    compiled.set(pointer, validate);
    return validate;
  };
}

function checkHeaders(document: ContractDocument, response: ResponseObject, headers: Headers, fail: Fail) {
  for (const [name, reference] of Object.entries(response.headers ?? {})) {
    const { required, schema } = resolve(document, reference).value;
    const value = headers.get(name);
    if (value === null && required) fail(`the header ${name} is missing`);
    if (value !== null && schema?.pattern && !new RegExp(schema.pattern).test(value))
      fail(`the header ${name} is "${value}"`);
  }
}

function mediaTypeOf(
  response: ResponseObject,
  { contentType, body }: ObservedResponse,
  fail: Fail,
): { mediaType: string; pointer: string } | undefined {
  const documented = Object.keys(response.content ?? {});
  if (documented.length === 0) {
    if (body !== '' && body !== undefined) fail('it has a body, but none is documented');
    return undefined;
  }
  const mediaType = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (!documented.includes(mediaType))
    fail(`its media type "${mediaType}" is not documented (${documented.join(', ')} are)`);
  return { mediaType, pointer: `/content/${escapePointer(mediaType)}/schema` };
}

function parseJson(body: unknown, fail: Fail): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body);
  } catch {
    return fail('its body is not JSON');
  }
}

function checkProblem(response: ResponseObject, status: number, body: unknown, fail: Fail) {
  const problem = body as { type: string; code?: string; status: number };
  if (problem.status !== status) fail(`the problem says status ${problem.status}`);
  const code = problem.type.split('/').at(-1) ?? '';
  if (problem.code !== code) fail(`the problem has the code ${problem.code}, and the type of ${code}`);
  const documented = response['x-problems'] ?? [];
  if (!documented.includes(code))
    fail(`the problem code "${code}" is not documented (${documented.join(', ')} are)`);
}

function describe(errors: ErrorObject[]): string {
  return errors
    .slice(0, 12)
    .map(({ instancePath, message, params }) => {
      const extra = params.additionalProperty ?? params.allowedValues ?? '';
      return `  ${instancePath || '/'} ${message}${extra === '' ? '' : ` (${String(extra)})`}`;
    })
    .join('\n')
    .replace(/^/, 'its body is not as documented:\n');
}

function excerpt(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
