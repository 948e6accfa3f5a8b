import { readFileSync } from 'node:fs';
import { initSync, TypstCompilerBuilder } from '@myriaddreamin/typst-ts-web-compiler';
import type { LanguageAttributes } from '#lib/pages/reader.ts';
import type { DocumentFonts } from './document-fonts.ts';
import { createFonts } from './fonts.ts';
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

/** A poster has characters that no font has. */
export class NotPrintable extends Error {
  characters: string;
  constructor(characters: string) {
    super(`no font has the characters ${characters}`);
    this.name = 'NotPrintable';
    this.characters = characters;
  }
}

export interface Typesetter {
  /**
   * The same job always gives the same bytes.
   * @throws PageTooLong before typesetting begins, NotPrintable for a poster, Error if a page cannot be set.
   */
  render(job: PrintJob): Promise<Uint8Array>;
  /** Bytes of memory in use besides fonts that not all documents need. It never shrinks. */
  memory(): number;
}

/** The programs of the typesetter, which it reads by these names. */
const sources = ['receipt.typ', 'poster.typ', 'common.typ'];
/** More are not named. */
const maxNamed = 20;

/**
 * Starts the typesetter (Typst), once in a thread. It reads no file besides those given to it.
 * @param module the compiled program.
 */
export async function createTypesetter(module: TypesetterProgram): Promise<Typesetter> {
  const { memory } = initSync({ module });
  const builder = new TypstCompilerBuilder();
  builder.set_dummy_access_model();
  const compiler = await builder.build();
  const fonts = await createFonts(compiler);
  for (const name of sources)
    compiler.add_source(`/${name}`, readFileSync(new URL(name, import.meta.url), 'utf8'));

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

  async function provideFonts(document: DocumentFonts): Promise<string> {
    await fonts.provide(document);
    return JSON.stringify(document.names());
  }

  async function renderReceipt({ html, jws, date, attachment, ...job }: PdfJob): Promise<Uint8Array> {
    const document = fonts.forDocument(languagesIn(html), html);
    const { convert, replaced } = createPrintableText(document.hasGlyph);
    const page = readPageTree(html, convert);
    const footer = convert(job.footer);
    checkSize(page);
    if (replaced.size > 0) page.content.push({ tag: 'p', children: [convert(job.replacedNote)] });
    const shown = { ...page, date: dateParts(date), footer, attachment };
    const inputs = { page: JSON.stringify(shown), jws, accent: job.accent ?? '' };
    return compileWith(job.logo, '/receipt.typ', { ...inputs, fonts: await provideFonts(document) });
  }

  async function renderPoster({ poster, date, ...look }: PosterJob): Promise<Uint8Array> {
    const languages = poster.sheets.flatMap(({ lang, titleLanguage }) => [lang, titleLanguage.lang]);
    const text = JSON.stringify(poster);
    const document = fonts.forDocument([...new Set(languages.filter((each) => each !== undefined))], text);
    const { convert, replaced } = createPrintableText(document.hasGlyph);
    const shown = {
      ...poster,
      title: convert(poster.title),
      sheets: poster.sheets.map((sheet) => ({
        ...sheet,
        organisation: convert(sheet.organisation),
        asks: convert(sheet.asks),
        title: convert(sheet.title),
        text: convert(sheet.text),
        until: convert(sheet.until),
      })),
      date: dateParts(date),
    };
    if (replaced.size > 0) throw new NotPrintable([...replaced].slice(0, maxNamed).join(''));
    const inputs = { poster: JSON.stringify(shown), accent: look.accent ?? '' };
    return compileWith(look.logo, '/poster.typ', { ...inputs, fonts: await provideFonts(document) });
  }

  return {
    memory: () => memory.buffer.byteLength - fonts.size(),
    render: async (job) => markPdfUa(await ('poster' in job ? renderPoster(job) : renderReceipt(job))),
  };
}

/** The languages that the texts of a page are marked with. */
function languagesIn(html: string): string[] {
  return [...new Set(Array.from(html.matchAll(/\blang="([\w-]{2,35})"/g), ([, language = '']) => language))];
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
