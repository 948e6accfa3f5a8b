import { readContract } from '../../support/contract/contract.ts';
import { resolve } from '../../support/contract/contract-paths.ts';
import { bodyFields, type FieldPath, withText } from '../hostile-texts/fields.ts';

/** A body that is costly in its number of parts. */
export interface WorstBody {
  name: string;
  type: string;
  /** @param share of the largest body that is allowed, from 0 to 1. */
  of(share: number): Buffer;
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** As many values as any body may have (docs/interface.md, "Limits"). */
const mostValues = 19_000;
const mostFields = 10_000;
const json = 'application/json';
const form = 'application/x-www-form-urlencoded';

const document = readContract();

/** A list, or an object with members of any name, and where in its items a text stands. */
interface LongPlace {
  at: FieldPath;
  isList: boolean;
  rest: FieldPath;
}

function longPlaces(requestBody: unknown): LongPlace[] {
  const places = bodyFields(requestBody).flatMap((field) =>
    field.flatMap((name, index): LongPlace[] => {
      if (name === '0') return [{ at: field.slice(0, index), isList: true, rest: field.slice(index + 1) }];
      return name === '*' ? [{ at: field.slice(0, index), isList: false, rest: [] }] : [];
    }),
  );
  return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
}

function valueAt(value: unknown, [name, ...rest]: FieldPath): unknown {
  if (name === undefined) return value;
  return valueAt((value as Record<string, unknown> | null | undefined)?.[name], rest);
}

function put(value: unknown, [name, ...rest]: FieldPath, member: unknown): unknown {
  if (name === undefined) return member;
  const isList = /^\d+$/.test(name);
  const copy = structuredClone(value ?? (isList ? [] : {})) as Record<string, unknown>;
  copy[name] = put(copy[name], rest, member);
  return copy;
}

const countValues = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, member) => sum + countValues(member), 1)
    : 1;

/** The example with one list or object as long as the body may be. */
function lengthen(example: unknown, { at, isList, rest }: LongPlace, isSame: boolean, bytes: number): Buffer {
  const found = valueAt(example, at);
  const first = typeof found === 'object' && found !== null ? Object.values(found)[0] : undefined;
  const item = rest.length > 0 || first === undefined ? withText(first, rest, 'text') : first;
  const each = Buffer.byteLength(JSON.stringify(item)) + 9;
  const count = Math.floor(Math.min(bytes / each, mostValues / countValues(item)));
  const textOf = (index: number) => (isSame ? 'processing.001' : `e.${index}`);
  const items = Array.from({ length: count }, (_, index) =>
    rest.length > 0 || typeof item === 'string' ? withText(item, rest, textOf(index)) : item,
  );
  const long = isList ? items : Object.fromEntries(items.map((member, index) => [`k${index}`, member]));
  const text = JSON.stringify(put(example, at, long));
  return Buffer.from(
    text.length > bytes ? JSON.stringify(put(example, at, isList ? items.slice(0, count >> 1) : {})) : text,
  );
}

const repeated = (part: string, bytes: number, most = Number.POSITIVE_INFINITY) =>
  Buffer.from(part.repeat(Math.max(1, Math.floor(Math.min(bytes / part.length, most)))));

const numbered = (of: (index: number) => string, bytes: number, most: number) => {
  const parts: string[] = [];
  for (let size = 0; size < bytes - 40 && parts.length < most; size += parts.at(-1)?.length ?? 0)
    parts.push(of(parts.length));
  return Buffer.from(parts.join(''));
};

/** Bodies that have too many parts, or as many as are allowed, of no particular operation. */
export const plainBodies = (bytes: number): WorstBody[] => [
  { name: 'empty fields', type: form, of: (share) => repeated('a&', bytes * share) },
  {
    name: 'as many equal fields as allowed',
    type: form,
    of: (share) => repeated('a=1&', bytes * share, (mostFields - 1) * share),
  },
  {
    name: 'as many different fields as allowed',
    type: form,
    of: (share) => numbered((index) => `a${index}=&`, bytes * share, (mostFields - 1) * share),
  },
  {
    name: 'as many answers as allowed',
    type: form,
    of: (share) =>
      numbered(
        (index) => `element/processing/processing.${index}/1.0=accepted&`,
        bytes * share,
        (mostFields - 1) * share,
      ),
  },
  { name: 'brackets', type: json, of: (share) => repeated('[', bytes * share) },
  { name: 'nested members', type: json, of: (share) => repeated('{"a":', bytes * share) },
  {
    name: 'as many lists as allowed',
    type: json,
    of: (share) => Buffer.from(`[${'[],'.repeat((mostValues * share) / 2)}[]]`),
  },
  {
    name: 'as many members as allowed',
    type: json,
    of: (share) =>
      Buffer.from(`{${numbered((index) => `"k${index}":0,`, bytes * share, mostValues * share)}"z":0}`),
  },
  { name: 'quotes', type: json, of: (share) => Buffer.from(`["${'\\"'.repeat((bytes * share - 4) / 2)}"]`) },
  {
    name: 'headers of parts',
    type: 'multipart/form-data; boundary=a',
    of: (share) =>
      Buffer.concat([
        Buffer.from('--a\r\n'),
        repeated('x:\r\n', bytes * share),
        Buffer.from('\r\n--a--\r\n'),
      ]),
  },
  {
    name: 'parts',
    type: 'multipart/form-data; boundary=a',
    of: (share) => repeated('--a\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n', bytes * share),
  },
];

const row = (comment: string) =>
  `{"subject":"a","element":"processing.001","serial":"1.0","answer":["accepted"],"given":"2020-01-01T00:00:00Z","source":"x","sourceId":"1","comment":"${comment}"}\n`;

/** Bodies of rows (docs/moving.md). */
const rowBodies = (bytes: number): WorstBody[] => [
  { name: 'rows', type: 'application/x-ndjson', of: (share) => repeated(row(''), bytes * share) },
  {
    name: 'as many rows as allowed',
    type: 'application/x-ndjson',
    of: (share) => repeated(row('x'.repeat(1_400)), bytes * share),
  },
  { name: 'empty lines', type: 'application/x-ndjson', of: (share) => repeated('\n', bytes * share) },
  { name: 'commas', type: 'text/csv', of: (share) => repeated(',', bytes * share) },
  { name: 'quotes', type: 'text/csv', of: (share) => repeated('"', bytes * share) },
];

interface Operation {
  requestBody?: unknown;
  'x-body-limit'?: number;
}

/** The worst bodies of an operation. @param example a valid body. */
export function worstBodies(operation: Operation, example: unknown): WorstBody[] {
  if (!operation.requestBody) return [];
  const { content } = resolve<{ content: Record<string, unknown> }>(document, operation.requestBody).value;
  const bytes = (operation['x-body-limit'] ?? 64 * 1024) - 100;
  const ofType = [...plainBodies(bytes), ...rowBodies(bytes)].filter(({ type }) => type in content);
  if (!(json in content)) return ofType;
  const long = longPlaces(operation.requestBody).flatMap((place, turn) =>
    (process.env.HOSTILE_TEXTS === 'all' ? [true, false] : [turn % 2 === 0]).map((isSame) => ({
      name: `${isSame ? 'equal' : 'different'} items of /${place.at.join('/')} (${place.rest.join('/')})`,
      type: json,
      of: (share: number) => lengthen(example as Json, place, isSame, bytes * share),
    })),
  );
  return [...ofType, ...long];
}
