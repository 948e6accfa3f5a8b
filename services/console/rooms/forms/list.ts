import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { modelListRoute } from '../../models/list.ts';
import { withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { hrefOf } from './read-form.ts';

/** The list of forms, and new ones. */
export function listRoutes(router: Router, kit: RoomKit): void {
  modelListRoute(router, kit, { words: 'forms', types: ['layout'] });

  const showNew = async (ctx: Context, failure?: ApiFailure) => {
    const { t } = kit.reader(ctx);
    if (!kit.may(ctx, 'createModel')) throw new ApiFailure(403, {});
    const form = kit.form(ctx, {
      action: `${kit.path}/new`,
      submit: t('forms.create'),
      cancelUrl: kit.path,
      fields: [
        { name: 'name', label: t('forms.name'), hint: t('forms.nameHint'), isRequired: true, maxLength: 255 },
        { name: 'key', label: t('forms.key'), hint: t('forms.keyHint'), maxLength: 255, isCode: true },
        { name: 'description', label: t('forms.description'), kind: 'textarea', maxLength: 20_000 },
      ],
      values: failure && kit.posted(ctx),
      failure,
      once: kit.once.make(),
      hidden: { element: [(failure ? kit.posted(ctx) : ctx.query).element].flat()[0] ?? '' },
    });
    await kit.page(ctx, 'new', { title: t('forms.new'), form }, failure?.status);
  };
  router.get('/new', (ctx) => showNew(ctx));

  router.post('/new', async (ctx) => {
    const values = kit.posted(ctx);
    const [name = '', key = '', description = ''] = ['name', 'key', 'description'].map((each) =>
      values[each]?.[0]?.trim(),
    );
    try {
      const body = { type: 'layout', name, ...(key && { key }), ...(description && { description }) };
      const result = await kit.once.run(values.once?.[0], () => kit.api(ctx).call('createModel', { body }));
      if (result === 'repeated') return kit.open(ctx, kit.path, 'repeated');
      const add = values.element?.[0];
      const path = withQuery(`${hrefOf(kit, result.made.body.key)}/edit`, { add });
      kit.open(ctx, path, add ? 'formMadeWith' : 'formMade');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showNew(ctx, error);
    }
  });
}
