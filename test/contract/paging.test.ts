import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readPublishedContract } from '../support/contract/contract.ts';
import {
  listOperations,
  type OperationObject,
  type ResponseObject,
  resolve,
} from '../support/contract/contract-paths.ts';

interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  default?: number;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
}
interface Parameter {
  name: string;
  in: string;
  schema: Schema;
}
type Content = Record<string, { schema: Schema }>;

const document = readPublishedContract();
const page = readFileSync(new URL('../../docs/interface.md', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('\n## Lists\n'), page.indexOf('\n## Errors\n'));
const rows = new Map(
  [...section.matchAll(/^\| `((?:GET|POST) [^`]+)` \| (.*) \| (.*) \| (.*) \| (.*) \|$/gm)].map(
    ([, call = '', by = '', size = '', order = '', next = '']) => [call, { by, size, order, next }],
  ),
);
const schemaOf = (schema: Schema | undefined) => (schema ? resolve<Schema>(document, schema).value : {});
const lists = listOperations(document).filter(({ operation }) => isList(operation));

/** What an operation takes in its query and its JSON body, by name. */
function inputsOf(operation: OperationObject): Record<string, Schema> {
  const { parameters = [] } = operation as { parameters?: unknown[] };
  const query = parameters
    .map((each) => resolve<Parameter>(document, each).value)
    .filter((each) => each.in === 'query')
    .map(({ name, schema }) => [name, schema] as const);
  const { content = {} } = operation.requestBody
    ? resolve<{ content: Content }>(document, operation.requestBody).value
    : {};
  const members = schemaOf(content['application/json']?.schema).properties ?? {};
  return { ...members, ...Object.fromEntries(query) };
}

function answerOf(operation: OperationObject) {
  const { headers = {}, content = {} } = resolve<ResponseObject>(
    document,
    operation.responses[200] ?? {},
  ).value;
  const schema = schemaOf(content['application/json']?.schema as Schema | undefined);
  return { hasLink: Object.hasOwn(headers, 'Link'), schema, members: schema.properties ?? {} };
}

/** A list is an array, an object with `values`, or anything in pages. */
function isList(operation: OperationObject): boolean {
  const { schema, members } = answerOf(operation);
  return schema.type === 'array' || 'values' in members || 'cursor' in inputsOf(operation);
}

/** `limit`: default, maximum. Bounds that the domain checks are in the description. */
function sizeOf(inputs: Record<string, Schema>): string {
  const sizes = ['limit', 'size'].flatMap((name) => {
    const schema = inputs[name];
    if (!schema) return [];
    const [, maximum, preset] = /1 to (\d+); (\d+) by default/.exec(schema.description ?? '') ?? [];
    return [`\`${name}\`: ${schema.default ?? preset}, ${schema.maximum ?? maximum}`];
  });
  return sizes.join('; ') || '–';
}

const quoted = (names: string[]) => names.map((name) => `\`${name}\``).join(', ') || '–';

test('docs/interface.md lists every list of the contract', () => {
  expect([...rows.keys()].toSorted()).toEqual(
    lists.map(({ method, path }) => `${method.toUpperCase()} ${path}`).toSorted(),
  );
});

test.each(lists)('$method $path has the pages that docs/interface.md says', ({ method, path, operation }) => {
  const row = rows.get(`${method.toUpperCase()} ${path}`);
  const inputs = inputsOf(operation);
  const { hasLink, members } = answerOf(operation);
  const ends = [...(hasLink ? ['Link'] : []), ...['next', 'totalPages'].filter((name) => name in members)];
  expect(row).toMatchObject({
    by: quoted(['cursor', 'page'].filter((name) => name in inputs)),
    size: sizeOf(inputs),
    next: quoted(ends),
  });
  const described = (operation.description ?? '').replaceAll(/\s+/g, ' ').toLowerCase();
  if (inputs.sort) expect(row?.order).toContain('`sort`');
  else expect(described).toContain(row?.order.toLowerCase());
});
