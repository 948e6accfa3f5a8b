import { recordAction } from '#lib/audit/record-action.ts';
import { isPrivileged } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { linkNext, readPage } from '#lib/http/lists.ts';
import type { Handlers } from '#lib/http/operation.ts';
import { type ReadTransaction, stateAt } from '../domain/transaction.ts';
import { type ExportRows, readExport } from '../queries/subject-export.ts';
import { readSubject } from '../queries/subjects.ts';
import { listTransactions } from '../queries/transactions.ts';
import { readText } from './filters.ts';
import type { Dependencies } from './handlers.ts';
import { presentSubject } from './subjects.ts';

const idPattern = /^[1-9A-HJ-NP-Za-km-z]{22}$/;

/** GET /subjects/{name}/export (docs/erasure.md, "Access") */
export function subjectExportHandlers({ db, instance }: Dependencies): Handlers {
  return {
    async exportSubject(ctx, { params, query, principal }) {
      const name = readText(params.name) ?? '';
      const isAllowed = isPrivileged(principal) || principal.subject === name;
      const subject = isAllowed ? await readSubject(db, name) : undefined;
      if (!subject) throw fail('not-found', 'Subject not found.');
      const { page, next, limit } = await readPage(
        query,
        (request) => listTransactions(db, { subject: name }, request),
        { idPattern, idOf: ({ transaction }) => transaction.id },
      );
      const ids = page.map(({ transaction }) => transaction.id);
      const rows = await readExport(db, subject.id, ids);
      const entry = { action: 'subject.exported', target: `subject/${subject.id}` } as const;
      if (isPrivileged(principal)) await recordAction(db, entry);
      const url = `${instance.baseUrl}/subjects/${encodeURIComponent(name)}/export`;
      if (next) linkNext(ctx, url, { cursor: next, limit: String(limit) });
      ctx.body = {
        subject: presentSubject(subject),
        transactions: page.map((read) => presentExported(read, rows)),
        audit: rows.audit.map(({ at, ...line }) => ({ at: at.toISOString(), ...line })),
        peers: rows.peers,
      };
    },
  };
}

function presentExported(read: ReadTransaction, { transactions }: ExportRows) {
  const { id, kind, createdAt, changedAt, context } = read.transaction;
  const rows = transactions.get(id);
  return {
    id,
    state: stateAt(read.transaction, read.now),
    kind: kind ?? undefined,
    created: createdAt.toISOString(),
    changed: changedAt.toISOString(),
    context,
    records: rows?.records ?? [],
    receipt: rows?.receipt ?? undefined,
    messages: rows?.messages ?? [],
  };
}
