import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { OperationId } from '../../api/api-types.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type FoundElement, findElement, findVersion } from './read-element.ts';

/** An end of an element or of one of its versions, which is asked before. */
interface Ending {
  act: 'archive' | 'discard' | 'delete';
  operation: OperationId;
  /** The value for `If-Match` of what ends. @throws ApiFailure 404 if there is nothing to end. */
  etag(ctx: Context, element: FoundElement): Promise<string | undefined>;
  /** @returns the page to go on with. */
  run(ctx: Context, element: FoundElement, ifMatch: string | undefined): Promise<string>;
}

/** Archiving an element, discarding its draft, deleting it. */
export function endingRoutes(router: Router, kit: RoomKit): void {
  const endings: Ending[] = [
    {
      act: 'archive',
      operation: 'setVersionStatus',
      etag: async (ctx, { entry }) => (await findOne(ctx, kit, entry, 'ACTIVE')).etag,
      async run(ctx, { entry, href }, ifMatch) {
        const { version } = await findOne(ctx, kit, entry, 'ACTIVE');
        const params = { id: entry.id, vid: version.id };
        await kit.api(ctx).call('setVersionStatus', { params, body: { status: 'ARCHIVED' }, ifMatch });
        return href;
      },
    },
    {
      act: 'discard',
      operation: 'deleteVersion',
      etag: async (ctx, { entry }) => (await findOne(ctx, kit, entry, 'DRAFT')).etag,
      async run(ctx, { entry, href }, ifMatch) {
        const { version } = await findOne(ctx, kit, entry, 'DRAFT');
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
  for (const ending of endings) endingRoute(router, kit, ending);
}

/** @throws ApiFailure 404 if the element has no version with this status. */
async function findOne(ctx: Context, kit: RoomKit, entry: FoundElement['entry'], status: 'ACTIVE' | 'DRAFT') {
  const found = await findVersion(ctx, kit, entry, status);
  if (!found) throw new ApiFailure(404, {});
  return found;
}

function endingRoute(router: Router, kit: RoomKit, { act, operation, etag, run }: Ending): void {
  const ask = async (ctx: Context, failure?: ApiFailure) => {
    const { t } = kit.reader(ctx);
    if (!kit.may(ctx, operation)) throw new ApiFailure(403, {});
    const found = await findElement(ctx, kit);
    const form = kit.form(ctx, {
      action: `${found.href}/${act}`,
      submit: t(`elements.${act}`),
      tone: 'ending',
      cancelUrl: found.href,
      fields: [],
      failure,
      hidden: { etag: (await etag(ctx, found)) ?? '' },
    });
    const { name } = found.entry;
    const confirmation = { title: t(`${act}.title`, { name }), effects: [t(`${act}.effect`)], form };
    await kit.confirm(ctx, confirmation, failure?.status);
  };
  router.get(`/:key/${act}`, (ctx) => ask(ctx));
  router.post(`/:key/${act}`, async (ctx) => {
    const found = await findElement(ctx, kit);
    try {
      kit.open(ctx, await run(ctx, found, kit.posted(ctx).etag?.[0]), `element.${act}`);
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status === 404) throw error;
      await ask(ctx, error);
    }
  });
}
