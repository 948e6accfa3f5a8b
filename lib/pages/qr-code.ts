import { createRequire } from 'node:module';
import { fail } from '#lib/errors/fail.ts';

const require = createRequire(import.meta.url);
/** Loaded on first use, because most processes draw no code. */
const qrcode = () => require('qrcode') as typeof import('qrcode');

/** Width of the white margin of a QR code, in modules (ISO/IEC 18004). */
const quietZone = 4;

/**
 * A QR code as one SVG path in units of modules; null if the text is too long.
 * @param level of error correction: `M` for paper, which gets scratches and folds.
 */
export function qrImage(text: string, level: 'L' | 'M' = 'L'): { size: number; path: string } | null {
  try {
    const { modules } = qrcode().create(text, { errorCorrectionLevel: level });
    const isDark = (row: number, column: number) => Boolean(modules.get(row, column));
    return { size: modules.size + 2 * quietZone, path: modulesPath(modules.size, isDark) };
  } catch {
    return null;
  }
}

/** One rectangle for each horizontal run of dark modules. */
function modulesPath(size: number, isDark: (row: number, column: number) => boolean): string {
  const runs: string[] = [];
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const start = column;
      while (column < size && isDark(row, column)) column++;
      if (column > start)
        runs.push(`M${start + quietZone} ${row + quietZone}h${column - start}v1h-${column - start}z`);
    }
  }
  return runs.join('');
}

/** The QR code of an address as an SVG document, black on white. @throws Failure `not-available`. */
export function qrSvg(url: string): string {
  const image = qrImage(url, 'M');
  if (!image) throw fail('not-available', 'The address is too long for a QR code.');
  const { size, path } = image;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">`,
    `<rect width="100%" height="100%" fill="#fff"/><path d="${path}"/></svg>`,
  ].join('');
}

/** The same as a PNG. */
export function qrPng(url: string): Promise<Buffer> {
  return qrcode().toBuffer(url, { errorCorrectionLevel: 'M', margin: quietZone, width: 1024 });
}
