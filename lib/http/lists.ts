import type { Context } from 'koa';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { isWritable, parseTimestamp } from '#lib/text/timestamp.ts';

/** The end of a page: keyset pagination on (created, id), newest first (docs/interface.md, "Lists"). */
export interface Position {
  /** A timestamp in PostgreSQL's full precision. */
  createdAt: string;
  id: string;
}

/** The parameters of lists. */
export interface PageQuery {
  limit?: string;
  cursor?: string;
}

/** What a query for one page of a list needs. */
export interface PageRequest {
  /** End of the previous page; undefined for the first page. */
  after: Position | undefined;
  limit: number;
}

const defaultLimit = 50;
const maxLimit = 200;

/** Writes a position as an opaque cursor. */
export function writeCursor({ createdAt, id }: Position): string {
  return Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');
}

/** Reads a cursor. @param idPattern what an id of the list looks like. @throws Failure `malformed`. */
export function readCursor(cursor: string | undefined, idPattern: RegExp): Position | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [createdAt, id]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (isTimestamp(createdAt) && typeof id === 'string' && idPattern.test(id)) return { createdAt, id };
  } catch {
    // Not a cursor: rejected below.
  }
  throw fail('malformed', 'The cursor is not valid; use the URL in the Link header of the previous page.');
}

/** Whether a text is an existing time as PostgreSQL writes it. */
export function isTimestamp(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/.test(text))
    return false;
  return parseTimestamp(text.replace(/\+00$/, 'Z')) !== undefined;
}

/** Reads `limit`: 1 to 200, 50 by default. @throws Failure `malformed`. */
export function readLimit(limit: string | undefined): number {
  if (limit === undefined) return defaultLimit;
  const wanted = Number(limit);
  if (/^\d{1,3}$/.test(limit) && wanted >= 1 && wanted <= maxLimit) return wanted;
  throw fail('malformed', `limit must be a number from 1 to ${maxLimit}.`);
}

/** A UUID, as ids of most lists are. */
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Reads one page of a list.
 * @param find reads rows after a position; its limit is one more than the page has, to see whether there is a
 * next page.
 * @param options.idPattern what an id of the list looks like.
 * @returns the page, and the cursor of the next one; undefined on the last page.
 * @throws Failure `malformed` for a bad cursor or limit.
 */
export async function readPage<Row extends { position: string }>(
  query: PageQuery,
  find: (page: PageRequest) => Promise<Row[]>,
  { idOf, idPattern = uuidPattern }: { idOf: (row: Row) => string; idPattern?: RegExp },
): Promise<{ page: Row[]; next: string | undefined; limit: number }> {
  const limit = readLimit(query.limit);
  const found = await find({ after: readCursor(query.cursor, idPattern), limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return { page, limit, next: last && writeCursor({ createdAt: last.position, id: idOf(last) }) };
}

/**
 * Sends one page of a list as a JSON array, with the URL of the next page in `Link` (docs/interface.md,
 * "Lists").
 * @param list.url of the list. @param list.parameters of the URL besides cursor and limit.
 * @throws Failure `malformed` for a bad cursor or limit.
 */
export async function sendList<Row extends { id: string; position: string }>(
  ctx: Context,
  query: PageQuery,
  list: {
    url: string;
    parameters?: Record<string, string>;
    find: (page: PageRequest) => Promise<Row[]>;
    present: (row: Row) => object;
    /** What an id of the list looks like; default: a UUID. */
    idPattern?: RegExp;
  },
): Promise<void> {
  const { idPattern } = list;
  const { page, next, limit } = await readPage(query, list.find, {
    idOf: ({ id }) => id,
    ...(idPattern && { idPattern }),
  });
  if (next) linkNext(ctx, list.url, { cursor: next, limit: String(limit), ...list.parameters });
  ctx.body = page.map(list.present);
}

/** Sets `Link` to the URL of the next page. */
export function linkNext(ctx: Context, url: string, parameters: Record<string, string>): void {
  ctx.set('Link', `<${url}?${new URLSearchParams(parameters)}>; rel="next"`);
}

/**
 * Reads a list parameter with an enumeration of values; empty ones count as absent. Adds a fault for an
 * unknown value, because an empty list would hide a typing error.
 */
export function readChoices<Choice extends string>(
  value: string | readonly string[] | undefined,
  name: string,
  choices: readonly Choice[],
  faults: Fault[],
): Choice[] | undefined {
  const given = [value ?? []].flat().filter((text) => text !== '');
  const wanted = given.flatMap((text) => choices.find((choice) => choice === text) ?? []);
  if (wanted.length < given.length)
    faults.push({ pointer: `/${name}`, code: 'invalid', detail: `allowed values: ${choices.join(', ')}` });
  return given.length > 0 ? wanted : undefined;
}

/**
 * Reads an RFC 3339 time or date, or epoch milliseconds as existing clients send them; an empty one counts as
 * absent. Adds a fault for anything else.
 */
export function readTime(
  given: string | number | undefined,
  name: string,
  faults: Fault[],
): Date | undefined {
  if (given === undefined || given === '') return undefined;
  const text = String(given);
  const time = /^\d{1,15}$/.test(text) ? new Date(Number(text)) : parseTimestamp(text);
  if (time && isWritable(time)) return time;
  faults.push({
    pointer: `/${name}`,
    code: 'invalid',
    detail: 'must be a time such as 2026-05-03T10:00:00Z',
  });
  return undefined;
}
