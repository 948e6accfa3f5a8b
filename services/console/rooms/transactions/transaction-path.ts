import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { consolePath } from '../../pages/navigation.ts';

const idPattern = /^[1-9A-HJ-NP-Za-km-z]{16,32}$/;

/** The path of a transaction's page; undefined if the text is no id of one. */
export async function transactionPath(ctx: Context, kit: RoomKit, text: string): Promise<string | undefined> {
  if (!idPattern.test(text)) return undefined;
  try {
    await kit.api(ctx).call('getTransaction', { params: { txid: text } });
    return `${consolePath}/transactions/${text}`;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return undefined;
    throw error;
  }
}
