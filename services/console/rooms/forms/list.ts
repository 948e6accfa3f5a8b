import type Router from '@koa/router';
import { modelListRoute } from '../../models/list.ts';
import { hrefOf } from '../../models/read-model.ts';
import { withQuery } from '../../pages/filters.ts';
import { fieldsFor } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** The list of forms, and new ones. */
export function listRoutes(router: Router, kit: RoomKit): void {
  modelListRoute(router, kit, { words: 'forms', types: ['layout'] });

  formPage(router, kit, {
    path: '/new',
    operation: 'createModel',
    view: 'form',
    isCreating: true,
    ask(ctx, reader) {
      const field = fieldsFor(reader, 'forms');
      const { element } = ctx.method === 'POST' ? kit.posted(ctx) : ctx.query;
      return {
        title: reader.t('forms.new'),
        submit: reader.t('forms.create'),
        fields: [
          field('name', { isRequired: true, maxLength: 255 }),
          field('key', { maxLength: 255, isCode: true }),
          field('description', { kind: 'textarea', maxLength: 20_000 }),
        ],
        hidden: { element: [element].flat()[0] ?? '' },
      };
    },
    async send(ctx, field) {
      const [key, description] = [field('key'), field('description')];
      const body = {
        type: 'layout',
        name: field('name'),
        ...(key && { key }),
        ...(description && { description }),
      };
      return { key: (await kit.api(ctx).call('createModel', { body })).body.key, add: field('element') };
    },
    done: (ctx, { key, add }) =>
      kit.open(ctx, withQuery(`${hrefOf(kit, key)}/edit`, { add }), add ? 'formMadeWith' : 'formMade'),
  });
}
