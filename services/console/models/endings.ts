import type Router from '@koa/router';
import type { Context } from 'koa';
import type { OperationId } from '../api/api-types.ts';
import { formPage } from '../pages/form-page.ts';
import type { RoomKit } from '../pages/kit.ts';
import type { ModelRoom } from './model-room.ts';
import { type Entry, type FoundModel, requireVersion } from './read-model.ts';

/** An end of an entry or of one of its versions, which is asked before. */
interface Ending {
  act: 'archive' | 'discard' | 'delete';
  operation: OperationId;
  /** The value for `If-Match` of what ends. @throws ApiFailure 404 if there is nothing to end. */
  etag(ctx: Context, model: FoundModel): Promise<string | undefined>;
  /** @returns the page to go on with. */
  run(ctx: Context, model: FoundModel, ifMatch: string | undefined): Promise<string>;
}

/** Archiving an entry, discarding its draft, deleting it. */
export function endingRoutes<Type extends Entry['type']>(
  router: Router,
  kit: RoomKit,
  { words, one, find }: ModelRoom<Type>,
): void {
  for (const { act, operation, etag, run } of endingsOf(kit))
    formPage(router, kit, {
      path: `/:key/${act}`,
      operation,
      async ask(ctx, { t }) {
        const found = await find(ctx, kit);
        return {
          title: t(`${act}.title`, { name: found.entry.name }),
          effects: [t(`${act}.effect`)],
          submit: t(`${words}.${act}`),
          tone: 'ending',
          cancelUrl: found.href,
          hidden: { etag: (await etag(ctx, found)) ?? '' },
        };
      },
      send: async (ctx, field) => run(ctx, await find(ctx, kit), field('etag') || undefined),
      done: (ctx, next) => kit.open(ctx, next, `${one}.${act}`),
    });
}

function endingsOf(kit: RoomKit): Ending[] {
  return [
    {
      act: 'archive',
      operation: 'setVersionStatus',
      etag: async (ctx, { entry }) => (await requireVersion(ctx, kit, entry, 'ACTIVE')).etag,
      async run(ctx, { entry, href }, ifMatch) {
        const { version } = await requireVersion(ctx, kit, entry, 'ACTIVE');
        const params = { id: entry.id, vid: version.id };
        await kit.api(ctx).call('setVersionStatus', { params, body: { status: 'ARCHIVED' }, ifMatch });
        return href;
      },
    },
    {
      act: 'discard',
      operation: 'deleteVersion',
      etag: async (ctx, { entry }) => (await requireVersion(ctx, kit, entry, 'DRAFT')).etag,
      async run(ctx, { entry, href }, ifMatch) {
        const { version } = await requireVersion(ctx, kit, entry, 'DRAFT');
        await kit.api(ctx).call('deleteVersion', { params: { id: entry.id, vid: version.id }, ifMatch });
        return href;
      },
    },
    {
      act: 'delete',
      operation: 'deleteModel',
      etag: async (_, { etag }) => etag,
      async run(ctx, { entry }, ifMatch) {
        await kit.api(ctx).call('deleteModel', { params: { id: entry.id }, ifMatch });
        return kit.path;
      },
    },
  ];
}
