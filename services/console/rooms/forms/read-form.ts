import type { Context } from 'koa';
import { type FoundModel, findModel } from '../../models/read-model.ts';
import type { RoomKit } from '../../pages/kit.ts';

export { type Entry, type FoundVersion, findVersion, hrefOf, type Version } from '../../models/read-model.ts';

/** A layout, and its path in the console. */
export type FoundForm = FoundModel<'layout'>;

/** The layout of the page's URL. @throws ApiFailure 404 for a key of another type. */
export function findForm(ctx: Context, kit: RoomKit): Promise<FoundForm> {
  return findModel(ctx, kit, ['layout']);
}
