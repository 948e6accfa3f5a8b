import { readFileSync } from 'node:fs';
import { initSync, TypstCompilerBuilder } from '@myriaddreamin/typst-ts-web-compiler';
import type { LanguageAttributes } from '#lib/pages/reader.ts';
import { readFonts } from './fonts.ts';
import { markPdfUa } from './mark-pdf-ua.ts';
import { checkSize } from './page-size.ts';
import { readPageTree } from './page-tree.ts';
import { createPrintableText } from './printable-text.ts';
import type { TypesetterProgram } from './typesetter-program.ts';

/** A receipt to render. */
export interface PdfJob {
  /** The receipt's page, rendered. */
  html: string;
  /** The signed receipt, which is attached. */
  jws: string;
  /** RFC 3339: the creation time that the document names. */
  date: string;
  /** The text at the foot of each page. */
  footer: string;
  /** The description of the attachment. */
  attachment: string;
  /** Printed at the end if characters had to be replaced. */
  replacedNote: string;
  logo?: { extension: string; body: Uint8Array };
  /** Colour of the title and of links, `#rrggbb`; darkened as far as paper needs. */
  accent?: string;
}

/** A page of a poster, in one language. */
export interface PosterSheet extends LanguageAttributes {
  organisation: string;
  asks: string;
  title: string;
  titleLanguage: Partial<LanguageAttributes>;
  text: string;
  /** What the QR code is, for people who do not see it. */
  alt: string;
  /** Until when the form can be answered; empty: it has no end. */
  until: string;
}

/** A poster to print. */
export interface PosterJob extends Pick<PdfJob, 'date' | 'logo' | 'accent'> {
  poster: { title: string; url: string; qr: string; sheets: PosterSheet[] };
}

/** A document to make. */
export type PrintJob = PdfJob | PosterJob;

export interface Typesetter {
  /**
   * The same job always gives the same bytes. @throws PageTooLong before typesetting begins, Error if a page
   * cannot be set.
   */
  render(job: PrintJob): Uint8Array;
  /** Bytes of memory in use, which never shrinks. */
  memory(): number;
}

/** The programs of the typesetter, which it reads by these names. */
const sources = ['receipt.typ', 'poster.typ', 'common.typ'];

/**
 * Starts the typesetter (Typst) with the fonts, once in a thread. It reads no file besides those given to it.
 * @param module the compiled program.
 */
export async function createTypesetter(module: TypesetterProgram): Promise<Typesetter> {
  const { memory } = initSync({ module });
  const builder = new TypstCompilerBuilder();
  builder.set_dummy_access_model();
  const fonts = readFonts();
  for (const file of fonts.files) await builder.add_raw_font(file);
  const compiler = await builder.build();
  for (const name of sources)
    compiler.add_source(`/${name}`, readFileSync(new URL(name, import.meta.url), 'utf8'));
  const printable = createPrintableText(fonts.hasGlyph);

  function compile(main: string, inputs: Record<string, string>): Uint8Array {
    try {
      return (compiler.compile(main, Object.entries(inputs), 'pdf', 1) as { result: Uint8Array }).result;
    } catch (error) {
      throw error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Sets the page with the logo, or with its alternative text if the image cannot be read. */
  function compileWith(logo: PdfJob['logo'], main: string, inputs: Record<string, string>): Uint8Array {
    if (!logo) return compile(main, { ...inputs, logo: '' });
    const path = `/logo.${logo.extension}`;
    compiler.map_shadow(path, logo.body);
    try {
      return compile(main, { ...inputs, logo: path });
    } catch {
      return compile(main, { ...inputs, logo: '' });
    } finally {
      compiler.unmap_shadow(path);
    }
  }

  function renderReceipt({ html, jws, date, footer, attachment, replacedNote, ...look }: PdfJob): Uint8Array {
    const page = readPageTree(html, printable.convert);
    const hasReplaced = printable.takeReplaced();
    checkSize(page);
    if (hasReplaced) page.content.push({ tag: 'p', children: [replacedNote] });
    const shown = { ...page, date: dateParts(date), footer: printable.convert(footer), attachment };
    const inputs = { page: JSON.stringify(shown), jws, accent: look.accent ?? '' };
    return compileWith(look.logo, '/receipt.typ', inputs);
  }

  function renderPoster({ poster: { sheets, title, ...poster }, date, ...look }: PosterJob): Uint8Array {
    const shown = {
      ...poster,
      title: printable.convert(title),
      sheets: sheets.map((sheet) => ({
        ...sheet,
        organisation: printable.convert(sheet.organisation),
        asks: printable.convert(sheet.asks),
        title: printable.convert(sheet.title),
      })),
      date: dateParts(date),
    };
    printable.takeReplaced();
    const inputs = { poster: JSON.stringify(shown), accent: look.accent ?? '' };
    return compileWith(look.logo, '/poster.typ', inputs);
  }

  return {
    memory: () => memory.buffer.byteLength,
    render: (job) => markPdfUa('poster' in job ? renderPoster(job) : renderReceipt(job)),
  };
}

function dateParts(date: string) {
  const time = new Date(date);
  return {
    year: time.getUTCFullYear(),
    month: time.getUTCMonth() + 1,
    day: time.getUTCDate(),
    hour: time.getUTCHours(),
    minute: time.getUTCMinutes(),
    second: time.getUTCSeconds(),
  };
}
