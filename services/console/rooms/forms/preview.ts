import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { sendFrame } from '../../models/preview-frame.ts';
import { type Entry, findForm, newestVersion } from '../../models/read-model.ts';
import { withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { placeFaults } from './layout-faults.ts';
import { contentOf, layoutOf } from './layout-values.ts';

/** How a version looks to people, in each language, width and colour scheme. */
export function previewRoutes(router: Router, kit: RoomKit): void {
  const show = async (ctx: Context) => {
    const reader = kit.reader(ctx);
    const { t } = reader;
    const { entry, href } = await findForm(ctx, kit);
    const version = versionOf(ctx, entry);
    const path = ctx.params.vid ? `${href}/versions/${version.id}` : `${href}/preview`;
    const filters = kit.filters(ctx, path, [
      {
        name: 'language',
        kind: 'choice',
        label: t('preview.language'),
        options: version.availableLanguages.map((each) => [each, reader.languageName(each)] as const),
      },
      { name: 'width', kind: 'choice', label: t('preview.width'), options: choices(t, 'wide', 'narrow') },
      { name: 'colors', kind: 'choice', label: t('preview.colors'), options: choices(t, 'light', 'dark') },
    ]);
    const chosen = { language: version.defaultLanguage, width: 'wide', colors: 'light', ...filters.values };
    const { language, width, colors } = chosen;
    const fields = filters.fields.map((field) => ({
      ...field,
      options: field.options.map((each) => ({
        ...each,
        selected: each.value === chosen[field.name as keyof typeof chosen],
      })),
    }));
    const page = { vid: version.id, language, colors };
    await kit.page(ctx, 'preview', {
      title: t('preview.title', { name: entry.name }),
      text: t('preview.text', { version: version.serial ?? t('forms.draft') }),
      filters: { fields, isSet: false },
      path,
      frame: {
        url: withQuery(`${href}/versions/${version.id}/page`, { language, colors }),
        title: t('preview.frame'),
        width,
      },
      faults: await findFaults(ctx, entry, page),
      backUrl: href,
      changesUrl: `${href}/versions/${version.id}/changes`,
      editUrl: version.status === 'DRAFT' && kit.may(ctx, 'createVersion') && `${href}/edit`,
    });
  };
  router.get('/:key/preview', show);
  router.get('/:key/versions/:vid', show);

  router.get('/:key/versions/:vid/page', async (ctx) => {
    const { entry } = await findForm(ctx, kit);
    const one = (name: string) => [ctx.query[name]].flat()[0] ?? '';
    const page = { vid: versionOf(ctx, entry).id, language: one('language'), colors: one('colors') };
    sendFrame(ctx, entry.type, await render(ctx, entry, page));
  });

  /** The page of a version. One without elements has a page of the version alone, in light colours. */
  async function render(ctx: Context, { id }: Entry, { vid, language, colors }: Shown): Promise<string> {
    const api = kit.api(ctx);
    const params = { id, vid };
    const { body: version } = await api.call('getVersion', { params });
    const layout = layoutOf(version);
    if (layout.elements.length === 0)
      return api.page('previewVersion', { params, body: { language } as never });
    const query = { colorScheme: colors } as never;
    const body = { layoutData: contentOf(layout, language), language } as never;
    return api.page('previewForm', { query, body });
  }

  /** Why a version cannot be shown: what it names is not active any more, or not shared. */
  async function findFaults(ctx: Context, entry: Entry, page: Shown): Promise<string[]> {
    try {
      await render(ctx, entry, page);
      return [];
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 422) throw error;
      const reader = kit.reader(ctx);
      return placeFaults(error.errors).map(({ code, detail }) => {
        return reader.has(`fault.${code}`) ? reader.t(`fault.${code}`) : detail;
      });
    }
  }
}

interface Shown {
  vid: string;
  language: string;
  colors: string;
}

/** The version of the page's URL, else the draft, else the newest one. @throws ApiFailure 404 without one. */
function versionOf(ctx: Context, entry: Entry): Entry['versions'][number] {
  const { vid } = ctx.params;
  const found = vid ? entry.versions.find(({ id }) => id === vid) : newestVersion(entry);
  if (!found) throw new ApiFailure(404, {});
  return found;
}

function choices(t: (key: string) => string, ...values: string[]) {
  return values.map((value) => [value, t(`preview.${value}`)] as const);
}
