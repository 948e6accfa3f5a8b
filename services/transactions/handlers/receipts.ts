import type { Context } from 'koa';
import Negotiator from 'negotiator';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { noSuchTransaction, requireAccess } from '../domain/access.ts';
import type { ReadTransaction } from '../domain/transaction.ts';
import { linksOf, withToken } from '../domain/transaction-token.ts';
import { embeddingOf } from '../presenters/page-parts.ts';
import { mintToken } from '../presenters/transaction.ts';
import { readReceipt, type StoredReceipt } from '../queries/records.ts';
import { readTransaction } from '../queries/transactions.ts';
import type { Dependencies } from './handlers.ts';
import { sendTransactionPage } from './send.ts';

const json = 'application/json';
const jose = 'application/jose';
const html = 'text/html';
/** Short names are allowed in `format` beside media types. */
const formats: Record<string, string> = {
  json,
  jose,
  jws: jose,
  html,
  [json]: json,
  [jose]: jose,
  [html]: html,
};

/** GET /receipts/{txid}: the receipt as it was signed, or a page of it. */
export function getReceiptHandler(dependencies: Dependencies): Handler {
  const { db } = dependencies;
  return async (ctx, { params, query, principal }) => {
    const type = chooseType(ctx, query.format as string | undefined);
    const read = await readTransaction(db, params.txid ?? '');
    if (!read) throw noSuchTransaction();
    requireAccess(principal, read, 'result');
    const receipt = await readReceipt(db, read.transaction.id);
    if (!receipt) throw fail('not-found', 'There is no receipt before the transaction is committed.');
    ctx.vary('Accept');
    if (type === html)
      return sendReceiptPage(ctx, dependencies, read, receipt, {
        principal,
        theme: query.theme as string | undefined,
      });
    ctx.type = type;
    ctx.body = type === jose ? receipt.jws : receipt.body;
  };
}

/** @throws Failure `not-acceptable` for a format that is not to be had. */
function chooseType(ctx: Context, format: string | undefined): string {
  const available = [json, html, jose];
  const accept = ctx.get('accept');
  const chosen = format
    ? formats[format.toLowerCase()]
    : accept === '' ? json : new Negotiator({ headers: { accept } }).mediaType(available); // biome-ignore format: one glance
  if (!chosen) throw fail('not-acceptable', `A receipt is available as ${available.join(', ')}.`);
  return chosen;
}

async function sendReceiptPage(
  ctx: Context,
  dependencies: Dependencies,
  read: ReadTransaction,
  stored: StoredReceipt,
  wanted: { principal: Principal; theme: string | undefined },
) {
  const { forms, tokens, instance } = dependencies;
  const { transaction } = read;
  const receipt = JSON.parse(stored.body) as ReceiptBody;
  const token = mintToken(tokens, read, wanted.principal);
  const links = linksOf(instance.baseUrl, transaction.id);
  await sendTransactionPage(ctx, dependencies, read, {
    page: 'receipt',
    language: receipt.language,
    instance,
    theme: await findTheme(forms, [wanted.theme, transaction.layout.theme], receipt.language),
    embedding: embeddingOf(read),
    receipt,
    links: {
      child: transaction.context.updatable ? withToken(links.child, token) : null,
      transaction: withToken(links.transaction, token),
      formats: [json, jose].map((mediaType) => ({
        mediaType,
        url: `${withToken(links.receipt, token)}&format=${encodeURIComponent(mediaType)}`,
      })),
    },
  });
}

/** The first that there is: an unknown theme is ignored (docs/interface.md). */
async function findTheme(forms: FormsOperations, keys: (string | undefined)[], language: string) {
  for (const key of keys) {
    const theme = key ? await forms.theme({ key, language }) : null;
    if (theme) return theme;
  }
  return null;
}
