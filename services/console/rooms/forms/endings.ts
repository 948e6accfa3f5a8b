import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { OperationId } from '../../api/api-types.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type FoundForm, findDraft, findForm, findVersion } from './read-form.ts';

/** An end of a form or of one of its versions, which is asked before. */
interface Ending {
  act: 'archive' | 'discard' | 'delete';
  operation: OperationId;
  /** The value for `If-Match` of what ends. @throws ApiFailure 404 if there is nothing to end. */
  etag(ctx: Context, form: FoundForm): Promise<string | undefined>;
  /** @returns the page to go on with. */
  run(ctx: Context, form: FoundForm, ifMatch: string | undefined): Promise<string>;
}

/** Archiving a form, discarding its draft, deleting it. */
export function endingRoutes(router: Router, kit: RoomKit): void {
  const endings: Ending[] = [
    {
      act: 'archive',
      operation: 'setVersionStatus',
      etag: async (ctx, { entry }) => (await findActive(ctx, kit, entry)).etag,
      async run(ctx, { entry, href }, ifMatch) {
        const { version } = await findActive(ctx, kit, entry);
        const params = { id: entry.id, vid: version.id };
        await kit.api(ctx).call('setVersionStatus', { params, body: { status: 'ARCHIVED' }, ifMatch });
        return href;
      },
    },
    {
      act: 'discard',
      operation: 'deleteVersion',
      etag: async (ctx, { entry }) => (await findDraft(ctx, kit, entry)).etag,
      async run(ctx, { entry, href }, ifMatch) {
        const { version } = await findDraft(ctx, kit, entry);
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

async function findActive(ctx: Context, kit: RoomKit, entry: FoundForm['entry']) {
  const active = await findVersion(ctx, kit, entry, 'ACTIVE');
  if (!active) throw new ApiFailure(404, {});
  return active;
}

function endingRoute(router: Router, kit: RoomKit, { act, operation, etag, run }: Ending): void {
  const ask = async (ctx: Context, failure?: ApiFailure) => {
    const { t } = kit.reader(ctx);
    if (!kit.may(ctx, operation)) throw new ApiFailure(403, {});
    const found = await findForm(ctx, kit);
    const form = kit.form(ctx, {
      action: `${found.href}/${act}`,
      submit: t(`forms.${act}`),
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
    const found = await findForm(ctx, kit);
    try {
      kit.open(ctx, await run(ctx, found, kit.posted(ctx).etag?.[0]), `form.${act}`);
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status === 404) throw error;
      await ask(ctx, error);
    }
  });
}
