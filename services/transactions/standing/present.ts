import { recordStatus } from '#lib/contracts/record-status.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import { type Cell, csvLine, joinOptions } from '#lib/text/csv.ts';
import type { StoredRecord } from './records-store.ts';

/** A record with its status at `now`; `Timestamp` members are epoch milliseconds. */
export function presentRecord(record: StoredRecord, active: ActiveVersions, now: Date) {
  const [status, statusExplanation] = recordStatus(record, active, now);
  return {
    serial: record.id,
    infoKey: record.infoKey,
    bodyKey: record.key,
    infoSerial: record.infoSerial,
    bodySerial: record.serial,
    subject: record.subject,
    object: record.object === '' ? undefined : record.object,
    type: record.type,
    value: record.value.join(','),
    values: record.value,
    state: record.state,
    status,
    statusExplanation,
    creationTimestamp: record.createdAt.getTime(),
    expirationTimestamp: record.expiresAt?.getTime(),
    origin: record.origin,
    author: record.author,
    comment: record.comment ?? undefined,
    transaction: record.transaction,
    way: record.collection?.way,
    givenOn: record.collection?.givenOn,
    imported: presentImported(record.imported),
    withdraws: record.withdraws ?? undefined,
    leader: record.leader ?? undefined,
  };
}

/** The representation of where an answer was taken over from (openapi.yaml, `Imported`). */
function presentImported(imported: StoredRecord['imported']) {
  if (!imported) return undefined;
  const { at, evidence, ...rest } = imported;
  return { ...rest, at: new Date(at).toISOString(), evidence: evidence ?? undefined };
}

export type PresentedRecord = ReturnType<typeof presentRecord>;

/** The records of one subject in an extraction. */
export interface Extracted {
  subjectName: string;
  subjectEmail?: string;
  emailAddress?: string;
  /** The newest of `records`. */
  record: PresentedRecord;
  records: PresentedRecord[];
}

/** @param withCommas keys of elements with an option that has a comma. */
type ReadCell = (found: Extracted, record: PresentedRecord, withCommas: ReadonlySet<string>) => Cell;

const columns: [header: string, cell: ReadCell][] = [
  ['subjectName', ({ subjectName }) => subjectName],
  ['emailAddress', ({ emailAddress }) => emailAddress],
  ['key', (_, { bodyKey }) => bodyKey],
  ['serial', (_, { bodySerial }) => bodySerial],
  ['value', (_, { bodyKey, values }, withCommas) => joinOptions(values, withCommas.has(bodyKey))],
  ['object', (_, { object }) => object],
  ['creationTimestamp', (_, { creationTimestamp }) => creationTimestamp],
  ['expirationTimestamp', (_, { expirationTimestamp }) => expirationTimestamp],
  ['origin', (_, { origin }) => origin],
  ['author', (_, { author }) => author],
  ['transaction', (_, { transaction }) => transaction],
  ['leaderLocation', (_, { leader }) => leader?.location],
  ['leaderId', (_, { leader }) => leader?.id],
];

/** The records of an extraction as CSV (RFC 4180). */
export function presentCsv(values: readonly Extracted[], withCommas: ReadonlySet<string>): string {
  const rows = values.flatMap((found) =>
    found.records.map((record) => columns.map(([, cell]) => cell(found, record, withCommas))),
  );
  const header = columns.map(([name]) => name);
  return [header, ...rows].map(csvLine).join('');
}
