import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Fonts of all texts, by preference. All have licences that allow embedding them in documents (ADR 21). */
const textFonts = [
  import.meta.resolve('@expo-google-fonts/vazirmatn/400Regular/Vazirmatn_400Regular.ttf'),
  import.meta.resolve('@expo-google-fonts/vazirmatn/700Bold/Vazirmatn_700Bold.ttf'),
  import.meta.resolve('@expo-google-fonts/noto-emoji/400Regular/NotoEmoji_400Regular.ttf'),
  import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
];
/** The preferred font of identifiers. */
const codeFont = import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf');

/**
 * Reads the fonts of PDF documents. @returns hasGlyph: whether a font of all texts has a glyph for a
 * character.
 */
export function readFonts(): { files: Buffer[]; hasGlyph: (codePoint: number) => boolean } {
  const bodies = textFonts.map((url) => readFileSync(fileURLToPath(url)));
  const covered = new Set<number>();
  for (const body of bodies) for (const codePoint of coveredBy(body)) covered.add(codePoint);
  return {
    files: [...bodies, readFileSync(fileURLToPath(codeFont))],
    hasGlyph: (codePoint) => covered.has(codePoint),
  };
}

/**
 * The characters of a font's table `cmap` (OpenType): of its subtable of format 12 (all of Unicode) if there
 * is one, else of format 4 (the first 65,536 code points).
 */
function* coveredBy(font: Buffer): Generator<number> {
  const subtables = [...subtablesOf(font)];
  const full = subtables.find((at) => font.readUInt16BE(at) === 12);
  const basic = subtables.find((at) => font.readUInt16BE(at) === 4);
  if (full !== undefined) yield* coveredByGroups(font, full);
  else if (basic !== undefined) yield* coveredBySegments(font, basic);
}

function* subtablesOf(font: Buffer): Generator<number> {
  const tables = font.readUInt16BE(4);
  for (let record = 12; record < 12 + tables * 16; record += 16) {
    if (font.toString('latin1', record, record + 4) !== 'cmap') continue;
    const cmap = font.readUInt32BE(record + 8);
    const count = font.readUInt16BE(cmap + 2);
    for (let index = 0; index < count; index += 1) yield cmap + font.readUInt32BE(cmap + 8 + index * 8);
  }
}

function* coveredByGroups(font: Buffer, at: number): Generator<number> {
  const count = font.readUInt32BE(at + 12);
  for (let group = at + 16; group < at + 16 + count * 12; group += 12)
    yield* range(font.readUInt32BE(group), font.readUInt32BE(group + 4));
}

function* coveredBySegments(font: Buffer, at: number): Generator<number> {
  const bytes = font.readUInt16BE(at + 6);
  for (let segment = 0; segment < bytes; segment += 2) {
    const last = font.readUInt16BE(at + 14 + segment);
    // The last segment is a sentinel.
    if (last !== 0xffff) yield* range(font.readUInt16BE(at + 16 + bytes + segment), last);
  }
}

function* range(first: number, last: number): Generator<number> {
  for (let codePoint = first; codePoint <= last; codePoint += 1) yield codePoint;
}
