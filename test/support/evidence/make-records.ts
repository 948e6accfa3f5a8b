import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json } from './folder-files.ts';
import type { Signer } from './make-folder.ts';

const write = (value: unknown) => `${canonicalize(value)}\n`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const texts: Record<string, Json> = {
  'element/information/information.001/1.0': { title: 'Who we are', body: 'A shop' },
  'element/processing/processing.001/1.0': { title: 'Letters', data: 'Name' },
  'element/processing/processing.001/1.1': { title: 'Letters by mail', data: 'Name' },
  'element/processing/processing.002/1.0': { title: 'Study', data: 'Age' },
};

/** The models of a made folder. */
export function makeModels(): string {
  const model = (type: string, key: string, serials: readonly string[]) =>
    write({
      key,
      type,
      name: `The ${key}`,
      default: type === 'information',
      versions: serials.map((serial, place) => ({
        serial,
        defaultLanguage: 'en',
        status: place === serials.length - 1 ? 'ACTIVE' : 'ARCHIVED',
        data: { en: texts[`element/${type}/${key}/${serial}`] ?? { logo: key } },
        ...(place > 0 && { reason: 'Clearer words' }),
      })),
    });
  return [
    model('information', 'information.001', ['1.0']),
    model('theme', 'theme.001', ['1.0']),
    model('processing', 'processing.001', ['1.0', '1.1']),
    model('processing', 'processing.002', ['1.0']),
  ].join('');
}

/** A transaction, and how its answers were given. */
interface Made {
  transaction: string;
  at: Date;
  /** By identifier. */
  answers: Record<string, string>;
  kind?: 'WITHDRAWAL';
  object?: string;
}

const timeOf = (at: Date, days = 0) => new Date(at.getTime() + days * 86_400_000).toISOString();
const idOf = (name: string) => sha256(name).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
const shown = (identifier: string) => ({
  identifier,
  lang: 'en',
  texts: texts[identifier],
  sha256: sha256(canonicalize(texts[identifier]) as string),
});

/** The body of a receipt. */
export function makeReceipt({ transaction, at, answers, kind, object }: Made) {
  return {
    transaction,
    subject: 'jane',
    author: 'operator',
    collectionMethod: 'WEBFORM',
    ...(kind && { kind }),
    ...(object && { object }),
    timestamp: timeOf(at),
    ...(!kind && { expirationTimestamp: timeOf(at, 180) }),
    information: shown('element/information/information.001/1.0'),
    consents: Object.entries(answers).map(([identifier, answer], place) => ({
      ...shown(identifier),
      answer: [answer],
      ...(place > 0 && !kind && { expirationTimestamp: timeOf(at, 30) }),
      ...(kind && { withdraws: { record: idOf(`${transaction} withdraws`) } }),
    })),
  };
}

/** The records that belong to a receipt. */
export function makeRecords({ transaction, at, answers, kind, object }: Made): Json[] {
  return Object.entries(answers).map(([element, answer], place) => ({
    element,
    answers: [answer],
    state: 'COMMITTED',
    origin: 'WEBFORM',
    author: 'operator',
    information: 'element/information/information.001/1.0',
    record: idOf(transaction + element),
    created: timeOf(at),
    committed: timeOf(at),
    from: timeOf(at),
    ...(place > 0 && { until: timeOf(at, 1), endedBy: idOf(`${transaction} ends`) }),
    ...(object && { object }),
    ...(place === 0 && { comment: 'on paper' }),
    ...(kind
      ? { withdraws: idOf(`${transaction} withdraws`) }
      : { expires: timeOf(at, place > 0 ? 30 : 180) }),
  }));
}

/** A line of `records.ndjson`. @param more its receipt, or what else there is. */
export function makeLine(made: Pick<Made, 'transaction' | 'at' | 'kind'>, more: Json): string {
  const { transaction, at, kind } = made;
  return write({
    transaction,
    state: 'COMMITTED',
    subject: 'jane',
    created: timeOf(at),
    changed: timeOf(at),
    ...(kind && { kind }),
    context: { subject: 'jane' },
    followers: [{ name: 'Lab' }],
    notices: [{ name: 'Printer' }],
    ...more,
  });
}

const erase = ({ object: _object, comment: _comment, author: _author, endedBy: _by, ...record }: Json) => ({
  ...record,
  state: 'ERASED',
});

/** The line of an erased transaction. @param sha256 of its JWS, base64url. */
export function makeErasedLine(made: Made, sha256: string): string {
  const records = makeRecords(made).map(erase);
  return makeLine(made, { subject: `erased:${made.transaction}`, erased: { sha256 }, records });
}

const given = new Date('2024-03-01T08:30:00.000Z');
const imported = { at: '2026-05-03T10:00:00.120Z', by: 'admin', source: 'https://old.example.org' };
const taken = (made: Made) =>
  makeRecords(made).map((record, place) => ({ ...record, origin: 'IMPORTED', sourceId: `row ${place}` }));

/** Transactions without a line in the log: taken over with and without a receipt, erased, and open. */
export function makeOthers(other: Signer): string {
  const at = (minutes: number) => new Date(Date.UTC(2026, 4, 3, 10, minutes));
  const answers = {
    'element/processing/processing.001/1.0': 'accepted',
    'element/processing/processing.002/1.0': 'refused',
  };
  const line = (minutes: number, transaction: string, more: Json) =>
    makeLine({ transaction, at: at(minutes) }, { kind: 'IMPORT', ...more });
  const made = (transaction: string): Made => ({ transaction, at: given, answers });
  const jws = other.receipt(makeReceipt(made('elsewhere')));
  const evidence = { kind: 'RECEIPT', value: jws, key: other.jwk };
  return [
    line(0, 'proven', {
      imported: { ...imported, evidence, verified: true },
      records: taken(made('proven')),
    }),
    line(1, 'stated', { imported: { ...imported, verified: false }, records: taken(made('stated')) }),
    line(2, 'forgotten', { subject: 'erased:x', records: makeRecords(made('forgotten')).map(erase) }),
    makeLine({ transaction: 'open', at: at(3) }, { state: 'TIMEOUT', records: [] }),
  ].join('');
}

/** The line of a receipt that no line of the log tells of. */
export function makeUnlogged(transaction: string, signer: Signer): string {
  const at = new Date(Date.UTC(2026, 5, 1));
  const made = { transaction, at, answers: { 'element/processing/processing.001/1.0': 'accepted' } };
  return makeLine(made, { jws: signer.receipt(makeReceipt(made)), records: makeRecords(made) });
}
