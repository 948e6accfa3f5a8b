/**
 * Browsers in an order in which the first that fits is right: their descriptions repeat the words of others
 * (https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/User-Agent).
 */
const browsers: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
];

const systems: typeof browsers = [
  ['Android', /\bAndroid\b/],
  ['iPad', /\biPad\b/],
  ['iPhone', /\biPhone\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];

/** Descriptions of browsers are shorter. */
const maxLength = 512;

/**
 * Browser and system, by which people recognise where they are signed in. Only words of these lists are
 * returned, so that nothing that a client sends is stored.
 * @param userAgent header of the request. @returns empty if nothing is known.
 */
export function deviceOf(userAgent: string): string {
  const text = userAgent.slice(0, maxLength);
  const found = [browsers, systems].map((list) => list.find(([, pattern]) => pattern.test(text))?.[0]);
  return found.filter((name) => name !== undefined).join(', ');
}
