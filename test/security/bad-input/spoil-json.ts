import { type ContractDocument, resolve } from '../../support/contract/contract-paths.ts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: Json[];
  allOf?: Schema[];
  oneOf?: Schema[];
}

/** In the place of a value: of other types, without a value, and too long. */
const odd: Json[] = [null, 7, '', 'x', 'é'.repeat(5_000), [], [null], { x: { y: [1] } }];

/**
 * The texts of bodies with a fault, for every member of a valid one: of a wrong type, missing, empty, too
 * long, repeated; and with members that it could have, and that are unknown.
 */
export function spoil(document: ContractDocument, body: Json, schema: Schema): string[] {
  return placesIn(body).flatMap((place) => {
    const found = at(body, place);
    const members = membersOf(document, schema, place);
    const spoiled = [
      ...odd.map((each) => put(body, place, each)),
      ...(Array.isArray(found) ? lengthened(found).map((list) => put(body, place, list)) : []),
      ...(isObject(found) ? changed(found, members).map((object) => put(body, place, object)) : []),
    ].map((each) => JSON.stringify(each));
    return [...spoiled, ...(isObject(found) ? repeated(body, place, found) : [])];
  });
}

type Place = readonly string[];
type Members = Record<string, Schema & { enum?: Json[] }>;
type JsonObject = { [name: string]: Json };

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of lists the first two items. */
function placesIn(value: Json): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  const members = Object.entries(value).slice(0, Array.isArray(value) ? 2 : 20);
  return [[], ...members.flatMap(([name, member]) => placesIn(member).map((rest) => [name, ...rest]))];
}

function at(value: Json, [name, ...rest]: Place): Json {
  return name === undefined ? value : at((value as JsonObject)[name] as Json, rest);
}

function put(value: Json, [name, ...rest]: Place, part: Json): Json {
  if (name === undefined) return part;
  const copy = Array.isArray(value) ? [...value] : { ...(value as JsonObject) };
  (copy as JsonObject)[name] = put((value as JsonObject)[name] as Json, rest, part);
  return copy;
}

function lengthened(list: Json[]): Json[] {
  const [first = 'x'] = list;
  return [[first, ...list], [...list, 'x'], Array.from({ length: 201 }, () => first)];
}

function changed(object: JsonObject, members: Members): Json[] {
  const without = Object.keys(object).map((name) => {
    const { [name]: _, ...rest } = object;
    return rest;
  });
  const unknown = ['unknown', 'a~/b', '__proto__', '', 'n'.repeat(600), 'with \u0000', '\ud800'];
  const added = Object.entries(members)
    .filter(([name]) => !Object.hasOwn(object, name))
    .flatMap(([name, schema]) =>
      [...odd.slice(2), {}, ...(schema.enum ?? [])].map((value) => ({ ...object, [name]: value })),
    );
  return [
    ...without,
    ...unknown.map((name) => ({ ...object, ...JSON.parse(`{${JSON.stringify(name)}:["x"]}`) })),
    ...added,
  ];
}

/** The text with the first member of an object given twice. */
function repeated(body: Json, place: Place, object: JsonObject): string[] {
  const [first] = Object.entries(object);
  if (!first) return [];
  const member = `${JSON.stringify(first[0])}:${JSON.stringify(first[1])}`;
  const twice = `{${member},${JSON.stringify(object).slice(1)}`;
  return [JSON.stringify(put(body, place, '☃')).replace('"☃"', () => twice)];
}

/** The members that the contract has in a place. */
function membersOf(document: ContractDocument, given: Schema, [name, ...rest]: Place): Members {
  const schema = resolve<Schema>(document, given).value;
  const parts = [...(schema.allOf ?? []), ...(schema.oneOf ?? [])];
  const below = name === undefined ? undefined : (schema.properties?.[name] ?? schema.items);
  const own = name === undefined ? schema.properties : below && membersOf(document, below, rest);
  const all = Object.assign(
    {},
    own,
    ...parts.map((part) => membersOf(document, part, name === undefined ? [] : [name, ...rest])),
  );
  return Object.fromEntries(
    Object.entries(all as Members).map(([key, each]) => [key, resolve<Schema>(document, each).value]),
  );
}
