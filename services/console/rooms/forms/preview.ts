import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { previewView } from '../../models/preview.ts';
import { type Entry, findForm, listEntries, newestVersion } from '../../models/read-model.ts';
import { sendFrame, setFramePolicy } from '../../pages/frame.ts';
import { boundEdit } from '../../pages/merge-form.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { designerFields } from './designer-view.ts';
import { readNamed } from './elements.ts';
import { findFaults, renderLayout } from './layout-faults.ts';
import { inLanguagesOf } from './layout-languages.ts';
import { type Layout, layoutOf, postedLayout } from './layout-values.ts';

/** How a version looks to people, in each language, orientation, width and colour scheme. */
export function previewRoutes(router: Router, tools: RoomTools): void {
  const show = async (ctx: Context) => {
    const { t } = tools.reader(ctx);
    const { entry, href } = await findForm(ctx, tools);
    const version = versionOf(ctx, entry);
    const layout = await readLayout(ctx, entry);
    const preview = previewView(ctx, tools, {
      path: ctx.params.vid ? `${href}/versions/${version.id}` : `${href}/preview`,
      url: `${href}/versions/${version.id}/page`,
      version: { ...version, availableLanguages: [...layout.languages] },
      orientation: layout.one('orientation') || 'VERTICAL',
    });
    const faults = await findFaults(ctx, tools, { id: entry.id, vid: version.id }, layout);
    await tools.page(ctx, 'preview', {
      title: t('preview.title', { name: entry.name }),
      text: t('preview.text', { version: version.serial ?? t('forms.draft') }),
      preview: { ...preview, frame: faults.length === 0 && preview.frame },
      faults: faults.map(({ code, detail }) => (has(ctx, code) ? t(`fault.${code}`) : detail)),
      backUrl: href,
      changesUrl: `${href}/versions/${version.id}/changes`,
      editUrl: version.status === 'DRAFT' && tools.may(ctx, 'createVersion') && `${href}/edit`,
    });
  };
  const has = (ctx: Context, code: string) => tools.reader(ctx).has(`fault.${code}`);
  router.get('/:key/preview', show);
  router.get('/:key/versions/:vid', show);

  router.get('/:key/versions/:vid/page', async (ctx) => {
    const { entry } = await findForm(ctx, tools);
    const layout = await readLayout(ctx, entry);
    const one = (name: string) => [ctx.query[name]].flat()[0] ?? '';
    const form = { id: entry.id, vid: versionOf(ctx, entry).id };
    const shown = { layout, language: one('language'), orientation: one('orientation') };
    sendFrame(ctx, { type: entry.type, html: await renderLayout(ctx, tools, form, shown) });
  });

  // What stands in the designer, in one language. Nothing is saved.
  router.post('/:key/edit/preview', async (ctx) => {
    const { entry } = await findForm(ctx, tools);
    const posted = tools.posted(ctx);
    const layout = postedLayout(posted);
    boundEdit(layout);
    const language = posted.preview?.[0] || layout.defaultLanguage;
    const form = { id: entry.id, vid: posted.draft?.[0] || newestVersion(entry)?.id };
    try {
      sendFrame(ctx, {
        type: entry.type,
        html: await renderLayout(ctx, tools, form, { layout, language }),
      });
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 422) throw error;
      await sendFaults(ctx, entry.type, { layout, failure: error });
    }
  });

  /** Says in the frame why the form cannot be shown. */
  async function sendFaults(
    ctx: Context,
    type: Entry['type'],
    { layout, failure }: { layout: Layout; failure: ApiFailure },
  ): Promise<void> {
    const reader = tools.reader(ctx);
    const fields = designerFields(reader, layout);
    const form = tools.form(ctx, { action: '', submit: '', fields, failure });
    await tools.page(ctx, 'unshown', { title: reader.t('preview.frame'), form }, failure.status);
    setFramePolicy(ctx, type);
  }

  /** The layout of the version, in the languages of what it names. */
  async function readLayout(ctx: Context, entry: Entry): Promise<Layout> {
    const params = { id: entry.id, vid: versionOf(ctx, entry).id };
    const layout = layoutOf((await tools.api(ctx).call('getVersion', { params })).body);
    const info = layout.one('info');
    const [named, information] = await Promise.all([
      readNamed(ctx, tools, layout.elements),
      listEntries(tools.api(ctx), { types: 'information', ...(info && { keys: [info] }) }),
    ]);
    const asked = information.find((each) => (info ? each.key === info : each.default));
    return inLanguagesOf(layout, named, asked?.availableLanguages);
  }
}

/** The version of the page's URL, else the draft, else the newest one. @throws ApiFailure 404 without one. */
function versionOf(ctx: Context, entry: Entry): Entry['versions'][number] {
  const { vid } = ctx.params;
  const found = vid ? entry.versions.find(({ id }) => id === vid) : newestVersion(entry);
  if (!found) throw new ApiFailure(404, {});
  return found;
}
