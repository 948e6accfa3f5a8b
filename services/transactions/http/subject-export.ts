import type { Context } from 'koa';
import { recordAction } from '#lib/audit/record-action.ts';
import { isPrivileged } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { withSlot } from '#lib/http/admission.ts';
import { linkNext, readPage } from '#lib/http/lists.ts';
import type { Input, Mode, OperationHandlers } from '#lib/http/operation.ts';
import { fileName } from '#lib/text/file-name.ts';
import { exportDocument, readExported } from '../export/export.ts';
import { presentExported, presentExportFacts } from '../export/present.ts';
import { readExportFacts } from '../export/store.ts';
import { readSubject, type Subject } from '../person/store.ts';
import { presentSubject } from '../present/person.ts';
import { listTransactions } from '../transaction/list-store.ts';
import type { Dependencies } from './dependencies.ts';
import { readText } from './filters.ts';
import { readerLanguages } from './send.ts';

const idPattern = /^[1-9A-HJ-NP-Za-km-z]{22}$/;

/** What `format` may name. */
const formats: ReadonlyMap<string, Mode> = new Map([
  ['json', 'json'],
  ['application/json', 'json'],
  ['html', 'html'],
  ['text/html', 'html'],
]);

/** The document has its style sheet inside, no script, and nothing from elsewhere. */
const documentPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** GET /subjects/{name}/export (docs/erasure.md, "Access") */
export function subjectExportHandlers(dependencies: Dependencies) {
  const { db } = dependencies;
  return {
    async exportSubject(ctx, { params, query, principal, mode }) {
      const name = readText(params.name) ?? '';
      const isAllowed = isPrivileged(principal) || principal.subject === name;
      const subject = isAllowed ? await readSubject(db, name) : undefined;
      if (!subject) throw fail('not-found', 'Subject not found.');
      const url = `${dependencies.instance.baseUrl}/subjects/${encodeURIComponent(subject.name)}/export`;
      await sendExport(ctx, dependencies, subject, { query, mode, url });
      const entry = { action: 'subject.exported', target: `subject/${subject.id}` } as const;
      if (isPrivileged(principal)) await recordAction(db, entry);
    },
  } satisfies OperationHandlers;
}

interface AskedExport {
  query: Input<'exportSubject'>['query'];
  mode: Mode;
  /** Of the operation, for the link to the next page. */
  url: string;
}

/** Sends the data of a person. @throws Failure `not-acceptable`. */
export function sendExport(
  ctx: Context,
  dependencies: Dependencies,
  subject: Subject,
  asked: AskedExport,
): Promise<void> {
  const send = readFormat(asked.query.format, asked.mode) === 'html' ? sendDocument : sendJson;
  return send(ctx, dependencies, subject, asked);
}

/** @throws Failure `not-acceptable` */
function readFormat(format: string | undefined, mode: Mode): Mode {
  if (!format) return mode;
  const named = formats.get(format.toLowerCase());
  if (!named) throw fail('not-acceptable', 'An export is available as application/json, text/html.');
  return named;
}

type Send = (ctx: Context, dependencies: Dependencies, subject: Subject, asked: AskedExport) => Promise<void>;

const sendDocument: Send = async (ctx, dependencies, subject, { query }) => {
  const given = readText(query.language);
  const [language = ''] = readerLanguages(ctx, given, dependencies.instance.language);
  const inTurn: Parameters<typeof exportDocument>[0]['inTurn'] = (work) => withSlot(ctx, work);
  const body = await exportDocument({ ...dependencies, inTurn }, subject, language);
  ctx.type = 'text/html; charset=utf-8';
  ctx.attachment(`${fileName(dependencies.instance.name, 'export')}.html`);
  ctx.set('Content-Security-Policy', documentPolicy);
  ctx.body = body;
};

const sendJson: Send = async (ctx, { db }, subject, { query, url }) => {
  const find = (request: Parameters<typeof listTransactions>[2]) =>
    listTransactions(db, { subject: subject.name }, request);
  const idOf = ({ transaction }: { transaction: { id: string } }) => transaction.id;
  const { page, next, limit } = await readPage(query, find, { idPattern, idOf });
  const transactions = (await readExported(db, page)).map(presentExported);
  const facts = await readExportFacts(db, subject, page.map(idOf));
  if (next) linkNext(ctx, url, { cursor: next, limit: String(limit) });
  ctx.body = { subject: presentSubject(subject), transactions, ...presentExportFacts(facts) };
};
