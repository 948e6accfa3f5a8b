const protocols = new Set(['http:', 'https:', 'mailto:']);

/** The URL if a page may link to it (security.md, "Pages"): http, https or mailto, without credentials; else null. */
export function safeUrl(url: string | null | undefined): string | null {
  const parsed = url ? URL.parse(url) : null;
  if (!parsed || !protocols.has(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
    return null;
  return parsed.href;
}
