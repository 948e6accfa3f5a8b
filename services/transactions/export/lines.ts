import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { ExportPart } from '#lib/evidence/signed-page.ts';
import { isTimestamp, type Position } from '#lib/http/lists.ts';
import { presentContext, presentNotice, presentPart } from '../present/transaction.ts';
import { readNotices } from '../sent-parts/notices-store.ts';
import { readParts } from '../sent-parts/store.ts';
import { stateAt } from '../transaction/transaction.ts';
import {
  type ExportRecord,
  type ExportRow,
  type ExportSource,
  type FoundTransaction,
  findLogged,
  findUnlogged,
  maxScanned,
  readExportRows,
} from './lines-store.ts';

type Line = components['schemas']['RecordsExportLine'];

/**
 * Where a page of the export begins: among the transactions whose receipts have a line of the audit log, in
 * the order of these lines, or among the others, oldest first.
 */
export type ExportPlace =
  | {
      /** Number of the next line. */
      from: number;
      /** Number of lines that are looked at. */
      until: number;
      /** Whether the others follow. */
      isAll: boolean;
    }
  | {
      /** The last transaction of the page before. */
      after: Position | undefined;
    };

/** Receipts in memory at a time. */
const maxBytes = 4 * 1024 * 1024;
const idPattern = /^[1-9A-HJ-NP-Za-km-z]{22}$/;

/** Writes a place as an opaque cursor. */
export function writePlace(place: ExportPlace): string {
  const parts =
    'from' in place
      ? [place.from, place.until, place.isAll]
      : place.after
        ? [place.after.createdAt, place.after.id]
        : [];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** @throws Failure `malformed`. */
export function readPlace(cursor: string): ExportPlace {
  const place = parsePlace(cursor);
  if (place) return place;
  throw fail('malformed', 'The cursor is not valid; use that of the previous page.');
}

function parsePlace(cursor: string): ExportPlace | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(parts) || parts.length > 3) return undefined;
    const [first, second, third]: unknown[] = parts;
    if (isPosition(first) && isPosition(second) && typeof third === 'boolean')
      return { from: first, until: second, isAll: third };
    if (isTimestamp(first) && typeof second === 'string' && idPattern.test(second) && third === undefined)
      return { after: { createdAt: first, id: second } };
    return parts.length === 0 ? { after: undefined } : undefined;
  } catch {
    return undefined;
  }
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The transactions of a page, and where the next one begins; undefined after the last one. */
interface Page {
  ids: string[];
  next: ExportPlace | undefined;
}

export function partOf(place: ExportPlace): ExportPart {
  return 'from' in place ? 'receipts' : 'others';
}

/** Finds the transactions of a page. It may have none although others follow. */
export function findPage(db: Queries, place: ExportPlace, limit: number): Promise<Page> {
  return 'from' in place ? findLoggedPage(db, place, limit) : findOthersPage(db, place, limit);
}

async function findLoggedPage(
  db: Queries,
  { from, until, isAll }: Extract<ExportPlace, { from: number }>,
  limit: number,
): Promise<Page> {
  const end = Math.min(until, from + maxScanned);
  const found = await findLogged(db, { from, until: end, limit });
  const page = fitting(found);
  const last = isCut(page, found, limit) ? page.at(-1) : undefined;
  const rest = { from: last ? last.seq + 1 : end, until, isAll };
  const others = isAll ? { after: undefined } : undefined;
  return { ids: page.map(({ id }) => id), next: rest.from < until ? rest : others };
}

async function findOthersPage(
  db: Queries,
  { after }: Extract<ExportPlace, { after: unknown }>,
  limit: number,
): Promise<Page> {
  const { found, last } = await findUnlogged(db, { after, limit });
  const page = fitting(found);
  const end = isCut(page, found, limit) ? page.at(-1) : last;
  return {
    ids: page.map(({ id }) => id),
    next: end ? { after: { createdAt: end.position, id: end.id } } : undefined,
  };
}

/** Whether others may follow the last one of a page among those that were looked at. */
function isCut(page: readonly unknown[], found: readonly unknown[], limit: number): boolean {
  return page.length < found.length || page.length === limit;
}

/** The first ones that take no more than {@link maxBytes} together, and at least one. */
function fitting<Found extends FoundTransaction>(found: readonly Found[]): Found[] {
  let bytes = 0;
  return found.filter((each, index) => {
    bytes += each.bytes;
    return index === 0 || bytes <= maxBytes;
  });
}

/** Reads transactions as the export has them (openapi.yaml, `RecordsExportLine`), in this order. */
export async function readExportLines(
  db: Queries,
  ids: readonly string[],
  principal: Principal,
): Promise<Line[]> {
  if (ids.length === 0) return [];
  const rows = await readExportRows(db, ids);
  const transactions = rows.map(({ read }) => read.transaction);
  const [parts, notices] = await Promise.all([readParts(db, transactions), readNotices(db, ids)]);
  return rows.map((row) => {
    const { transaction } = row.read;
    return {
      ...presentLine(row),
      followers: (parts.get(transaction.id) ?? []).map(presentPart),
      notices: (notices.get(transaction.id) ?? []).map((notice) => presentNotice(notice, principal)),
    };
  });
}

function presentLine({ read, jws, erased, source, records }: ExportRow): Omit<Line, 'followers' | 'notices'> {
  const { id, kind, subject, context, createdAt, changedAt } = read.transaction;
  return {
    transaction: id,
    state: stateAt(read.transaction, read.now),
    ...(kind && { kind }),
    subject,
    created: createdAt.toISOString(),
    changed: changedAt.toISOString(),
    context: presentContext(context),
    ...(jws !== null && { jws }),
    ...(erased !== null && { erased: { sha256: erased } }),
    ...(source && { imported: presentSource(source, read.transaction) }),
    records: records.map(presentRecord),
  };
}

function presentSource(
  { source, evidence, verified }: ExportSource,
  { createdAt, author }: ExportRow['read']['transaction'],
): NonNullable<Line['imported']> {
  return {
    at: createdAt.toISOString(),
    by: author,
    source,
    ...(evidence && {
      evidence: { kind: evidence.kind, value: evidence.value, ...(evidence.key && { key: evidence.key }) },
    }),
    verified,
  };
}

function presentRecord(record: ExportRecord): Line['records'][number] {
  const { object, author, comment, created, committed, expires, sourceId, origin, ...others } = record;
  const { withdraws, from, until, endedBy, ...rest } = others;
  return {
    ...rest,
    origin: origin as Line['records'][number]['origin'],
    created: timeOf(created),
    ...(object !== null && { object }),
    ...(author !== null && { author }),
    ...(comment !== null && { comment }),
    ...(committed !== null && { committed: timeOf(committed) }),
    ...(expires !== null && { expires: timeOf(expires) }),
    ...(withdraws !== null && { withdraws }),
    ...(from !== null && { from: timeOf(from) }),
    ...(until !== null && { until: timeOf(until) }),
    ...(endedBy !== null && { endedBy }),
    ...(sourceId !== null && { sourceId }),
  };
}

function timeOf(stored: string): string {
  return new Date(stored).toISOString();
}
