import { readFileSync } from 'node:fs';
import { initSync, TypstCompilerBuilder } from '@myriaddreamin/typst-ts-web-compiler';
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

export interface Typesetter {
  /**
   * The same job always gives the same bytes. @throws PageTooLong before typesetting begins, Error if a page
   * cannot be set.
   */
  render(job: PdfJob): Uint8Array;
  /** Bytes of memory in use, which never shrinks. */
  memory(): number;
}

const main = '/receipt.typ';

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
  compiler.add_source(main, readFileSync(new URL('receipt.typ', import.meta.url), 'utf8'));
  const printable = createPrintableText(fonts.hasGlyph);

  function compile(inputs: Record<string, string>): Uint8Array {
    try {
      return (compiler.compile(main, Object.entries(inputs), 'pdf', 1) as { result: Uint8Array }).result;
    } catch (error) {
      throw error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Sets the page with the logo, or with its alternative text if the image cannot be read. */
  function compileWith(logo: NonNullable<PdfJob['logo']>, inputs: Record<string, string>): Uint8Array {
    const path = `/logo.${logo.extension}`;
    compiler.map_shadow(path, logo.body);
    try {
      return compile({ ...inputs, logo: path });
    } catch {
      return compile({ ...inputs, logo: '' });
    } finally {
      compiler.unmap_shadow(path);
    }
  }

  return {
    memory: () => memory.buffer.byteLength,
    render({ html, jws, date, footer, attachment, replacedNote, logo, accent = '' }) {
      const page = readPageTree(html, printable.convert);
      const hasReplaced = printable.takeReplaced();
      checkSize(page);
      if (hasReplaced) page.content.push({ tag: 'p', children: [replacedNote] });
      const inputs = {
        page: JSON.stringify({
          ...page,
          date: dateParts(date),
          footer: printable.convert(footer),
          attachment,
        }),
        jws,
        accent,
      };
      return markPdfUa(logo ? compileWith(logo, inputs) : compile({ ...inputs, logo: '' }));
    },
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
