/** @returns the canonical name of an IANA time zone; undefined for any other text. */
export function canonicalTimeZone(text: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
