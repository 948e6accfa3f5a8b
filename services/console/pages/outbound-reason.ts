import type { ConsoleReader } from './console-reader.ts';

/**
 * Why a call of an address outside failed, in the reader's language.
 * @param failure.text of the API, which is English: said if its code has no words.
 */
export function outboundReason(
  reader: ConsoleReader,
  { code, text }: { code: string | undefined; text: string },
): string {
  const key = `outbound.${code}`;
  return reader.has(key) ? reader.t(key, { status: /\b\d{3}\b/.exec(text)?.[0] ?? '' }) : text;
}
