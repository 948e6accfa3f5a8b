import type { Context } from 'koa';
import { unlessMissing } from '../api/api-failure.ts';
import type { Schemas } from '../api/api-types.ts';
import { withQuery } from '../pages/filters.ts';
import { consolePath } from '../pages/navigation.ts';
import type { RoomTools } from '../pages/tools.ts';

const idPattern = /^[1-9A-HJ-NP-Za-km-z]{16,32}$/;

/** The path of a transaction's page; undefined if the text is no id of one. */
export async function transactionPath(
  ctx: Context,
  tools: RoomTools,
  text: string,
): Promise<string | undefined> {
  if (!idPattern.test(text)) return undefined;
  const found = await unlessMissing(tools.api(ctx).call('getTransaction', { params: { txid: text } }));
  return found && `${consolePath}/transactions/${text}`;
}

/** The receipt of a transaction, without its link, if there is one. @param txid as a person has typed it. */
export async function findReceipt(
  ctx: Context,
  tools: RoomTools,
  txid: string,
): Promise<Schemas['Receipt'] | undefined> {
  if (!idPattern.test(txid)) return undefined;
  return (
    await unlessMissing(tools.api(ctx).call('getReceipt', { params: { txid }, query: { links: false } }))
  )?.body;
}

const receiptsPath = `${consolePath}/receipts`;

/** The page of the console with the receipt of a transaction. */
export function receiptPath(txid: string): string {
  return withQuery(receiptsPath, { transaction: txid });
}

/** The receipt itself, as staff may read it. @param format as the API names it, such as `pdf`. */
export function receiptFilePath(txid: string, format: string): string {
  return withQuery(receiptsPath, { transaction: txid, format });
}
