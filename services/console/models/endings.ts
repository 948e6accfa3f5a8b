import type Router from '@koa/router';
import type { Context } from 'koa';
import type { ApiClient } from '../api/api-client.ts';
import { fieldFailure } from '../api/api-failure.ts';
import type { OperationId } from '../api/api-types.ts';
import { type AskedForm, formPage } from '../pages/form-page.ts';
import type { RoomTools } from '../pages/tools.ts';
import type { ModelRoom } from './model-room.ts';
import { type Entry, type FoundModel, requireVersion } from './read-model.ts';

/** What follows from an end for people and forms, beside its usual sentence. */
export type EndingText = Pick<AskedForm, 'effects' | 'links' | 'isBarred'>;

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

/** Whether the key must be typed before an entry is deleted: people may have answered what was active. */
function mustTypeKey({ versions }: Entry, act: Ending['act']): boolean {
  return act === 'delete' && versions.some(({ serial }) => serial);
}

/** Archiving an entry, discarding its draft, deleting it. */
export function endingRoutes<Type extends Entry['type']>(
  router: Router,
  tools: RoomTools,
  { words, one, find, describeEnding }: ModelRoom<Type>,
): void {
  /** @throws ApiFailure 404 if there is nothing to end. */
  const findEnding = async (ctx: Context, { entry, etag }: FoundModel, status: Ending['status']) => {
    if (!status) return { vid: '', etag };
    const found = await requireVersion(ctx, tools, entry, status);
    return { vid: found.version.id, etag: found.etag };
  };
  for (const { act, operation, status, end } of endings)
    formPage(router, tools, {
      path: `/:key/${act}`,
      operation,
      words: `${words}.${act}`,
      isEnding: true,
      async ask(ctx, { t }) {
        const found = await find(ctx, tools);
        const { entry } = found;
        const { etag = '' } = await findEnding(ctx, found, status);
        const typed = { name: 'typed', label: t('endings.typeKey', { key: entry.key }) };
        return {
          ...(await describeEnding?.(ctx, tools, { act, entry })),
          name: entry.name,
          fields: mustTypeKey(entry, act) ? [{ ...typed, isRequired: true, isCode: true }] : [],
          hidden: { etag },
        };
      },
      async send(ctx, field) {
        const found = await find(ctx, tools);
        const { id, key } = found.entry;
        if (mustTypeKey(found.entry, act) && field('typed') !== key)
          throw fieldFailure('typed', 'not-the-key');
        const { vid } = await findEnding(ctx, found, status);
        await end(tools.api(ctx), { id, vid, ifMatch: field('etag') || undefined });
        return act === 'delete' ? tools.path : found.href;
      },
      done: (ctx, next) => tools.open(ctx, next, `${one}.${act}`),
    });
}
