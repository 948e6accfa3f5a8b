import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { keepText } from '#lib/cache/keep-text.ts';
import { fail } from '#lib/errors/fail.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import { escapePointer } from '#lib/json/check-json.ts';

const require = createRequire(import.meta.url);

/** openapi.yaml, as far as the product reads it. */
export interface ContractDocument {
  info: { version: string };
  paths: Record<string, PathItem>;
  components: Record<string, Record<string, unknown>>;
  [member: string]: unknown;
}

type Operation = Omit<ContractOperation, 'path' | 'method'> & { tags?: string[]; 'x-served-by'?: string };
type PathItem = { parameters?: unknown[] } & Partial<Record<Method, Operation>>;
type Method = (typeof methods)[number];
const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;

/**
 * Reads openapi.yaml. Keeps a copy in JSON on disk, because parsing the YAML takes a good part of a start.
 */
export function readContract(file: URL): ContractDocument {
  const text = readFileSync(file, 'utf8');
  const json = keepText({
    name: 'contract',
    sources: [text],
    make: () => JSON.stringify((require('yaml') as typeof import('yaml')).parse(text)),
  });
  return JSON.parse(json) as ContractDocument;
}

/** An operation with its references resolved, and the JSON pointers of its schemas in the document. */
interface LocatedOperation extends ContractOperation {
  bodySchema: string | undefined;
  parameterSchemas: Record<'path' | 'query', Record<string, string>>;
  requiredQuery: string[];
}

/** The operations that a service serves: those with its tag, or all without one. */
function readOperations(document: ContractDocument, tag?: string): LocatedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      const isServed = operation && !operation['x-served-by'] && (!tag || operation.tags?.includes(tag));
      return isServed ? [locate(document, { path, item, method, operation })] : [];
    }),
  );
}

function locate(
  document: ContractDocument,
  { path, item, method, operation }: { path: string; item: PathItem; method: Method; operation: Operation },
): LocatedOperation {
  const base = `/paths/${escapePointer(path)}`;
  const find = <Value>(value: unknown, pointer: string) => follow<Value>(document, value, pointer);
  const parameters = [
    ...(item.parameters ?? []).map((each, index) => [each, `${base}/parameters/${index}`] as const),
    ...(operation.parameters ?? []).map(
      (each, index) => [each, `${base}/${method}/parameters/${index}`] as const,
    ),
  ].map(([each, pointer]) => find<NonNullable<Operation['parameters']>[number]>(each, pointer));
  const schemasOf = (place: string) =>
    Object.fromEntries(
      parameters
        .filter(({ value }) => value.in === place)
        .map(({ value, pointer }) => [value.name, `${pointer}/schema`]),
    );
  const body =
    operation.requestBody &&
    find<NonNullable<Operation['requestBody']>>(operation.requestBody, `${base}/${method}/requestBody`);
  const mediaType = ['application/json', 'application/x-www-form-urlencoded'].find(
    (type) => body?.value.content[type],
  );
  return {
    ...operation,
    path,
    method,
    parameters: parameters.map(({ value }) => value),
    requestBody: body?.value,
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([status, response]) => [
        status,
        find<ContractOperation['responses'][string]>(response, '').value,
      ]),
    ),
    bodySchema: mediaType && `${body?.pointer}/content/${escapePointer(mediaType)}/schema`,
    parameterSchemas: { path: schemasOf('path'), query: schemasOf('query') },
    requiredQuery: parameters
      .filter(({ value }) => value.in === 'query' && value.required)
      .map(({ value }) => value.name),
  };
}

/** Follows a reference within the document. */
function follow<Value>(
  document: ContractDocument,
  value: unknown,
  pointer: string,
): { value: Value; pointer: string } {
  const reference = (value as { $ref?: string }).$ref;
  if (!reference) return { value: value as Value, pointer };
  const target = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
  return follow(document, target, reference.slice(1));
}

interface RequestParts {
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  body: unknown;
}

/**
 * Checks a request against the contract.
 * @throws Failure `malformed` with a JSON pointer for each fault; `not-found` for an invalid path parameter.
 */
export type ValidateRequest = (operation: ContractOperation, request: RequestParts) => void;

/** Bounds that the domain checks after normalisation, and answers with 422 instead of 400. */
const domainBounds = ['minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'maxProperties'];

/**
 * Makes the validators of the operations with a tag, or of all. Each is compiled on first use, to start
 * faster.
 */
export function createRequestValidator(
  document: ContractDocument,
  tag?: string,
): { operations: ContractOperation[]; validate: ValidateRequest } {
  const operations = readOperations(document, tag);
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  const bodies = createAjv(document, {}, domainBounds);
  const peerBodies = createAjv(document);
  const parameters = createAjv(document, { coerceTypes: true });
  const compiled = new Map<string, { body?: ValidateFunction; parameters: ValidateFunction }>();

  function compile(operationId: string) {
    const operation = byId.get(operationId) as LocatedOperation;
    const ajv = operation['x-priority'] === 'peer' ? peerBodies : bodies;
    const made = {
      body: operation.bodySchema ? ajv.compile(schemaAt(operation.bodySchema)) : undefined,
      parameters: parameters.compile(parametersSchema(operation)),
    };
    compiled.set(operationId, made);
    return made;
  }

  const validate: ValidateRequest = ({ operationId, requestBody }, { params, query, body }) => {
    const check = compiled.get(operationId) ?? compile(operationId);
    const isRaw = Buffer.isBuffer(body);
    if (body === undefined && requestBody?.required) throw fail('malformed', 'A body is required.');
    const errors: Located[] = [];
    if (body !== undefined && !isRaw && check.body?.(body) === false)
      errors.push(...(check.body.errors ?? []));
    // Copies, because ajv replaces what it coerces.
    if (!check.parameters({ path: { ...params }, query: { ...query } })) {
      const faults = check.parameters.errors ?? [];
      if (faults.some(({ instancePath }) => instancePath.startsWith('/path')))
        throw fail('not-found', 'Resource not found.');
      errors.push(
        ...faults.map((each) => ({ ...each, instancePath: each.instancePath.replace(/^\/query/, '') })),
      );
    }
    if (errors.length > 0) throw invalidRequest(errors);
  };
  return { operations, validate };
}

function createAjv(document: ContractDocument, options: Options = {}, ignored: readonly string[] = []): Ajv {
  const ajv = new Ajv({ strict: false, validateSchema: false, ...options });
  (addFormats as unknown as (target: Ajv) => void)(ajv);
  for (const keyword of ignored) ajv.removeKeyword(keyword);
  return ajv.addSchema(document, 'contract');
}

function schemaAt(pointer: string) {
  return { $ref: `contract#${encodeURI(pointer)}` };
}

function parametersSchema({ parameterSchemas: { path, query }, requiredQuery }: LocatedOperation) {
  const members = (schemas: Record<string, string>) =>
    Object.fromEntries(Object.entries(schemas).map(([name, pointer]) => [name, schemaAt(pointer)]));
  return {
    type: 'object',
    properties: {
      path: { type: 'object', properties: members(path) },
      query: { type: 'object', properties: members(query), required: requiredQuery },
    },
  };
}

type Located = Pick<ErrorObject, 'instancePath' | 'message' | 'params'>;

function invalidRequest(errors: readonly Located[]) {
  const faults = errors.map(({ instancePath, message, params }) => {
    const missing = typeof params?.missingProperty === 'string' ? `/${params.missingProperty}` : '';
    return {
      pointer: instancePath + missing,
      code: 'malformed',
      detail: missing ? 'is required' : (message ?? 'is not valid'),
    };
  });
  const first = faults[0];
  const where = first?.pointer ? `${first.pointer} ` : 'The request ';
  return fail('malformed', `${where}${first?.detail ?? 'is not valid'}.`, { errors: faults });
}
