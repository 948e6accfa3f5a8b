/** A URL of this instance without its origin, so that the page also works under another name of the same machine (127.0.0.1). */
export function pathOf(url: string, baseUrl: string): string {
  return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url;
}
