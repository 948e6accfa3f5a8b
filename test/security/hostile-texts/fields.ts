import { readContract } from '../../support/contract/contract.ts';
import { resolve } from '../../support/contract/contract-paths.ts';

/**
 * Where a text stands in a document: names of members, positions in lists. `*` is a member that has the text
 * for its name.
 */
export type FieldPath = readonly string[];

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, unknown>;
  additionalProperties?: unknown;
  items?: unknown;
  allOf?: unknown[];
  anyOf?: unknown[];
  oneOf?: unknown[];
}

const document = readContract();
const maxDepth = 6;

/** Every text that a schema of the contract has a place for. */
function textFields(given: unknown, depth = 0): FieldPath[] {
  const schema = resolve<Schema>(document, given).value;
  if (depth > maxDepth) return [];
  const inside = (name: string, part: unknown) => textFields(part, depth + 1).map((rest) => [name, ...rest]);
  const { additionalProperties: more } = schema;
  return unique([
    ...[schema.allOf, schema.anyOf, schema.oneOf].flatMap((parts) =>
      (parts ?? []).flatMap((part) => textFields(part, depth + 1)),
    ),
    ...([schema.type].flat().includes('string') || schema.enum ? [[]] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) => inside(name, part)),
    ...(schema.items ? inside('0', schema.items) : []),
    ...(more ? [['*'], ...(more === true ? [['en']] : inside('en', more))] : []),
  ]);
}

/** Every text in an example. */
function textsIn(value: unknown): FieldPath[] {
  if (typeof value === 'string') return [[]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => textsIn(member).map((rest) => [name, ...rest]));
}

/** Fields of an operation's JSON body, by its schema and its examples. */
export function bodyFields(requestBody: unknown): FieldPath[] {
  if (!requestBody) return [];
  type Body = { content: Record<string, { schema: unknown; examples?: Record<string, unknown> }> };
  const json = resolve<Body>(document, requestBody).value.content['application/json'];
  if (!json) return [];
  const examples = Object.values(json.examples ?? {}).map(
    (example) => resolve<{ value: unknown }>(document, example).value.value,
  );
  return unique([...textFields(json.schema), ...examples.flatMap(textsIn)]);
}

/** The fields of a model's content. @param type as in `InformationContent`. */
export function contentFields(type: string): FieldPath[] {
  const name = `${type.charAt(0).toUpperCase()}${type.slice(1)}Content`;
  return textFields({ $ref: `#/components/schemas/${name}` });
}

/** A copy of a document with a text in one of its fields; what leads there is made. */
export function withText(value: unknown, [name, ...rest]: FieldPath, text: string): unknown {
  if (name === undefined) return text;
  const isList = /^\d+$/.test(name);
  const copy: Record<string, unknown> =
    typeof value === 'object' && value !== null
      ? structuredClone(value as never)
      : ((isList ? [] : {}) as never);
  const member = name === '*' ? text : name;
  copy[member] = name === '*' ? 'a' : withText(copy[member], rest, text);
  return copy;
}

function unique(paths: FieldPath[]): FieldPath[] {
  return [...new Map(paths.map((path) => [path.join('\n'), path])).values()];
}
