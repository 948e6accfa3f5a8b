import { Readable } from 'node:stream';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import { type ExportPage, exportMarker } from '#lib/contracts/pages.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Subject } from '../person/store.ts';
import { presentSubject } from '../present/person.ts';
import { readNotices } from '../sent-parts/notices-store.ts';
import { readParts } from '../sent-parts/store.ts';
import { readNow } from '../transaction/store.ts';
import type { ReadTransaction } from '../transaction/transaction.ts';
import { presentExported, presentExportFacts, type ReadExport } from './present.ts';
import { listTransactionIds, readExport, readExportFacts, readTransactions } from './store.ts';

/** Transactions in one document. */
const maxTransactions = 1_000;
/** Transactions that are read and rendered at a time, about 20 ms of CPU time. */
const pieceSize = 10;

/** Reads what an export tells of transactions, in their order. */
export async function readExported(db: Queries, reads: readonly ReadTransaction[]): Promise<ReadExport[]> {
  const transactions = reads.map(({ transaction }) => transaction);
  const ids = transactions.map(({ id }) => id);
  const [rows, parts, notices] = await Promise.all([
    readExport(db, ids),
    readParts(db, transactions),
    readNotices(db, ids),
  ]);
  return reads.map((read) => {
    const { id } = read.transaction;
    return { read, rows: rows.get(id), parts: parts.get(id) ?? [], notices: notices.get(id) ?? [] };
  });
}

interface Exporting {
  db: Queries;
  forms: Pick<FormsOperations, 'renderPage'>;
  /** Runs the work of a piece. Between the pieces the client sets the pace. */
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * The data of a subject as one HTML document of the newest 1,000 transactions. It is read and rendered in
 * pieces while it is being sent, so that neither its memory nor the time of a piece grows with the subject.
 * @throws Failure `unavailable` before the first byte. Later faults end the stream with an error.
 */
export async function exportDocument(
  { db, forms, inTurn }: Exporting,
  subject: Subject,
  language: string,
): Promise<Readable> {
  const found = await listTransactionIds(db, subject.name, maxTransactions + 1);
  const ids = found.slice(0, maxTransactions);
  const languages = [language];
  const page: ExportPage = {
    page: 'export',
    at: (await readNow(db)).toISOString(),
    subject: presentSubject(subject),
    count: ids.length,
    isCut: found.length > ids.length,
    ...presentExportFacts(await readExportFacts(db, subject, ids)),
  };
  const { html } = await forms.renderPage({ page, languages });
  const [start, end] = html.split(exportMarker);
  return Readable.from(pieces(), { objectMode: false });

  async function* pieces() {
    yield start;
    for (let first = 0; first < ids.length; first += pieceSize)
      yield await inTurn(() => makePiece(ids.slice(first, first + pieceSize)));
    yield end;
  }

  async function makePiece(of: readonly string[]): Promise<string> {
    const reads = await readTransactions(db, subject.name, of);
    const transactions = (await readExported(db, reads)).map(presentExported);
    return (await forms.renderPage({ page: { page: 'export-part', transactions }, languages })).html;
  }
}
