import type { ExportedTransaction, ExportPage } from '#lib/contracts/export-page.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Subject } from '../person/store.ts';
import { presentErasureFacts, presentHold } from '../present/erasure.ts';
import { presentPart as presentPagePart } from '../present/final-page.ts';
import { presentPart } from '../present/transaction.ts';
import type { Notice } from '../sent-parts/notice.ts';
import type { Part } from '../sent-parts/part.ts';
import { type ReadTransaction, stateAt } from '../transaction/transaction.ts';
import type { ExportFacts, ExportRows } from './store.ts';

/** A transaction with all that an export tells of it. */
export interface ReadExport {
  read: ReadTransaction;
  rows: ExportRows | undefined;
  parts: Part[];
  notices: Notice[];
}

/** The representation of a transaction in an export (openapi.yaml, `ExportedTransaction`). */
export function presentExported(exported: ReadExport) {
  const { author: _author, ...context } = exported.read.transaction.context;
  return { ...presentShared(exported), context, followers: exported.parts.map(presentPart) };
}

/**
 * A transaction in the HTML of an export. Its receipt has no link that changes the answers, and no author but
 * the subject and the peer that showed the form: other authors are employees.
 */
export function presentExportedOnPage(exported: ReadExport): ExportedTransaction {
  const { origin, validity, callback, notificationRecipient, object, subjectInfos, attributes } =
    exported.read.transaction.context;
  const { receipt, ...shared } = presentShared(exported);
  return {
    ...shared,
    context: { origin, validity, callback, notificationRecipient, object, subjectInfos, attributes },
    receipt: receipt && { ...receipt, ...shownAuthor(receipt), updateUrl: undefined },
    parts: exported.parts.map((part) => {
      const { owner, state, withdrawn } = presentPagePart(part);
      return { owner, state, withdrawn, location: part.location };
    }),
  };
}

function shownAuthor({ author, leader, subject }: ReceiptBody): Pick<ReceiptBody, 'author'> {
  return leader || author === subject ? {} : { author: undefined };
}

function presentShared({ read, rows, notices }: ReadExport) {
  const { id, kind, subject, context, createdAt, changedAt } = read.transaction;
  const author = context.author === subject ? ('SUBJECT' as const) : ('STAFF' as const);
  return {
    id,
    state: stateAt(read.transaction, read.now),
    kind: kind ?? undefined,
    created: createdAt.toISOString(),
    changed: changedAt.toISOString(),
    author: context.author === undefined ? undefined : author,
    records: rows?.records ?? [],
    receipt: rows?.receipt ?? undefined,
    messages: rows?.messages ?? [],
    recipients: notices.map(presentRecipient),
  };
}

/** A notice without the organisation's note, which is for operators. */
function presentRecipient({ name, kind, state, outcome, since }: Notice) {
  return { name, kind, state, outcome: outcome ?? undefined, since: since.toISOString() };
}

export function presentExportFacts({ audit, peers, hold, erasures }: ExportFacts) {
  return {
    audit: audit.map(({ at, ...line }) => ({ at: at.toISOString(), ...line })),
    peers,
    hold: hold && presentHold(hold),
    erasures: erasures.map(presentErasureFacts),
  };
}

/** The subject as the first page of an export shows it. */
export function presentExportedSubject(subject: Subject): ExportPage['subject'] {
  const { id, name, emailAddress, defaultLanguage, createdAt } = subject;
  return {
    id,
    name,
    emailAddress: emailAddress ?? undefined,
    defaultLanguage: defaultLanguage ?? undefined,
    created: createdAt.toISOString(),
  };
}
