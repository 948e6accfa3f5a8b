import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageTheme } from '#lib/contracts/page-base.ts';
import { isEntryId } from '../domain/identifiers.ts';
import { themeAccent } from '../domain/theme-accent.ts';
import { tooLong } from '../pdf/pdf-renderer.ts';
import type { PdfJob } from '../pdf/typesetter.ts';
import { readLogo, readThemeCss } from '../queries/theme-files.ts';
import type { FormsContext } from './context.ts';
import { completePage } from './render-page.ts';

/**
 * Maximum length of a page that is rendered as PDF: about 250 sheets, which take 2 s and 150 MB.
 * Time and memory grow faster than the text.
 */
const maxPdfHtml = 750_000;

/** The internal operation `renderReceiptPdf`. */
export function createRenderReceiptPdf(context: FormsContext): FormsOperations['renderReceiptPdf'] {
  const { renderer, pdf } = context;
  return async ({ page, jws, asker, ...options }) => {
    const model = await completePage(context, page, options);
    const { receipt } = model;
    const html = await renderer.renderInTurns(model);
    if (html.length > maxPdfHtml) throw tooLong();
    const words = renderer.paperWords(model);
    const job: PdfJob = {
      html,
      jws,
      date: receipt.timestamp,
      footer: `${receipt.collector.name} · ${receipt.receiptId}`,
      ...words,
      logo: await readImage(context, model.theme),
      accent: await readAccent(context, model.theme),
    };
    return { pdf: (await pdf.render(job, asker)).toString('base64') };
  };
}

/** The image of a theme's logo, else of the instance's; undefined if neither has one. */
export async function readImage(
  { db, instance }: FormsContext,
  theme: PageTheme | null,
): Promise<PdfJob['logo']> {
  const id = (theme?.logo?.url ?? instance.logo ?? '').split('/').at(-1) ?? '';
  const logo = isEntryId(id) ? await readLogo(db, id) : undefined;
  return logo && { extension: logo.mediaType.slice('image/'.length), body: logo.body };
}

/** The accent colour of a theme; undefined if it has none. */
export async function readAccent({ db }: FormsContext, theme: PageTheme | null): Promise<PdfJob['accent']> {
  return theme ? themeAccent((await readThemeCss(db, theme.key, theme.serial)) ?? '') : undefined;
}
