import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import { type FolderModels, type StatedTexts, verifyTexts } from '#lib/evidence/verify-models.ts';

/** What a receipt states, as far as records repeat it. */
export interface StatedReceipt {
  kind?: unknown;
  transaction?: unknown;
  subject?: unknown;
  object?: unknown;
  author?: unknown;
  collectionMethod?: unknown;
  timestamp?: unknown;
  expirationTimestamp?: unknown;
  information?: StatedTexts;
  consents?: StatedConsent[];
  unanswered?: StatedTexts[];
}

interface StatedConsent extends StatedTexts {
  answer: unknown;
  expirationTimestamp?: unknown;
  withdraws?: { record?: unknown };
}

/** A record of `records.ndjson`. */
export type FolderRecord = Readonly<Record<string, unknown>>;

const isText = (value: unknown) => typeof value === 'string';
const isTime = (value: unknown) => isText(value) && isTimeText(String(value));
const isId = (value: unknown) =>
  isText(value) && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value));
const matches = (pattern: RegExp) => (value: unknown) => isText(value) && pattern.test(String(value));

/** The members of a record, and what their values look like. */
const ofRecord: Readonly<Record<string, (value: unknown) => boolean>> = {
  record: isId,
  element: matches(/^element\/(processing|preference|conditions)\/[^/]+\/\d+\.\d+$/),
  information: matches(/^element\/information\/[^/]+\/\d+\.\d+$/),
  answers: (value) => Array.isArray(value) && value.every(isText),
  state: matches(/^(PENDING|COMMITTED|ROLLED_BACK|ERASED)$/),
  origin: matches(/^[A-Z]+$/),
  created: isTime,
};
const ofRecordOrNot: typeof ofRecord = {
  object: isText,
  author: isText,
  comment: isText,
  committed: isTime,
  expires: isTime,
  withdraws: isId,
  from: isTime,
  until: isTime,
  endedBy: isId,
  sourceId: isText,
};

/** Whether a text is a time as an export writes it: RFC 3339 in UTC, with milliseconds. */
export function isTimeText(text: string): boolean {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString() === text;
}

/** The records of a line. @throws EvidenceFault for other members than those of an export. */
export function readRecords(value: unknown, place: string): FolderRecord[] {
  if (Array.isArray(value) && value.every(isRecord)) return value;
  throw new EvidenceFault(`${place}: the records are not written as an export writes them.`);
}

function isRecord(record: unknown): record is FolderRecord {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return false;
  const hasAll = Object.keys(ofRecord).every((name) => Object.hasOwn(record, name));
  const known = { ...ofRecord, ...ofRecordOrNot };
  return hasAll && Object.entries(record).every(([name, value]) => known[name]?.(value) === true);
}

/**
 * Compares the records of a line with all that the receipt of their transaction states.
 * @throws EvidenceFault that names the first member that differs.
 */
export function verifyRecords(
  receipt: StatedReceipt,
  { subject, records, place }: { subject: unknown; records: readonly FolderRecord[]; place: string },
): void {
  const consents = receipt.consents ?? [];
  requireEqual(subject, receipt.subject, `${place}: the subject is`);
  if (records.length !== consents.length)
    throw new EvidenceFault(
      `${place}: ${records.length} records, but the receipt states ${consents.length} answers.`,
    );
  for (const consent of consents) {
    const record = records.find(({ element }) => element === consent.identifier);
    if (!record) throw new EvidenceFault(`${place}: no record of ${consent.identifier}.`);
    for (const [member, stated] of Object.entries(statedOf(receipt, consent)))
      requireEqual(record[member], stated, `${place}: ${member} of ${consent.identifier} is`);
  }
}

/** What a record of an answer must say. */
function statedOf(receipt: StatedReceipt, consent: StatedConsent): Record<string, unknown> {
  const isWithdrawal = receipt.kind === 'WITHDRAWAL';
  const neverExpires = consent.identifier.startsWith('element/conditions/');
  return {
    answers: consent.answer,
    state: 'COMMITTED',
    object: receipt.object || undefined,
    author: receipt.author,
    origin: receipt.collectionMethod,
    committed: receipt.timestamp,
    expires: neverExpires ? undefined : (consent.expirationTimestamp ?? receipt.expirationTimestamp),
    sourceId: undefined,
    ...(isWithdrawal
      ? { withdraws: consent.withdraws?.record }
      : // A withdrawal repeats consents that may have been given under several informations.
        { information: receipt.information?.identifier }),
  };
}

/**
 * Compares records that were taken over with the receipt of the other instance: each must be one of its
 * answers.
 * @throws EvidenceFault.
 */
export function verifyImported(
  receipt: StatedReceipt,
  { subject, records, place }: { subject: unknown; records: readonly FolderRecord[]; place: string },
): void {
  requireEqual(subject, receipt.subject, `${place}: the subject is`);
  for (const record of records) {
    const { element } = record;
    const consent = receipt.consents?.find(({ identifier }) => identifier === element);
    if (!consent)
      throw new EvidenceFault(`${place}: the receipt of the other instance states no ${element}.`);
    const stated = {
      answers: consent.answer,
      object: receipt.object || undefined,
      committed: receipt.timestamp,
    };
    for (const [member, value] of Object.entries(stated))
      requireEqual(record[member], value, `${place}: ${member} of ${element} is`);
  }
}

/** The texts on a receipt, against their digests and the models. @throws EvidenceFault. */
export function verifyReceiptTexts(
  { information, consents = [], unanswered = [] }: StatedReceipt,
  { place, models }: { place: string; models: FolderModels | undefined },
): void {
  // What was never answered may have been removed.
  const isNeeded = consents.length > 0;
  for (const texts of consents) verifyTexts(texts, { place, models, isNeeded });
  if (information) verifyTexts(information, { place, models, isNeeded });
  for (const texts of unanswered) verifyTexts(texts, { place, models, isNeeded: false });
}

function requireEqual(found: unknown, stated: unknown, what: string): void {
  if (JSON.stringify(found) !== JSON.stringify(stated))
    throw new EvidenceFault(`${what} not what the receipt states.`);
}
