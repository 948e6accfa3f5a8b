import type { Context } from 'koa';
import type { Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { ReadTransaction } from '../domain/transaction.ts';
import { askerOf, readAsker } from '../presenters/asker.ts';
import { finalPage } from '../presenters/final-page.ts';
import { mintToken } from '../presenters/present-transaction.ts';
import { readFollowers } from '../queries/followers.ts';
import type { Dependencies } from './dependencies.ts';
import { readerLanguages } from './reader-languages.ts';
import { sendTransactionPage } from './send.ts';

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
