import type Router from '@koa/router';
import type { Context } from 'koa';
import type { ApiClient } from '../api/api-client.ts';
import type { OperationId } from '../api/api-types.ts';
import { formPage } from '../pages/form-page.ts';
import type { RoomKit } from '../pages/kit.ts';
import type { ModelRoom } from './model-room.ts';
import { type Entry, type FoundModel, requireVersion } from './read-model.ts';

/** An end of an entry or of one of its versions, which is asked before. */
interface Ending {
  act: 'archive' | 'discard' | 'delete';
  operation: OperationId;
  /** The version that ends; absent: the entry does. */
  status?: 'ACTIVE' | 'DRAFT';
  end(api: ApiClient, of: { id: string; vid: string; ifMatch: string | undefined }): Promise<unknown>;
}

const endings: readonly Ending[] = [
  {
    act: 'archive',
    operation: 'setVersionStatus',
    status: 'ACTIVE',
    end: (api, { ifMatch, ...params }) =>
      api.call('setVersionStatus', { params, body: { status: 'ARCHIVED' }, ifMatch }),
  },
  {
    act: 'discard',
    operation: 'deleteVersion',
    status: 'DRAFT',
    end: (api, { ifMatch, ...params }) => api.call('deleteVersion', { params, ifMatch }),
  },
  {
    act: 'delete',
    operation: 'deleteModel',
    end: (api, { id, ifMatch }) => api.call('deleteModel', { params: { id }, ifMatch }),
  },
];

/** Archiving an entry, discarding its draft, deleting it. */
export function endingRoutes<Type extends Entry['type']>(
  router: Router,
  kit: RoomKit,
  { words, one, find }: ModelRoom<Type>,
): void {
  /** @throws ApiFailure 404 if there is nothing to end. */
  const findEnding = async (ctx: Context, { entry, etag }: FoundModel, status: Ending['status']) => {
    if (!status) return { vid: '', etag };
    const found = await requireVersion(ctx, kit, entry, status);
    return { vid: found.version.id, etag: found.etag };
  };
  for (const { act, operation, status, end } of endings)
    formPage(router, kit, {
      path: `/:key/${act}`,
      operation,
      async ask(ctx, { t }) {
        const found = await find(ctx, kit);
        const { etag = '' } = await findEnding(ctx, found, status);
        return {
          title: t(`${act}.title`, { name: found.entry.name }),
          effects: [t(`${act}.effect`)],
          submit: t(`${words}.${act}`),
          tone: 'ending',
          cancelUrl: found.href,
          hidden: { etag },
        };
      },
      async send(ctx, field) {
        const found = await find(ctx, kit);
        const { vid } = await findEnding(ctx, found, status);
        await end(kit.api(ctx), { id: found.entry.id, vid, ifMatch: field('etag') || undefined });
        return act === 'delete' ? kit.path : found.href;
      },
      done: (ctx, next) => kit.open(ctx, next, `${one}.${act}`),
    });
}
