import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import addFormats from 'ajv-formats';
import { type Document, OpenAPIBackend, ValidationContext } from 'openapi-backend';
import { keepText } from '#lib/cache/keep-text.ts';
import { fail } from '#lib/errors/fail.ts';
import { acceptedContract } from '#lib/http/accepted-contract.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import { boundedPointer, escapePointer } from '#lib/json/pointer.ts';
import { rememberByUrls } from '#lib/memo/remember.ts';

const require = createRequire(import.meta.url);

/**
 * Reads openapi.yaml. A copy in JSON is kept on disk, because parsing the YAML takes a good part of a start.
 */
export const readContract = rememberByUrls((file: URL): Document => {
  const text = readFileSync(file, 'utf8');
  const json = keepText({
    name: 'contract',
    sources: [text],
    make: () => JSON.stringify((require('yaml') as typeof import('yaml')).parse(text)),
  });
  return JSON.parse(json) as Document;
});

type PathItem = Record<string, { tags?: string[]; 'x-served-by'?: string } | undefined>;
const methods = new Set(['get', 'put', 'post', 'delete', 'patch']);

/** The part of the contract that one service serves: the operations with its tag. */
function pruneDocument(document: Document, tag: string): Document {
  const paths: Record<string, PathItem> = {};
  for (const [path, item] of Object.entries(document.paths as Record<string, PathItem>)) {
    const kept = Object.entries(item).filter(
      ([method, operation]) =>
        !methods.has(method) || (operation?.tags?.includes(tag) && !operation['x-served-by']),
    );
    if (kept.some(([method]) => methods.has(method))) paths[path] = Object.fromEntries(kept);
  }
  return { ...document, paths } as Document;
}

interface RequestParts {
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  body: unknown;
}

/**
 * Checks a request against the contract.
 * @throws Failure `malformed` with a JSON pointer to the first fault; `not-found` for an invalid path
 * parameter.
 */
export type ValidateRequest = (operation: ContractOperation, request: RequestParts) => void;

/**
 * Bounds in the bodies of clients' requests, which the domain checks after normalisation and answers with 422
 * instead of 400.
 */
const domainBounds = ['minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'maxProperties'];

type RequestValidator = { operations: ContractOperation[]; validate: ValidateRequest };

const validatorsOf = new WeakMap<Document, Map<string, Promise<RequestValidator>>>();

/**
 * The operations of the contract that one service serves, and their validator. Made once for a contract:
 * tests start hundreds of instances in one process.
 */
export function requestValidatorOf(document: Document, tag: string): Promise<RequestValidator> {
  const byTag = validatorsOf.get(document) ?? new Map<string, Promise<RequestValidator>>();
  validatorsOf.set(document, byTag);
  const found = byTag.get(tag) ?? createRequestValidator(pruneDocument(document, tag));
  byTag.set(tag, found);
  return found;
}

/**
 * The document as requests are checked against it: members with `x-or-empty` may be an empty string too. Not
 * in the document itself, because generated clients would have a type of its own for every such member.
 */
export function allowEmpty<Checked extends { components?: { schemas?: unknown } }>(
  document: Checked,
): Checked {
  const { components } = document;
  return { ...document, components: { ...components, schemas: orEmpty(components?.schemas) } };
}

function orEmpty(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(orEmpty);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, orEmpty(value)]));
  return copy['x-or-empty'] === true ? { anyOf: [copy, { enum: [''] }] } : copy;
}

/** Makes the validators of all operations in the document. */
export async function createRequestValidator(document: Document): Promise<RequestValidator> {
  const checked = allowEmpty(acceptedContract(document));
  const [clients, peers] = await Promise.all([createBackend(checked, domainBounds), createBackend(checked)]);
  // biome-ignore lint/plugin: openapi-backend's type has no x- members.
  const operations = clients.getOperations() as unknown as ContractOperation[];
  const validate: ValidateRequest = (operation, { params, query, body }) => {
    const { operationId, requestBody } = operation;
    const { validator } = operation['x-priority'] === 'peer' ? peers : clients;
    const isFile = Buffer.isBuffer(body);
    const hasBody = body !== undefined && !isFile && !requestBody?.['x-ignored'];
    if (!hasBody && requestBody?.required && !isFile) throw fail('malformed', 'A body is required.');
    // Not openapi-backend's validateRequest, which serialises and parses the parts again. Copies, because
    // openapi-backend's validators of parameters convert values in place, whatever `ajvOpts` says.
    const parts = {
      path: { ...params },
      query: { ...query },
      header: {},
      // Handlers read files and forms with files themselves.
      ...(isFile ? { requestBody: {} } : hasBody ? { requestBody: body } : {}),
    };
    const errors = (validator.getRequestValidatorsForOperation(operationId) ?? []).flatMap((check) =>
      check(parts) ? [] : (check.errors ?? []),
    );
    if (errors.length > 0) throw invalidRequest(errors);
  };
  return { operations, validate };
}

/**
 * Compiles each validator on first use, because compiling all takes seconds. Tests check the document itself.
 */
async function createBackend(
  definition: Document,
  ignoredInBodies: readonly string[] = [],
): Promise<OpenAPIBackend> {
  const backend = new OpenAPIBackend({
    definition,
    strict: true,
    quick: true,
    validate: true,
    // Each operation has an ajv of its own; with the meta-schema its first request would take 30 ms longer.
    ajvOpts: { strict: false, allErrors: false, coerceTypes: false, validateSchema: false },
    customizeAjv: (ajv, _options, context) => {
      addFormats.default(ajv);
      if (context === ValidationContext.RequestBody)
        for (const keyword of ignoredInBodies) ajv.removeKeyword(keyword);
      return ajv;
    },
  });
  await backend.init();
  return backend;
}

function invalidRequest(
  errors: { instancePath: string; message?: string; params?: Record<string, unknown> }[],
) {
  if (errors.some((error) => error.instancePath.startsWith('/path')))
    return fail('not-found', 'Resource not found.');
  const faults = errors.map(({ instancePath, message, params }) => {
    const missing = typeof params?.missingProperty === 'string' ? `/${params.missingProperty}` : '';
    const unknown = params?.additionalProperty;
    const member = typeof unknown === 'string' ? `/${escapePointer(unknown)}` : missing;
    return {
      pointer: boundedPointer(instancePath.replace(/^\/(requestBody|query)/, '') + member),
      code: 'malformed',
      detail: missing ? 'is required' : member ? 'is not known' : (message ?? 'is not valid'),
    };
  });
  const first = faults[0];
  const where = first?.pointer ? `${first.pointer} ` : 'The request ';
  return fail('malformed', `${where}${first?.detail ?? 'is not valid'}.`, { errors: faults });
}
