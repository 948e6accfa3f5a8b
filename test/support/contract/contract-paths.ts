import { escapePointer } from '#lib/json/pointer.ts';

/** The parts of an OpenAPI document that the contract's tests read. */
export interface ContractDocument {
  info: { version: string };
  tags: { name: string }[];
  paths: Record<string, PathItem>;
  components: Record<string, Record<string, unknown>>;
}

type PathItem = Record<string, OperationObject>;

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary?: string;
  description?: string;
  'x-roles'?: Record<string, string>;
  'x-fresh'?: number;
  'x-served-by'?: string;
  requestBody?: unknown;
  responses: Record<string, unknown>;
}

export interface ResponseObject {
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: unknown; examples?: Record<string, unknown> }>;
  'x-problems'?: string[];
}

interface HeaderObject {
  required?: boolean;
  schema?: { pattern?: string };
}

/** A documented response and its place in the document. */
export interface FoundResponse {
  operationId: string;
  operation?: OperationObject;
  response: ResponseObject;
  /** JSON pointer. */
  pointer: string;
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/** All operations of the document with path and method. */
export function listOperations(document: ContractDocument) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation }] : [];
    }),
  );
}

/** Follows `$ref`s. @returns the value and its JSON pointer. */
export function resolve<T = HeaderObject>(
  document: ContractDocument,
  value: unknown,
  pointer = '',
): { value: T; pointer: string } {
  const reference = (value as { $ref?: string }).$ref;
  if (!reference) return { value: value as T, pointer };
  const target = reference
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Record<string, unknown>)[unescapeKey(key)], document);
  return resolve<T>(document, target, reference.slice(1));
}

/**
 * Finds documented responses. As the introduction of the document says, an undocumented path is a 404, and an
 * undocumented method a 405.
 * @returns the response, or the reason why there is none.
 */
export function createContractPaths(document: ContractDocument) {
  const templates = Object.keys(document.paths)
    .map((path) => ({ path, pattern: patternOf(path), rank: path.replaceAll(/\{\w+\}/g, '\uffff') }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return {
    find(method: string, concrete: string, status: number): FoundResponse | string {
      const path = concrete.split('?')[0] as string;
      const listed = templates.filter(({ pattern }) => pattern.test(path)).map((template) => template.path);
      const name = method === 'HEAD' ? 'get' : method.toLowerCase();
      const match = listed.find((template) => document.paths[template]?.[name]);
      if (match === undefined) return unlisted(document, method, status, listed.length > 0);
      const operation = document.paths[match]?.[name] as OperationObject;
      const response = operation.responses[status];
      const documented = Object.keys(operation.responses).join(', ');
      if (response === undefined)
        return `the status is not documented for ${operation.operationId} (${documented} are)`;
      const at = `/paths/${escapePointer(match)}/${name}/responses/${status}`;
      const found = resolve<ResponseObject>(document, response, at);
      const { operationId } = operation;
      return { operationId, operation, response: found.value, pointer: found.pointer };
    },
  };
}

function unlisted(
  document: ContractDocument,
  method: string,
  status: number,
  pathListed: boolean,
): FoundResponse | string {
  const notFound = '/components/responses/NotFound';
  const problem = resolve<ResponseObject>(document, { $ref: `#${notFound}` }).value;
  if (!pathListed && status === 404)
    return { operationId: 'no operation', response: problem, pointer: notFound };
  if (pathListed && status === 405)
    return {
      operationId: 'no operation',
      response: {
        ...problem,
        headers: { ...problem.headers, Allow: { required: true } },
        'x-problems': ['method-not-allowed'],
      },
      pointer: notFound,
    };
  // A CORS preflight request, or OPTIONS of a path.
  if (pathListed && method === 'OPTIONS' && status === 204)
    return { operationId: 'no operation', response: {}, pointer: '' };
  return pathListed ? 'the method is not documented for this path' : 'the path is not documented';
}

function patternOf(path: string): RegExp {
  const literal = path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function unescapeKey(key: string): string {
  return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
}
