import type { Schemas } from '#lib/models/models-api.ts';
import type { InstanceClient } from '#lib/moving/instance-client.ts';
import { leaveOut, type NotCarried, noteMembers } from '#lib/moving/not-carried.ts';
import { readReceiptFacts, rowsOfReceipt } from '#lib/moving/receipt-rows.ts';
import type { SourceItem } from '#lib/moving/source.ts';

type Answer = Schemas['ConsentRecord'];

/** Newest records of a question in one response. */
const maxPerQuestion = 100;

/** Members that rows have, or that follow from those. */
const ofRecord = [
  ...['serial', 'infoKey', 'bodyKey', 'infoSerial', 'bodySerial', 'subject', 'object', 'type', 'value'],
  ...['values', 'state', 'status', 'statusExplanation', 'creationTimestamp', 'expirationTimestamp'],
  ...['origin', 'author', 'comment', 'transaction', 'imported', 'withdraws', 'basis'],
];

/** Why a record without a committed answer has no row. */
const leftOut: { readonly [state: string]: string } = {
  PENDING: 'answers that wait for a code or for a peer',
  ROLLED_BACK: 'answers that never took effect',
  ERASED: 'erased answers',
};

interface Reading {
  source: InstanceClient;
  /** Base URL by which the instance names itself. */
  instance: string;
  /** Whether it has keys for signed receipts. */
  isSigning: boolean;
  notCarried: NotCarried;
}

/** Rows of everything that one person has answered at an instance. */
export async function readPerson(reading: Reading, subject: string): Promise<SourceItem[]> {
  const items: SourceItem[] = [];
  const records = await readRecords(reading.source, subject);
  for (const [transaction, group] of Map.groupBy(records, (each) => each.transaction)) {
    const answered = group.filter(({ state }) => {
      if (state !== 'COMMITTED') leaveOut(reading.notCarried, leftOut[state] ?? `answers in state ${state}`);
      return state === 'COMMITTED';
    });
    for (const record of answered) noteMembers(reading.notCarried, 'record', record, ofRecord);
    if (answered.length > 0)
      for (const row of await rowsOf(reading, transaction, answered))
        items.push({ place: `transaction ${transaction}, ${row.element}`, row });
  }
  return items;
}

/** All records of a person, also where a question has more than one response takes. */
async function readRecords(source: InstanceClient, subject: string): Promise<Answer[]> {
  const read = (query: string) =>
    source.findJson<Schemas['RecordsByKey']>(`/records?subject=${encodeURIComponent(subject)}${query}`);
  const found = new Map<string, Answer>();
  const rest = Object.values((await read('')) ?? {});
  for (let group = rest.pop(); group; group = rest.pop()) {
    const fresh = group.filter(({ serial }) => !found.has(serial));
    for (const record of fresh) found.set(record.serial, record);
    const last = group.at(-1);
    if (!last || group.length < maxPerQuestion || fresh.length === 0) continue;
    // The time is cut to milliseconds: those of the last one are read again.
    const before = new Date(last.creationTimestamp + 1).toISOString();
    const object = last.object === undefined ? '' : `&object=${encodeURIComponent(last.object)}`;
    const older = await read(`&elements=${encodeURIComponent(last.bodyKey)}${object}&before=${before}`);
    rest.push(...Object.values(older ?? {}));
  }
  return [...found.values()];
}

type Row = Readonly<{ [member: string]: unknown }>;

/** By the receipt where there is one: it proves what it states. */
async function rowsOf(reading: Reading, transaction: string, records: readonly Answer[]): Promise<Row[]> {
  const { instance, notCarried } = reading;
  const detailsOf = (key: string) => {
    const record = records.find(({ bodyKey }) => bodyKey === key);
    return record && { ...informationOf(record), ...(record.comment && { comment: record.comment }) };
  };
  const proof = records.some(({ imported }) => !imported) ? await readProof(reading, transaction) : {};
  const receipt = proof.jws === undefined ? undefined : readReceiptFacts(proof.jws);
  if (receipt && proof.jws !== undefined) {
    const known = { jws: proof.jws, transaction, source: instance, detailsOf };
    return rowsOfReceipt(receipt, known, notCarried).map(({ row }) => row);
  }
  return records.map((record) => rowOf(record, { instance, url: proof.url }));
}

function informationOf({ infoKey, infoSerial }: Answer): { information: string; informationSerial: string } {
  return { information: infoKey, informationSerial: infoSerial };
}

/**
 * A signed receipt, or the address of one that is not signed. An instance that signs does not give signed
 * ones to everybody (docs/roles.md): those are counted.
 */
async function readProof(
  { source, isSigning, notCarried }: Reading,
  transaction: string,
): Promise<{ jws?: string; url?: string }> {
  const address = `/receipts/${encodeURIComponent(transaction)}`;
  const signed = await source.find(address, 'application/jose');
  if (signed && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(signed.text.trim())) return { jws: signed.text.trim() };
  const isThere = signed ?? (await source.find(address));
  if (!isThere) return {};
  if (isSigning) leaveOut(notCarried, 'signatures of receipts, which this access token does not read');
  return { url: `${source.url}${address}` };
}

function rowOf(record: Answer, { instance, url }: { instance: string; url: string | undefined }): Row {
  const { subject, object, bodyKey, bodySerial, author, comment, imported } = record;
  const { value, values, creationTimestamp, expirationTimestamp, transaction } = record;
  const expires = expirationTimestamp === undefined ? null : new Date(expirationTimestamp).toISOString();
  return {
    subject,
    element: bodyKey,
    serial: bodySerial,
    answer: values ?? (value === '' ? [] : [value]),
    given: new Date(creationTimestamp).toISOString(),
    expires,
    ...(author !== subject && { author }),
    ...(object !== undefined && { object }),
    ...(comment !== undefined && { comment }),
    ...informationOf(record),
    source: imported?.source ?? instance,
    sourceId: imported?.sourceId ?? `${transaction}/${bodyKey}`,
    ...(url !== undefined && { evidence: { kind: 'URL', value: url } }),
  };
}
