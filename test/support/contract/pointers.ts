import { type ContractDocument, type OperationObject, resolve } from './contract-paths.ts';

/** A request as a client sent it. */
export interface SentRequest {
  /** Media type of the body, without parameters. */
  type: string;
  /** The body, if it is text. */
  body: string | undefined;
}

interface Fault {
  pointer: string;
  code: string;
  detail: string;
}

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
}

/**
 * Checks the faults of a response: each pointer (RFC 6901) must lead to something that was sent, or to a
 * member that is missing where the contract has one. The place of a missing member must itself have been
 * sent.
 * @returns what is wrong with the first pointer that leads nowhere.
 */
export function findLostPointer(
  document: ContractDocument,
  operation: OperationObject | undefined,
  sent: SentRequest,
  answer: unknown,
): string | undefined {
  const body = readSent(sent);
  if (body === unreadable) return undefined;
  for (const { pointer, code, detail } of faultsOf(answer)) {
    if (isOfStored(operation, body, pointer)) continue;
    const lost = resolvePointer(document, operation, body, pointer);
    if (lost) return `the pointer "${pointer}" (${code}: ${detail}) ${lost}`;
  }
  return undefined;
}

/** Operations that check a stored version; pointers lead into it, as if it were sent with its update. */
const aboutStored = ['setVersionStatus', 'previewVersion'];

function isOfStored(operation: OperationObject | undefined, body: unknown, pointer: string): boolean {
  const isSent = Object.hasOwn((body ?? {}) as object, 'data');
  return aboutStored.includes(operation?.operationId ?? '') && pointer.startsWith('/data/') && !isSent;
}

const unreadable = Symbol();

function readSent({ type, body }: SentRequest): unknown {
  if (body === undefined || body === '') return undefined;
  if (type === 'application/x-www-form-urlencoded') {
    const fields = new URLSearchParams(body);
    return Object.fromEntries([...fields.keys()].map((name) => [name, fields.getAll(name)]));
  }
  if (type !== 'application/json') return unreadable;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function faultsOf(answer: unknown): Fault[] {
  const { errors, warnings } = (answer ?? {}) as { errors?: unknown; warnings?: unknown };
  return [errors, warnings]
    .flatMap((list) => (Array.isArray(list) ? (list as Partial<Fault>[]) : []))
    .filter((each): each is Fault => typeof each?.pointer === 'string' && !('row' in each));
}

function resolvePointer(
  document: ContractDocument,
  operation: OperationObject | undefined,
  body: unknown,
  pointer: string,
): string | undefined {
  const names = pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (names.length === 1 && queryOf(document, operation).includes(names[0] as string)) return undefined;
  let schemas = bodiesOf(document, operation);
  // A member may be missing in a body that is missing.
  let value = body ?? {};
  for (const [place, name] of names.entries()) {
    if (typeof value !== 'object' || value === null) return 'goes on in what is no object and no list';
    schemas = schemas.flatMap((schema) => within(document, schema, name));
    if (!Object.hasOwn(value, name)) {
      if (place < names.length - 1) return `leads to nothing: "${name}" was not sent`;
      if (Array.isArray(value)) return 'leads to an item that the list does not have';
      return schemas.length > 0 ? undefined : 'names what was not sent, and is no member of the contract';
    }
    value = (value as Record<string, unknown>)[name] as object;
  }
  return undefined;
}

function queryOf(document: ContractDocument, operation: OperationObject | undefined): string[] {
  const { parameters = [] } = (operation ?? {}) as { parameters?: unknown[] };
  return parameters.map((each) => resolve<{ name: string }>(document, each).value.name);
}

function bodiesOf(document: ContractDocument, operation: OperationObject | undefined): Schema[] {
  if (!operation?.requestBody) return [];
  const { content } = resolve<{ content: Record<string, { schema: Schema }> }>(
    document,
    operation.requestBody,
  ).value;
  return Object.values(content).map(({ schema }) => schema);
}

/** The schemas that a value has below a name. */
function within(document: ContractDocument, given: Schema, name: string): Schema[] {
  const schema = resolve<Schema>(document, given).value;
  const parts = [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  const isOpen = parts.length === 0 && !schema.properties && !schema.items;
  const own = schema.properties?.[name] ?? schema.items ?? schema.additionalProperties ?? isOpen;
  return [
    ...(typeof own === 'object' ? [own] : []),
    ...(own === true ? [{ additionalProperties: true }] : []),
    ...parts.flatMap((part) => within(document, part, name)),
  ];
}
