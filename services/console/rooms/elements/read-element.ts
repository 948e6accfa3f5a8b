import type { Context } from 'koa';
import { type FoundModel, findModel } from '../../models/read-model.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type ElementType, elementTypes } from './content-fields.ts';

export { type Entry, type FoundVersion, findVersion, hrefOf, type Version } from '../../models/read-model.ts';

/** An element, and its path in the console. */
export type FoundElement = FoundModel<ElementType>;

/** The element of the page's URL. @throws ApiFailure 404 for a layout or a deleted entry. */
export function findElement(ctx: Context, kit: RoomKit): Promise<FoundElement> {
  return findModel(ctx, kit, elementTypes);
}
