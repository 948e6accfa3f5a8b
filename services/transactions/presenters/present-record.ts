import type { ActiveVersions } from '#lib/contracts/forms.ts';
import { recordStatus } from '../domain/record-status.ts';
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
