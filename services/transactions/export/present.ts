import { presentErasureFacts, presentHold } from '../present/person.ts';
import { presentContext, presentPart } from '../present/transaction.ts';
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
export function presentExported({ read, rows, parts, notices }: ReadExport) {
  const { id, kind, subject, createdAt, changedAt } = read.transaction;
  const { author: named, ...context } = read.transaction.context;
  const author = named === subject ? ('SUBJECT' as const) : ('STAFF' as const);
  return {
    id,
    state: stateAt(read.transaction, read.now),
    kind: kind ?? undefined,
    created: createdAt.toISOString(),
    changed: changedAt.toISOString(),
    author: named === undefined ? undefined : author,
    records: rows?.records ?? [],
    receipt: rows?.receipt ?? undefined,
    messages: rows?.messages ?? [],
    recipients: notices.map(presentRecipient),
    context: presentContext(context),
    followers: parts.map(presentPart),
  };
}

/** A notice without the organisation's note, which is for operators. */
function presentRecipient({ name, kind, state, outcome, since }: Notice) {
  return { name, kind, state, outcome: outcome ?? undefined, since: since.toISOString() };
}

export function presentExportFacts({ audit, peers, hold, unsubscribed, erasures }: ExportFacts) {
  return {
    audit: audit.map(({ at, ...line }) => ({ at: at.toISOString(), ...line })),
    peers,
    hold: hold && presentHold(hold),
    unsubscribed: unsubscribed?.toISOString(),
    erasures: erasures.map(presentErasureFacts),
  };
}
