import type Router from '@koa/router';
import type { Context } from 'koa';
import { consoleLanguages } from '../../models/language-list.ts';
import { modelListRoute } from '../../models/list.ts';
import { type ElementType, type Entry, elementTypes, hrefOf } from '../../models/read-model.ts';
import {
  chosenLanguages,
  offerLanguages,
  readInformation,
  templateCards,
  templateRoutes,
} from '../../models/templates.ts';
import { fieldsFor, languageChoices, wordChoices } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';

/** The list of elements, and new ones. */
export function listRoutes(router: Router, tools: RoomTools): void {
  modelListRoute(router, tools, { words: 'elements', types: elementTypes });
  templateRoutes(router, tools, { isOffered: isElement });

  formPage(router, tools, {
    path: '/new',
    operation: 'createModel',
    view: 'begin',
    isCreating: true,
    async ask(ctx, reader) {
      const field = fieldsFor(reader, 'elements');
      const known = await readInformation(ctx, tools);
      const languages = await offeredLanguages(ctx, tools, known);
      const asked = [ctx.query.type].flat()[0] as ElementType;
      const types = wordChoices(reader, 'elements.typeText', elementTypes);
      return {
        title: reader.t('elements.new'),
        submit: reader.t('elements.create'),
        fields: [
          field('type', { kind: 'radios', isRequired: true, options: types }),
          field('name', { isRequired: true, maxLength: 255 }),
          field('languages', { kind: 'checks', options: languageChoices(reader, languages) }),
          field('key', { maxLength: 255, isCode: true }),
        ],
        values: {
          type: elementTypes.includes(asked) ? asked : 'processing',
          languages: languages.slice(0, 1),
        },
        locals: { cards: await templateCards(ctx, tools, isElement) },
      };
    },
    send(ctx, field) {
      const body = { type: field('type'), name: field('name'), ...(field('key') && { key: field('key') }) };
      return createElement(ctx, tools, body);
    },
    done: (ctx, { body }) => tools.open(ctx, `${hrefOf(tools, body.key)}/edit`),
  });
}

const isElement = (type: string) => elementTypes.some((each) => each === type);

/** Those of the instance and of what it says of itself, and those of the console. */
function offeredLanguages(ctx: Context, tools: RoomTools, known: readonly Entry[]): Promise<string[]> {
  const used = known.flatMap(({ availableLanguages }) => availableLanguages);
  return offerLanguages(ctx, tools, [...used, ...consoleLanguages]);
}

/** Creates an entry with an empty draft in each language, of which the editor can show a preview. */
async function createElement(
  ctx: Context,
  tools: RoomTools,
  entry: { type: string; name: string; key?: string },
) {
  const api = tools.api(ctx);
  const offered = await offeredLanguages(ctx, tools, await readInformation(ctx, tools));
  const languages = chosenLanguages(ctx, tools, offered);
  const made = await api.call('createModel', { body: entry });
  const params = { id: made.body.id };
  const data = Object.fromEntries(languages.map((each) => [each, {}]));
  const body = { defaultLanguage: languages[0] ?? '', data };
  await api.call('createVersion', { params, query: { incomplete: true }, body });
  return made;
}
