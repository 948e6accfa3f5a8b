import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type ElementType, elementTypes } from './content-fields.ts';

export type Entry = components['schemas']['Entry'];
export type Version = components['schemas']['Version'];

/** An entry, and its path in the console. */
export interface FoundElement {
  entry: Entry & { type: ElementType };
  etag?: string;
  href: string;
}

/** A version with the value for `If-Match`. */
export interface FoundVersion {
  version: Version;
  etag?: string;
}

/** The path of an element's page. */
export function hrefOf(kit: RoomKit, key: string): string {
  return `${kit.path}/${encodeURIComponent(key)}`;
}

/** The entry of the page's URL. @throws ApiFailure 404 for a layout or a deleted entry. */
export async function findElement(ctx: Context, kit: RoomKit): Promise<FoundElement> {
  const key = String(ctx.params.key);
  const { body, etag } = await kit.api(ctx).call('getModelByKey', { params: { key } });
  const type = elementTypes.find((each) => each === body.type);
  if (!type || body.status === 'DELETED') throw new ApiFailure(404, {});
  return { entry: { ...body, type }, etag, href: hrefOf(kit, key) };
}

/** The version of an entry with a status; undefined if it has none. */
export async function findVersion(
  ctx: Context,
  kit: RoomKit,
  { id, versions }: Entry,
  status: 'DRAFT' | 'ACTIVE',
): Promise<FoundVersion | undefined> {
  const vid = versions.find((each) => each.status === status)?.id;
  if (!vid) return undefined;
  const { body, etag } = await kit.api(ctx).call('getVersion', { params: { id, vid } });
  return { version: body, etag };
}
