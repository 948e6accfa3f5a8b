/** UTF-16 units of each part. */
const longest = 60;

/**
 * The name of a file that people keep: whose it is, what it is, and the day, in characters that every system
 * takes.
 */
export function fileName(...parts: readonly string[]): string {
  const words = parts.map((part) =>
    part
      .normalize('NFC')
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, longest)
      // Not half a character, which no header can carry.
      .replace(/\p{Cs}$/u, ''),
  );
  return [...words, new Date().toISOString().slice(0, 10)].filter(Boolean).join('-');
}
