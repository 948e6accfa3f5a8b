import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from 'koa';
import Negotiator from 'negotiator';
import { isPrivileged, isReader, type Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { whileIdle } from '#lib/http/admission.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { chargeFor } from '#lib/http/pacer.ts';
import { receiptFileName, receiptPdf } from '../present/receipt-pdf.ts';
import { withdrawalChoice } from '../present/result-page.ts';
import { pageOf } from '../present/transaction.ts';
import { receiptJsonLd } from '../receipts/jsonld.ts';
import { readSigned } from '../receipts/signed.ts';
import { readErasedReceipt, readImportSource, readReceipt } from '../receipts/store.ts';
import { receiptXml } from '../receipts/xml.ts';
import { readRecordIds } from '../standing/records-store.ts';
import { noSuchTransaction, requireAccess } from '../transaction/access.ts';
import { readTransaction } from '../transaction/store.ts';
import type { ReadTransaction } from '../transaction/transaction.ts';
import { keyOf } from '../transaction/values.ts';
import { readShownStanding } from '../withdrawal/results.ts';
import type { Dependencies } from './dependencies.ts';
import { mintPageLinks, readRelated, sendTransactionPage } from './send.ts';

const json = 'application/json';
/** Some generated clients ask for the type of errors alone (lib/http/mount-contract.ts). */
const problem = 'application/problem+json';
const jsonLd = 'application/ld+json';
const jose = 'application/jose';
const html = 'text/html';
const pdf = 'application/pdf';
const xml = 'application/xml';
const text = 'text/plain';
const available = [json, jsonLd, html, jose, pdf, xml, text];
/** The signed receipt, which a PDF has attached, has a link with which a reader could act as the subject. */
const availableToReaders = available.filter((type) => type !== jose && type !== pdf);
const withoutLink =
  'As PDF and JWS it has the link of the person, which your role does not get: compare `signature` of the JSON with the line `receipt.signed` of the audit log.';
/** Short names that `format` takes beside media types. */
const shortNames = new Map([
  ['json', json],
  ['jsonld', jsonLd],
  ['jose', jose],
  ['jws', jose],
  ['html', html],
  ['pdf', pdf],
  ['xml', xml],
  ['text', text],
  ['txt', text],
]);

/** Other requests have their turn between the steps with a longer receipt. */
const longText = 500_000;

/** /receipts */
export function receiptHandlers(dependencies: Dependencies) {
  const { db } = dependencies;
  return {
    /** The receipt as it was signed, or another presentation of it. */
    async getReceipt(ctx, { params, query, principal }) {
      const found = requireAccess(principal, await readTransaction(db, params.txid), 'representation');
      const read = await requireNotErased(db, found);
      const type = chooseType(ctx, query.format, principal);
      const receipt = await readReceipt(db, read.transaction.id);
      if (!receipt) throw await withoutReceipt(db, read);
      ctx.vary('Accept');
      const withLinks = query.links !== 'false' && !isReader(principal);
      const wanted = { theme: query.theme, withLinks };
      if (type === jose || (type === json && wanted.withLinks)) {
        ctx.type = type;
        ctx.body = type === jose ? receipt.jws : receipt.body;
        return;
      }
      // What readers are shown is what was signed: they cannot compare it with the JWS.
      const signed = wanted.withLinks ? undefined : readSigned(receipt.jws);
      const body = shownReceipt(signed?.body ?? receipt.body, wanted);
      // The longest receipt takes some 60 ms to parse.
      if (receipt.body.length > longText) await nextTurn();
      if (type === html) return sendReceiptPage(ctx, dependencies, read, body, { principal, ...wanted });
      if (isFileType(type)) {
        const asker = askerOf(principal, read);
        const file = { body, jws: receipt.jws };
        return sendReceiptFile(ctx, dependencies, read, file, { type, asker, ...wanted });
      }
      if (type === jsonLd) {
        const records = await readRecordIds(db, read.transaction.id);
        ctx.type = type;
        ctx.body = receiptJsonLd(body, {
          url: `${dependencies.instance.baseUrl}/receipts/${read.transaction.id}`,
          recordOf: (identifier) => records.get(keyOf(identifier)),
        });
        return;
      }
      ctx.type = type;
      ctx.body = JSON.stringify({ ...body, signature: signed?.signature });
    },
  } satisfies OperationHandlers;
}

/** Answers that were taken over from another system have no receipt of this instance. */
async function withoutReceipt(db: Queries, { transaction }: ReadTransaction) {
  const imported = transaction.kind === 'IMPORT' && (await readImportSource(db, transaction.id));
  if (!imported) return fail('not-found', 'Only a committed transaction has a receipt.');
  const detail = 'The answers were taken over from another system, and have no receipt of this instance.';
  return fail('not-found', detail, { members: { imported } });
}

/** The receipt as pages and files for people show it. */
function shownReceipt(body: string, { withLinks }: { withLinks: boolean }): ReceiptBody {
  const receipt = JSON.parse(body) as ReceiptBody;
  return withLinks ? receipt : { ...receipt, updateUrl: undefined };
}

/** @throws Failure `not-found` with what is kept of an erased receipt, to prove a copy. */
async function requireNotErased(db: Queries, read: ReadTransaction): Promise<ReadTransaction> {
  if (!read.transaction.erasedAt) return read;
  const erased = await readErasedReceipt(db, read.transaction.id);
  if (!erased) throw noSuchTransaction();
  const { digest, kid, signedAt } = erased;
  const members = { erased: { sha256: digest, kid, timestamp: signedAt.toISOString() } };
  throw fail('not-found', 'The receipt was erased.', { members });
}

/** @throws Failure `not-acceptable` if no wanted format is available. */
function chooseType(ctx: Context, format: string | undefined, principal: Principal): string {
  const offered = isReader(principal) ? availableToReaders : available;
  const accept = ctx.get('accept') || json;
  const name = format?.toLowerCase();
  const chosen = name
    ? offered.find((type) => type === (shortNames.get(name) ?? name))
    : new Negotiator({ headers: { accept } }).mediaType([...offered, problem]);
  if (chosen === problem) return json;
  if (chosen) return chosen;
  const detail = `A receipt is available as ${offered.join(', ')}.`;
  throw fail('not-acceptable', isReader(principal) ? `${detail} ${withoutLink}` : detail);
}

/** What the event loop takes to render the page of a PDF and to recognise it, also if the PDF was kept. */
const pdfCostMs = 10;

/** Formats that are sent as files for people, with the extensions of their names. */
const extensions = { [pdf]: 'pdf', [text]: 'txt', [xml]: 'xml' } as const;
type FileType = keyof typeof extensions;

function isFileType(type: string): type is FileType {
  return Object.hasOwn(extensions, type);
}

/** Links of one person are one asker; staff and programs ask for themselves. */
function askerOf(principal: Principal, { transaction }: ReadTransaction): string {
  return isPrivileged(principal) ? principal.account : `subject:${transaction.context.subject}`;
}

/** Sends a file for people. Its only link with a token is the one in the QR code. */
async function sendReceiptFile(
  ctx: Context,
  dependencies: Dependencies,
  read: ReadTransaction,
  { body: receipt, jws }: { body: ReceiptBody; jws: string },
  wanted: { type: FileType; theme: string | undefined; asker: string },
): Promise<void> {
  const { forms, instance } = dependencies;
  const { type } = wanted;
  const page = { page: 'receipt', receipt } as const;
  if (type === xml) ctx.body = await receiptXml(receipt, `${instance.baseUrl}/assets/receipt.xsd`);
  else if (type === text)
    ctx.body = Buffer.from((await forms.renderText({ page, languages: [receipt.language] })).text);
  else {
    // Others use the place in the meantime: PDFs wait for each other.
    ctx.body = await whileIdle(ctx, () => receiptPdf(forms, read, { receipt, jws }, wanted));
    chargeFor(ctx, pdfCostMs);
  }
  const name = receiptFileName(receipt, instance, extensions[type]);
  ctx.set('Content-Disposition', `inline; filename="${name}"`);
  ctx.set('Content-Language', receipt.language);
  ctx.type = type === pdf ? type : `${type}; charset=utf-8`;
}

async function sendReceiptPage(
  ctx: Context,
  dependencies: Dependencies,
  read: ReadTransaction,
  receipt: ReceiptBody,
  wanted: { principal: Principal; theme: string | undefined; withLinks: boolean },
) {
  const { db, instance } = dependencies;
  const { transaction } = read;
  const standing = await readShownStanding(db, transaction.id);
  const related = await readRelated(db, [transaction]);
  const parts = related.parts.get(transaction.id) ?? [];
  const links = wanted.withLinks ? mintPageLinks(ctx, dependencies, read, wanted.principal) : undefined;
  await sendTransactionPage(ctx, dependencies, read, {
    page: {
      page: 'receipt',
      ...pageOf(read, instance.baseUrl, { related, links }),
      receipt,
      ...(links && { withdrawal: withdrawalChoice(links, receipt, { standing, parts }) }),
    },
    languages: [receipt.language],
    themes: [wanted.theme, transaction.layout.theme],
  });
}
