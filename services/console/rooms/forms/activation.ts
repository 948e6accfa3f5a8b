import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { compareLayouts } from './compare-layouts.ts';
import { failureOfDesigner } from './layout-faults.ts';
import { layoutOf } from './layout-values.ts';
import { findDraft, findForm, findVersion } from './read-form.ts';

/** Activating a draft: what it changes, what forbids it, and what follows. */
export function activationRoutes(router: Router, kit: RoomKit): void {
  const show = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const { t } = reader;
    if (!kit.may(ctx, 'setVersionStatus')) throw new ApiFailure(403, {});
    const { entry, href } = await findForm(ctx, kit);
    const [draft, active] = await Promise.all([
      findDraft(ctx, kit, entry),
      findVersion(ctx, kit, entry, 'ACTIVE'),
    ]);
    const params = { id: entry.id, vid: draft.version.id };
    const { body: check } = await kit.api(ctx).call('checkVersion', { params });
    const given =
      failure ?? (check.faults.length > 0 ? new ApiFailure(422, { errors: check.faults }) : undefined);
    const form = kit.form(ctx, {
      action: `${href}/activate`,
      submit: t('forms.activate'),
      cancelUrl: href,
      fields: [],
      failure: given && failureOfDesigner(given),
      hidden: { draft: draft.version.id, etag: draft.etag ?? '' },
    });
    const before = active && layoutOf(active.version);
    const locals = {
      title: t('activate.title', { name: entry.name }),
      form,
      isReady: check.faults.length === 0,
      effects: [t(active ? 'activate.next' : 'activate.first'), ...(active ? [t('activate.open')] : [])],
      isFirst: !active,
      differences: compareLayouts(reader, before, layoutOf(draft.version)),
      editUrl: `${href}/edit`,
    };
    await kit.page(ctx, 'activate', locals, failure?.status);
  };
  router.get('/:key/activate', (ctx) => show(ctx));

  router.post('/:key/activate', async (ctx) => {
    const { draft = [''], etag } = kit.posted(ctx);
    const { entry, href } = await findForm(ctx, kit);
    try {
      await kit.api(ctx).call('setVersionStatus', {
        params: { id: entry.id, vid: draft[0] ?? '' },
        body: { status: 'ACTIVE' },
        ifMatch: etag?.[0],
      });
      // A form that can be used for the first time is of no use without the code.
      const isFirst = !entry.versions.some(({ serial }) => serial);
      const next = isFirst ? withQuery('/console/integration/code', { form: entry.key }) : href;
      kit.open(ctx, next, 'formActivated');
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status === 404) throw error;
      await show(ctx, error);
    }
  });
}
