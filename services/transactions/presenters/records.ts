import type { ActiveVersions } from '#lib/contracts/forms.ts';
import { recordStatus } from '../domain/records.ts';
import type { StoredRecord } from '../queries/records.ts';

/** A record with its status now (docs/interface.md, "Records"); `Timestamp` fields are epoch milliseconds. */
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
    leader: record.leader ?? undefined,
  };
}

type Cell = string | number | undefined;

/**
 * Writes RFC 4180 CSV. A text that a spreadsheet would take for a formula, by a full-width sign too, gets a quote in front,
 * because subjects' texts stand in it (OWASP, "CSV injection").
 */
export function writeCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(writeCell).join(',')}\r\n`).join('');
}

function writeCell(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@＝＋－＠\t\r\n]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
