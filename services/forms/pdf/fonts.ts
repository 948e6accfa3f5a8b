import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type TypstCompiler, TypstFontResolverBuilder } from '@myriaddreamin/typst-ts-web-compiler';
import { createDocumentFonts, type DocumentFonts } from './document-fonts.ts';
import { codeFamily, type FontFamily, firstFamilies, otherAlphabets } from './font-families.ts';

/** The fonts that are installed. The files of a family are read when a document needs it. */
export interface Fonts {
  /** Chooses the fonts of a document (see `createDocumentFonts`). */
  forDocument(languages: readonly string[], text: string): DocumentFonts;
  /** Gives the compiler the fonts of a document, besides those that it has. */
  provide(document: DocumentFonts): Promise<void>;
  /** Bytes of the compiler's fonts that not all documents use. */
  size(): number;
}

/** A font as the compiler describes it: runs of characters without and with a glyph take turns. */
interface FontInfo {
  info: { coverage: number[] }[];
}

interface FontFile {
  path: string;
  size: number;
  info: FontInfo;
}

interface Installed {
  files: FontFile[];
  covered: ReadonlySet<number>;
}

const basicFamilies: readonly FontFamily[] = [...firstFamilies, otherAlphabets, codeFamily];

/** Gives the compiler the fonts of all documents. */
export async function createFonts(compiler: TypstCompiler): Promise<Fonts> {
  /** Families that were looked for; those that are not installed have no files. */
  const families = new Map<FontFamily, Installed>();
  const provided = new Set(basicFamilies);

  function find(family: FontFamily): Installed {
    const found = families.get(family) ?? readFamily(family);
    families.set(family, found);
    return found;
  }

  /** The compiler asks for the content of a file when it draws with it. */
  async function load(): Promise<void> {
    const builder = new TypstFontResolverBuilder();
    for (const family of provided)
      for (const { path, info } of find(family).files) builder.add_lazy_font(info, () => readFileSync(path));
    compiler.set_fonts(await builder.build());
  }

  await load();
  return {
    forDocument: (languages, text) =>
      createDocumentFonts({
        languages,
        text,
        covers: (family, codePoint) => find(family).covered.has(codePoint),
      }),
    async provide({ chosen }) {
      const before = provided.size;
      for (const family of chosen) provided.add(family);
      if (provided.size > before) await load();
    },
    size() {
      const extra = [...provided].filter((family) => !basicFamilies.includes(family));
      return extra.flatMap((family) => find(family).files).reduce((sum, { size }) => sum + size, 0);
    },
  };
}

function readFamily({ files }: FontFamily): Installed {
  let paths: string[];
  try {
    paths = files().map((url) => fileURLToPath(url));
  } catch {
    // Its package is not installed.
    return { files: [], covered: new Set() };
  }
  const reader = new TypstFontResolverBuilder();
  const read = paths.map((path): FontFile => {
    const body = readFileSync(path);
    return { path, size: body.length, info: reader.get_font_info(body) as FontInfo };
  });
  reader.free();
  // The compiler draws bold text with the bold file alone.
  const [first, ...others] = read.map(({ info }) => new Set(coveredBy(info.info[0]?.coverage ?? [])));
  const common = [...(first ?? [])].filter((each) => others.every((other) => other.has(each)));
  return { files: read, covered: new Set(common) };
}

function* coveredBy(runs: readonly number[]): Generator<number> {
  let codePoint = 0;
  for (const [index, length] of runs.entries()) {
    const end = codePoint + length;
    if (index % 2 === 1) for (let each = codePoint; each < end; each += 1) yield each;
    codePoint = end;
  }
}
