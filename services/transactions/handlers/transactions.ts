import type { Context } from 'koa';
import type { Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { keepColorScheme } from '#lib/pages/color-scheme.ts';
import { cancelTransaction } from '../commands/cancel-transaction.ts';
import { createTransaction, readContext } from '../commands/create-transaction.ts';
import { submitSingleStep } from '../commands/submit-single-step.ts';
import { noSuchTransaction, requireAccess } from '../domain/access.ts';
import { splitComment } from '../domain/answers.ts';
import { unknownFields } from '../domain/context-fields.ts';
import { type ReadTransaction, stateAt } from '../domain/transaction.ts';
import { linksOf, withToken } from '../domain/transaction-token.ts';
import { finalPage } from '../presenters/final-page.ts';
import { askerOf, readAsker } from '../presenters/page-parts.ts';
import { mintToken, presentContext } from '../presenters/transaction.ts';
import { readFollowers } from '../queries/parts.ts';
import { readTransaction, readTransactionWithReceipt } from '../queries/transactions.ts';
import { prefixPointers } from './filters.ts';
import type { Dependencies } from './handlers.ts';
import { readerLanguages, redirectAfterSending, sendTransaction, sendTransactionPage } from './send.ts';
import { submitDependencies } from './submit-dependencies.ts';

/** POST /consents */
export function createTransactionHandler(dependencies: Dependencies): Handler {
  const { db, forms, instance, wake } = dependencies;
  return async (ctx, { body, principal }) => {
    const context = readContext(body, principal);
    const made = await createTransaction({ db, forms, source: instance.baseUrl, wake }, context, principal);
    const warnings = unknownFields(body);
    await sendTransaction(ctx, dependencies, made, { principal, warnings }, made.created ? 201 : 200);
  };
}

type Input = OperationInput<{ context: Record<string, unknown>; values: Record<string, unknown> }>;

/** POST /consents/singlestep: create and submit at once, or nothing. */
export function submitSingleStepHandler(dependencies: Dependencies): Handler {
  return async (ctx, { body, principal }: Input) => {
    const context = prefixPointers('/context', () => readContext(body.context, principal));
    const made = await submitSingleStep(
      { ...submitDependencies(dependencies), db: dependencies.db },
      {
        context,
        ...prefixPointers('/values', () => splitComment(body.values)),
        principal,
        languages: readerLanguages(ctx, undefined, dependencies.defaultLanguage),
      },
    );
    const warnings = unknownFields(body.context).map((warning) => ({
      ...warning,
      pointer: `/context${warning.pointer}`,
    }));
    await sendTransaction(ctx, dependencies, made, { principal, warnings }, made.created ? 201 : 200);
  };
}

/** GET /consents/{txid}: the representation; a browser is led to the next task, or sees where it stands. */
export function getTransactionHandler(dependencies: Dependencies): Handler {
  const { db, tokens, instance } = dependencies;
  return async (ctx, { params, principal, mode }) => {
    const read = await readTransactionWithReceipt(db, params.txid ?? '');
    if (!read) throw noSuchTransaction();
    requireAccess(principal, read, 'result');
    if (mode === 'json') return sendTransaction(ctx, dependencies, read, { principal });
    if (stateAt(read.transaction, read.now) !== 'CREATED')
      return sendFinalPage(ctx, dependencies, read, principal);
    const { submit } = linksOf(instance.baseUrl, read.transaction.id);
    const url = withToken(submit, mintToken(tokens, read, principal));
    ctx.status = 303;
    ctx.set('Location', keepColorScheme(url, ctx.query.colorScheme));
  };
}

/** Sends the page of a transaction that nobody answers any more: committed in the language of its receipt, else in the reader's. */
export async function sendFinalPage(
  ctx: Context,
  dependencies: Dependencies,
  read: ReadTransaction & { receipt: string | null },
  principal: Principal,
): Promise<void> {
  const { db, forms, tokens, instance, defaultLanguage } = dependencies;
  const { transaction } = read;
  const receipt = read.receipt === null ? undefined : (JSON.parse(read.receipt) as ReceiptBody);
  const languages = readerLanguages(ctx, transaction.context.language, defaultLanguage);
  const language = receipt?.language ?? (languages[0] as string);
  const theme = transaction.layout.theme
    ? await forms.theme({ key: transaction.layout.theme, language })
    : null;
  const { contact, asker } = receipt
    ? askerOf(receipt.information.texts, receipt.information.lang ?? language)
    : await readAsker(forms, read, languages);
  const followers = (await readFollowers(db, [transaction])).get(transaction.id) ?? [];
  const token = mintToken(tokens, read, principal);
  await sendTransactionPage(
    ctx,
    dependencies,
    read,
    finalPage(read, { receipt, followers, contact, asker, token, language, instance, theme }),
  );
}

/** GET /consents/{txid}/context */
export function getContextHandler({ db }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const read = await readTransaction(db, params.txid ?? '');
    if (!read) throw noSuchTransaction();
    ctx.body = presentContext(read);
  };
}

/** POST /consents/{txid}/cancel */
export function cancelTransactionHandler(dependencies: Dependencies): Handler {
  const { db, instance, wake } = dependencies;
  return async (ctx, { params, principal, form, mode }) => {
    const read = await cancelTransaction(
      { db, baseUrl: instance.baseUrl, wake },
      { id: params.txid ?? '', principal },
    );
    if (form || mode === 'html') return redirectAfterSending(ctx, dependencies, read, { principal });
    return sendTransaction(ctx, dependencies, read, { principal });
  };
}
