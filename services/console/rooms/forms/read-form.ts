import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomKit } from '../../pages/kit.ts';

export type Entry = components['schemas']['Entry'];
export type Version = components['schemas']['Version'];

/** A layout, and its path in the console. */
export interface FoundForm {
  entry: Entry;
  etag?: string;
  href: string;
}

/** A version with the value for `If-Match`. */
export interface FoundVersion {
  version: Version;
  etag?: string;
}

/** The path of the form's page. */
export function hrefOf(kit: RoomKit, key: string): string {
  return `${kit.path}/${encodeURIComponent(key)}`;
}

/** The layout of the page's URL. @throws ApiFailure 404 for a key of another type. */
export async function findForm(ctx: Context, kit: RoomKit): Promise<FoundForm> {
  const key = String(ctx.params.key);
  const { body, etag } = await kit.api(ctx).call('getModelByKey', { params: { key } });
  if (body.type !== 'layout' || body.status === 'DELETED') throw new ApiFailure(404, {});
  return { entry: body, etag, href: hrefOf(kit, key) };
}

/** The version of a form with a status; undefined if it has none. */
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

/** The draft of a form. @throws ApiFailure 404 if it has none. */
export async function findDraft(ctx: Context, kit: RoomKit, entry: Entry) {
  const draft = await findVersion(ctx, kit, entry, 'DRAFT');
  if (!draft) throw new ApiFailure(404, {});
  return draft;
}
