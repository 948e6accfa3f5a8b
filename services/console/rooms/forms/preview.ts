import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { previewView } from '../../models/preview.ts';
import { type Entry, findForm, newestVersion } from '../../models/read-model.ts';
import { sendFrame } from '../../pages/frame.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { placeFaults } from './layout-faults.ts';
import { contentOf, type Layout, layoutOf } from './layout-values.ts';

/** How a version looks to people, in each language, orientation, width and colour scheme. */
export function previewRoutes(router: Router, kit: RoomKit): void {
  const show = async (ctx: Context) => {
    const { t } = kit.reader(ctx);
    const { entry, href } = await findForm(ctx, kit);
    const version = versionOf(ctx, entry);
    const layout = await readLayout(ctx, entry);
    const preview = previewView(ctx, kit, {
      path: ctx.params.vid ? `${href}/versions/${version.id}` : `${href}/preview`,
      url: `${href}/versions/${version.id}/page`,
      version,
      orientation: layout.one('orientation') || 'VERTICAL',
    });
    const faults = await findFaults(ctx, layout, { id: entry.id, vid: version.id, ...preview.chosen });
    await kit.page(ctx, 'preview', {
      title: t('preview.title', { name: entry.name }),
      text: t('preview.text', { version: version.serial ?? t('forms.draft') }),
      preview: { ...preview, frame: faults.length === 0 && preview.frame },
      faults,
      backUrl: href,
      changesUrl: `${href}/versions/${version.id}/changes`,
      editUrl: version.status === 'DRAFT' && kit.may(ctx, 'createVersion') && `${href}/edit`,
    });
  };
  router.get('/:key/preview', show);
  router.get('/:key/versions/:vid', show);

  router.get('/:key/versions/:vid/page', async (ctx) => {
    const { entry } = await findForm(ctx, kit);
    const layout = await readLayout(ctx, entry);
    const one = (name: string) => [ctx.query[name]].flat()[0] ?? '';
    const shown = { language: one('language'), orientation: one('orientation') };
    const page = { id: entry.id, vid: versionOf(ctx, entry).id, ...shown };
    sendFrame(ctx, { type: entry.type, html: await render(ctx, layout, page) });
  });

  async function readLayout(ctx: Context, entry: Entry): Promise<Layout> {
    const params = { id: entry.id, vid: versionOf(ctx, entry).id };
    return layoutOf((await kit.api(ctx).call('getVersion', { params })).body);
  }

  /** The page of a layout. One without elements has a page of the version alone. */
  function render(ctx: Context, layout: Layout, { id, vid, language, orientation }: Shown): Promise<string> {
    const api = kit.api(ctx);
    if (layout.elements.length === 0)
      return api.page('previewVersion', { params: { id, vid }, body: { language } });
    const layoutData = { ...contentOf(layout, language), ...(orientation && { orientation }) };
    return api.page('previewForm', { body: { layoutData, language } });
  }

  /** Why a version cannot be shown: what it names is not active any more, or not shared. */
  async function findFaults(ctx: Context, layout: Layout, page: Shown): Promise<string[]> {
    try {
      await render(ctx, layout, page);
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
  id: string;
  vid: string;
  language?: string;
  orientation?: string;
}

/** The version of the page's URL, else the draft, else the newest one. @throws ApiFailure 404 without one. */
function versionOf(ctx: Context, entry: Entry): Entry['versions'][number] {
  const { vid } = ctx.params;
  const found = vid ? entry.versions.find(({ id }) => id === vid) : newestVersion(entry);
  if (!found) throw new ApiFailure(404, {});
  return found;
}
