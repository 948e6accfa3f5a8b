import type Router from '@koa/router';
import type { Context } from 'koa';
import { modelListRoute } from '../../models/list.ts';
import { hrefOf } from '../../models/read-model.ts';
import { offerLanguages, templateCards, templateRoutes } from '../../models/templates.ts';
import { fieldsFor } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';

/** The list of forms, and new ones. */
export function listRoutes(router: Router, tools: RoomTools): void {
  modelListRoute(router, tools, { words: 'forms', types: ['layout'] });
  templateRoutes(router, tools, { isOffered: isForm });

  formPage(router, tools, {
    path: '/new',
    operation: 'createModel',
    view: 'begin',
    isCreating: true,
    async ask(ctx, reader) {
      const field = fieldsFor(reader, 'forms');
      const { element } = ctx.method === 'POST' ? tools.posted(ctx) : ctx.query;
      return {
        title: reader.t(element ? 'forms.newWith' : 'forms.new'),
        submit: reader.t('forms.create'),
        fields: [
          field('name', { isRequired: true, maxLength: 255 }),
          field('key', { maxLength: 255, isCode: true }),
          field('description', { kind: 'textarea', maxLength: 20_000 }),
        ],
        hidden: { element: [element].flat()[0] ?? '' },
        locals: { cards: element ? [] : await templateCards(ctx, tools, isForm) },
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
      return createForm(ctx, tools, { body, element: field('element') });
    },
    done: (ctx, { key, element }) =>
      tools.open(ctx, `${hrefOf(tools, key)}/edit`, element ? 'formMadeWith' : 'formMade'),
  });
}

/**
 * Creates a form with a draft, of which the designer can show a preview.
 * @param element it asks from the start.
 */
async function createForm(
  ctx: Context,
  tools: RoomTools,
  { body, element }: { body: { type: string; name: string }; element: string },
) {
  const api = tools.api(ctx);
  const { id, key } = (await api.call('createModel', { body })).body;
  const [language = ''] = await offerLanguages(ctx, tools, []);
  const data = { [language]: { type: 'layout', elements: element ? [element] : [] } };
  const draft = { defaultLanguage: language, data };
  await api.call('createVersion', { params: { id }, query: { incomplete: true }, body: draft });
  return { key, element };
}

const isForm = (type: string) => type === 'layout';
