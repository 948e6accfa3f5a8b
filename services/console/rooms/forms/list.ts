import type Router from '@koa/router';
import type { Context } from 'koa';
import { modelListRoute } from '../../models/list.ts';
import { hrefOf } from '../../models/read-model.ts';
import { offerLanguages, templateCards, templateRoutes } from '../../models/templates.ts';
import { fieldsFor } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** The list of forms, and new ones. */
export function listRoutes(router: Router, kit: RoomKit): void {
  modelListRoute(router, kit, { words: 'forms', types: ['layout'] });
  templateRoutes(router, kit, { isOffered: isForm });

  formPage(router, kit, {
    path: '/new',
    operation: 'createModel',
    view: 'begin',
    isCreating: true,
    async ask(ctx, reader) {
      const field = fieldsFor(reader, 'forms');
      const { element } = ctx.method === 'POST' ? kit.posted(ctx) : ctx.query;
      return {
        title: reader.t(element ? 'forms.newWith' : 'forms.new'),
        submit: reader.t('forms.create'),
        fields: [
          field('name', { isRequired: true, maxLength: 255 }),
          field('key', { maxLength: 255, isCode: true }),
          field('description', { kind: 'textarea', maxLength: 20_000 }),
        ],
        hidden: { element: [element].flat()[0] ?? '' },
        locals: { cards: element ? [] : await templateCards(ctx, kit, isForm) },
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
      return createForm(ctx, kit, { body, element: field('element') });
    },
    done: (ctx, { key, element }) =>
      kit.open(ctx, `${hrefOf(kit, key)}/edit`, element ? 'formMadeWith' : 'formMade'),
  });
}

/**
 * Creates a form with a draft, of which the designer can show a preview.
 * @param element it asks from the start.
 */
async function createForm(
  ctx: Context,
  kit: RoomKit,
  { body, element }: { body: { type: string; name: string }; element: string },
) {
  const api = kit.api(ctx);
  const { id, key } = (await api.call('createModel', { body })).body;
  const [language = ''] = await offerLanguages(ctx, kit, []);
  const data = { [language]: { type: 'layout', elements: element ? [element] : [] } };
  const draft = { defaultLanguage: language, data };
  await api.call('createVersion', { params: { id }, query: { incomplete: true }, body: draft });
  return { key, element };
}

const isForm = (type: string) => type === 'layout';
