import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** The receipt of a transaction; undefined without one. @param txid as somebody has typed it. */
export async function findReceipt(
  ctx: Context,
  kit: RoomKit,
  txid: string,
): Promise<Schemas['Receipt'] | undefined> {
  if (!/^[1-9A-HJ-NP-Za-km-z]{16,32}$/.test(txid)) return undefined;
  try {
    return (await kit.api(ctx).call('getReceipt', { params: { txid } })).body;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return undefined;
    throw error;
  }
}
