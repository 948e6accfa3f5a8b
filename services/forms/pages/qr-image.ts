import qrcode from 'qrcode';

/** A QR code as one SVG path in units of modules, with the quiet zone of four that ISO/IEC 18004 asks for. */
export interface QrImage {
  size: number;
  path: string;
}

const quietZone = 4;

/** null if the text is too long for a QR code. */
export function qrImage(text: string): QrImage | null {
  try {
    const { modules } = qrcode.create(text, { errorCorrectionLevel: 'L' });
    const isDark = (row: number, column: number) => Boolean(modules.get(row, column));
    return { size: modules.size + 2 * quietZone, path: modulesPath(modules.size, isDark) };
  } catch {
    return null;
  }
}

/** One horizontal stroke for each run of dark modules. */
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
