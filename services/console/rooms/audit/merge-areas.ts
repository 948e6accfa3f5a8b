import { type AuditArea, auditAreas } from '#lib/contracts/audit-areas.ts';
import type { ApiClient } from '../../api/api-client.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import type { ReadRows } from '../../pages/csv-export.ts';
import { largestPage } from '../../pages/read-pages.ts';

/** A line of the audit log, and the list that it is from. */
export type AuditLine = Schemas['AuditLine'] & { area: AuditArea };

/** What the lists are filtered by, as GET /audit/<area> takes it. */
export type AuditFilter = Partial<Record<'actor' | 'action' | 'target' | 'after' | 'before', string>>;

/** The lists of the areas. */
export const areaOperations = {
  auth: 'listAuthAudit',
  models: 'listModelsAudit',
  consents: 'listConsentsAudit',
  peers: 'listPeersAudit',
  webhooks: 'listWebhooksAudit',
} as const;

const pageSize = 50;

type ListedLine = Schemas['AuditList']['values'][number];
/** Lists have blanked lines only with `from`, which the console does not use. */
const hasBody = (line: ListedLine): line is Schemas['AuditLine'] => 'action' in line;

/** How far a list was read: a cursor of the API, and the lines after it that were shown. */
interface Position {
  cursor?: string;
  shown: number;
}

/** How far a list was read to its end. */
interface ReadList {
  area: AuditArea;
  lines: AuditLine[];
  cursor?: string;
  isOver: boolean;
}

/** Where a page of the merged list begins. */
interface Place {
  /** Time of the first page (RFC 3339): lines that are written later would move the others. */
  before: string;
  /** A list that was read to its end is absent. */
  lists: Partial<Record<AuditArea, Position>>;
}

/**
 * Reads a page of several lists of the audit log as one list, newest first.
 * @param place of the page, from the page before; absent for the first page.
 * @throws ApiFailure 404 for a place that was not made here.
 */
export async function readMerged(
  api: ApiClient,
  { of, filter, place }: { of: readonly AuditArea[]; filter: AuditFilter; place: string | undefined },
): Promise<{ rows: AuditLine[]; next?: string }> {
  const { before, lists } = place === undefined ? firstPlace(of) : readPlace(place);
  const query = { ...filter, before: earlier(filter.before, before) };
  const readArea = async (area: AuditArea, position: Position) => {
    const page = { cursor: position.cursor, limit: pageSize };
    const { rows: lines, next } = await api.list(areaOperations[area], { query, page });
    return { area, position, next, lines: lines.filter(hasBody).slice(position.shown) };
  };
  const pages = await Promise.all(
    auditAreas.flatMap((area) => {
      const position = lists[area];
      return position ? [readArea(area, position)] : [];
    }),
  );
  const rows = pages
    .flatMap(({ area, lines }) => lines.map((line) => ({ ...line, area })))
    .sort(newestFirst)
    .slice(0, pageSize);
  const left = pages.flatMap(({ area, position, next, lines }) => {
    const taken = rows.filter((row) => row.area === area).length;
    if (taken < lines.length) return [[area, { ...position, shown: position.shown + taken }] as const];
    return next === undefined ? [] : [[area, { cursor: next, shown: 0 }] as const];
  });
  if (left.length === 0) return { rows };
  return { rows, next: writePlace({ before, lists: Object.fromEntries(left) }) };
}

/**
 * Reads several lists as one to their end, each in its largest pages. A call that fails may be repeated.
 * @returns reads the next rows; its argument is ignored.
 */
export function mergedReader(
  api: ApiClient,
  { of, filter }: { of: readonly AuditArea[]; filter: AuditFilter },
): ReadRows<AuditLine> {
  const query = { ...filter, before: earlier(filter.before, firstPlace(of).before) };
  const lists = of.map((area): ReadList => ({ area, lines: [], isOver: false }));
  const readOn = async (list: ReadList) => {
    const page = { cursor: list.cursor, limit: largestPage };
    const { rows, next } = await api.list(areaOperations[list.area], { query, page });
    list.lines = rows.filter(hasBody).map((line) => ({ ...line, area: list.area }));
    list.cursor = next;
    list.isOver = next === undefined;
  };
  const isEmpty = ({ lines, isOver }: ReadList) => lines.length === 0 && !isOver;
  return async () => {
    while (lists.some(isEmpty)) await Promise.all(lists.filter(isEmpty).map(readOn));
    const rows: AuditLine[] = [];
    while (!lists.some(isEmpty)) {
      const [newest] = lists.flatMap(({ lines }) => lines[0] ?? []).sort(newestFirst);
      if (!newest) return { rows };
      rows.push(newest);
      lists.find(({ area }) => area === newest.area)?.lines.shift();
    }
    return { rows, next: 'more' };
  };
}

function earlier(time: string | undefined, limit: string): string {
  return time !== undefined && time < limit ? time : limit;
}

function firstPlace(of: readonly AuditArea[]): Place {
  // The clock of a service may be ahead of this process's.
  const before = new Date(Date.now() + 60_000).toISOString();
  return { before, lists: Object.fromEntries(of.map((area) => [area, { shown: 0 }])) };
}

/** The order of merged lines. */
function newestFirst(one: AuditLine, other: AuditLine): number {
  return one.at === other.at ? compare(other.id, one.id) : compare(other.at, one.at);
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

function writePlace(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function readPlace(text: string): Place {
  try {
    const { before, lists } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Place;
    const isKnown = Object.entries(lists).every(
      ([area, { cursor, shown }]) =>
        area in areaOperations &&
        Number.isSafeInteger(shown) &&
        shown >= 0 &&
        (cursor === undefined || typeof cursor === 'string'),
    );
    if (!isKnown || Number.isNaN(Date.parse(before))) throw new Error('not a place');
    return { before, lists };
  } catch {
    throw new ApiFailure(404, {});
  }
}
