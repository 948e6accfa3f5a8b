const utf8 = new TextDecoder('utf-8', { fatal: true });
const lineFeed = 0x0a;

/** Why bytes are no text. */
export const notUtf8 = 'has bytes that are not UTF-8';

/** The text of bytes in UTF-8, without a byte order mark; undefined if they are something else. */
export function textOfUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The first line that is not UTF-8, from 1; undefined if all are. */
export function lineWithoutUtf8(bytes: Uint8Array): number | undefined {
  for (let start = 0, line = 1; start < bytes.length; line += 1) {
    const found = bytes.indexOf(lineFeed, start);
    const end = found < 0 ? bytes.length : found;
    if (textOfUtf8(bytes.subarray(start, end)) === undefined) return line;
    start = end + 1;
  }
  return undefined;
}
