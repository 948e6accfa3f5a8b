import Negotiator from 'negotiator';
import { rememberByText } from '#lib/memo/remember.ts';

/**
 * RFC 4647 §3.4 lookup: shortens each wanted range, in order of preference, until it matches. Ignores `*`.
 * @returns the matching member of `available`, or undefined.
 */
export function lookupLanguage(wanted: readonly string[], available: readonly string[]): string | undefined {
  const byTag = new Map(available.map((tag) => [tag.toLowerCase(), tag]));
  for (const range of wanted) {
    // No available tag is longer, and shortening takes quadratic time.
    if (range === '*' || range.length > 35) continue;
    for (let tag = range.toLowerCase(); tag !== ''; tag = shorten(tag)) {
      const found = byTag.get(tag);
      if (found) return found;
    }
  }
  return undefined;
}

/** The languages of an Accept-Language header in order of preference, without those of q=0. */
export function acceptedLanguages(acceptLanguage: string | undefined): readonly string[] {
  return acceptLanguage ? readLanguages(acceptLanguage) : [];
}

const readLanguages = rememberByText((acceptLanguage): readonly string[] =>
  Object.freeze(new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages()),
);

/** `zh-Hant-CN` → `zh-Hant` → `zh`; removes a single-letter subtag with its successor (RFC 4647 §3.4). */
function shorten(tag: string): string {
  const cut = tag.slice(0, Math.max(0, tag.lastIndexOf('-')));
  return /-[a-z0-9]$/.test(cut) ? cut.slice(0, -2) : cut;
}
