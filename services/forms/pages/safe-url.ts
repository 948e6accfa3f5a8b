const allowedProtocols = new Set(['http:', 'https:', 'mailto:']);

/** The URL if a page may link to it (http, https, mailto: security.md, "Pages"), else null. */
export function safeUrl(url: string | null | undefined): string | null {
  if (!url) return null;
  try {
    const parsed = new URL(url);
    return allowedProtocols.has(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}
