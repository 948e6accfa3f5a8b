import type Router from '@koa/router';
import { entryChoices, formPath, listEntries, readPublicForm } from '../../models/read-model.ts';
import { languageFilter } from '../../pages/filters.ts';
import { wordChoices } from '../../pages/form.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { writeSnippets } from './snippets.ts';

/** HTML first: who can change a page need not program. */
const placesOfCode = ['link', 'iframe', 'curl', 'node', 'php'] as const;

/** Code that asks a person with a form, with the addresses of this instance. */
export function codeRoutes(router: Router, tools: RoomTools): void {
  router.get('/code', async (ctx) => {
    const reader = tools.reader(ctx);
    const path = `${tools.path}/code`;
    const layouts = await listEntries(tools.api(ctx), { types: 'layout', statuses: 'ACTIVE' });
    const asked = [ctx.query.form].flat()[0];
    const entry = layouts.find(({ key }) => key === asked) ?? layouts[0];
    const filters = tools.filters(ctx, path, [
      {
        name: 'form',
        kind: 'choice',
        label: reader.t('code.form'),
        options: entryChoices(layouts),
      },
      languageFilter(reader, 'code.language', entry?.availableLanguages ?? [], reader.t('code.anyLanguage')),
      {
        name: 'place',
        kind: 'choice',
        label: reader.t('code.place'),
        options: wordChoices(reader, 'code', placesOfCode),
      },
    ]);
    const { language = '', place = 'link' } = filters.values;
    const form = entry?.key;
    const isPublic = entry !== undefined && (await readPublicForm(ctx, tools, entry)) !== undefined;
    const { baseUrl } = tools;
    const snippets = form ? writeSnippets({ baseUrl, layout: form, language, place, isPublic }) : [];
    await tools.page(ctx, 'code', {
      title: reader.t('code.title'),
      filters,
      path,
      formsUrl: '/console/forms',
      formUrl: form && formPath(form),
      addressUrl:
        form && !isPublic && (place === 'link' || place === 'iframe') && `${formPath(form)}/address`,
      needsKey: snippets.some((snippet) => snippet.place === 'server'),
      snippets: snippets.map((snippet) => ({ label: reader.t(`code.${snippet.place}`), code: snippet.code })),
    });
  });
}
