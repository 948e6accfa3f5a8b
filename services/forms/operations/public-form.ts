import type { EntryPage } from '#lib/contracts/pages.ts';
import { type PublicForm, publicFormUrl } from '#lib/contracts/public-forms.ts';
import { fail } from '#lib/errors/fail.ts';
import { qrSvg } from '#lib/pages/qr-code.ts';
import { endOfDay } from '#lib/text/timestamp.ts';
import { findModel, findVersion } from '../commands/model-access.ts';
import type { LayoutContent } from '../domain/content/layout.ts';
import { contentIn, type Version } from '../domain/model.ts';
import type { EntryModel } from '../pages/page-model.ts';
import type { FormsContext } from './context.ts';
import { completePage } from './render-page.ts';
import { readAccent, readImage } from './render-receipt-pdf.ts';
import { createResolveLayout } from './resolve-layout.ts';

/** What staff print of a form with an address of its own. */
export interface PublicForms {
  /** The address of a form. @param id entry id of the layout. @throws Failure `not-found` without one. */
  find(id: string): Promise<{ key: string; url: string }>;
  /**
   * A poster with the address: a tagged PDF, with a page for each language of the layout.
   * @throws Failure `not-found`, and of `PdfRenderer.render`.
   */
  poster(id: string, asker: string): Promise<{ key: string; pdf: Buffer }>;
}

interface Found {
  key: string;
  url: string;
  form: PublicForm;
  version: Version;
}

export function createPublicForms(context: FormsContext): PublicForms {
  const { db, instance, renderer, pdf, consolePath } = context;
  const resolveLayout = createResolveLayout(context);

  async function find(id: string): Promise<Found> {
    const entry = await findModel(db, id);
    const version = entry.activeVersion
      ? await findVersion(db, { model: entry.id, version: entry.activeVersion })
      : undefined;
    const form =
      entry.type === 'layout' && version
        ? contentIn<LayoutContent>(version.data, version.defaultLanguage).public
        : undefined;
    if (!version || !form) throw fail('not-found', 'The form has no address of its own.');
    return { key: entry.key, url: publicFormUrl(instance.baseUrl, entry.key), form, version };
  }

  async function draw({ key, url, form, version }: Found): Promise<EntryModel[]> {
    const { layout } = await resolveLayout({ layout: key });
    const until = form.until && new Date(endOfDay(form.until, instance.timeZone).getTime() - 1).toISOString();
    const { identify } = form;
    const page: EntryPage = {
      page: 'entry',
      key,
      layout,
      identify,
      url,
      isOver: false,
      ...(until && { until }),
    };
    const { defaultLanguage } = version;
    const others = Object.keys(version.data).filter((language) => language !== defaultLanguage);
    return Promise.all(
      [defaultLanguage, ...others].map(async (language) => {
        const options = { languages: [language], themes: [layout.theme] };
        return { ...(await completePage(context, page, options)), consolePath };
      }),
    );
  }

  return {
    async find(id) {
      const { key, url } = await find(id);
      return { key, url };
    },
    async poster(id, asker) {
      const found = await find(id);
      const pages = await draw(found);
      const [sheet, ...others] = pages.map(renderer.posterSheet);
      const theme = pages[0]?.theme ?? null;
      if (!sheet) throw fail('not-found', 'The form has no language.');
      const job = {
        poster: {
          title: `${sheet.organisation}: ${sheet.title}`,
          url: found.url,
          qr: qrSvg(found.url),
          sheets: [sheet, ...others],
        },
        date: found.version.createdAt.toISOString(),
        logo: await readImage(context, theme),
        accent: await readAccent(context, theme),
      };
      return { key: found.key, pdf: await pdf.render(job, asker) };
    },
  };
}
