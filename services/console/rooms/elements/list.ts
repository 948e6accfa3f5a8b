import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { modelListRoute } from '../../models/list.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type ElementType, elementTypes } from './content-fields.ts';
import { hrefOf } from './read-element.ts';

/** The list of elements, and new ones. */
export function listRoutes(router: Router, kit: RoomKit): void {
  modelListRoute(router, kit, { words: 'elements', types: elementTypes });

  const showNew = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const { t } = reader;
    if (!kit.may(ctx, 'createModel')) throw new ApiFailure(403, {});
    const languages = await readLanguages(ctx, kit);
    const asked = [ctx.query.type].flat()[0] as ElementType;
    const form = kit.form(ctx, {
      action: `${kit.path}/new`,
      submit: t('elements.create'),
      cancelUrl: kit.path,
      fields: [
        {
          name: 'type',
          label: t('elements.type'),
          kind: 'radios',
          isRequired: true,
          options: elementTypes.map((type) => [type, t(`elements.typeText.${type}`)] as const),
        },
        {
          name: 'name',
          label: t('elements.name'),
          hint: t('elements.nameHint'),
          isRequired: true,
          maxLength: 255,
        },
        {
          name: 'languages',
          label: t('elements.languages'),
          kind: 'checks',
          hint: t('elements.languagesHint'),
          options: languages.map((each) => [each, reader.languageName(each)] as const),
        },
        { name: 'key', label: t('elements.key'), hint: t('elements.keyHint'), maxLength: 255, isCode: true },
      ],
      values: failure
        ? kit.posted(ctx)
        : { type: elementTypes.includes(asked) ? asked : 'processing', languages: languages.slice(0, 1) },
      failure,
      once: kit.once.make(),
    });
    await kit.page(ctx, 'new', { title: t('elements.new'), form }, failure?.status);
  };
  router.get('/new', (ctx) => showNew(ctx));

  router.post('/new', async (ctx) => {
    const { type = [''], name = [''], key = [''], languages = [], once } = kit.posted(ctx);
    const given = key[0]?.trim();
    const body = { type: type[0] ?? '', name: name[0]?.trim() ?? '', ...(given && { key: given }) };
    try {
      const result = await kit.once.run(once?.[0], () => createElement(ctx, kit, { body, languages }));
      if (result === 'repeated') return kit.open(ctx, kit.path, 'repeated');
      kit.open(ctx, `${hrefOf(kit, result.made.body.key)}/edit`);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showNew(ctx, error);
    }
  });
}

/** The languages of the pages; the instance's own is the first. */
async function readLanguages(ctx: Context, kit: RoomKit): Promise<string[]> {
  const { language, languages } = (await kit.api(ctx).call('getSystemConfig')).body;
  return [...new Set([language, ...languages])];
}

/** Creates an entry with an empty draft in each language, of which the editor can show a preview. */
async function createElement(
  ctx: Context,
  kit: RoomKit,
  given: { body: { type: string; name: string; key?: string }; languages: readonly string[] },
) {
  const api = kit.api(ctx);
  const offered = await readLanguages(ctx, kit);
  const chosen = offered.filter((each) => given.languages.includes(each));
  const languages = chosen.length > 0 ? chosen : offered.slice(0, 1);
  const made = await api.call('createModel', { body: given.body });
  const params = { id: made.body.id };
  const data = Object.fromEntries(languages.map((each) => [each, {}]));
  const content = { defaultLanguage: languages[0], data } as never;
  await api.call('createVersion', { params, query: { incomplete: 'true' } as never, body: content });
  return made;
}
