import Negotiator from 'negotiator';
import { rememberByText } from '#lib/memo/remember.ts';

/** No tag that is compared is longer (RFC 5646 §4.4.1); parsing a tag takes quadratic time. */
const maxLength = 35;
/** People name a few; a header of 32 KiB has thousands. */
const maxAccepted = 100;

/** What a language tag says, with the likely subtags that it leaves out (UTS 35, "Likely Subtags"). */
interface Language {
  /** Canonical. */
  tag: string;
  language: string;
  script: string | undefined;
  region: string | undefined;
  /** Whether the tag names its region. */
  namesRegion: boolean;
  /** Whether the tag names its script, or a region which implies it. */
  namesScript: boolean;
}

/** Languages that are also called by their macrolanguage (RFC 5646 §3.1.11), unless Intl replaces them. */
const sameAs: Record<string, string> = { nb: 'no' };

/** Readers of one written Norwegian read the other, and read it better than any third language. */
const alsoReads: Record<string, string> = { nn: 'no', no: 'nn' };

const readLanguage = rememberByText((tag: string): Language => {
  try {
    const locale = new Intl.Locale(tag.length > maxLength ? '' : tag);
    const { script, region } = locale.maximize();
    return {
      tag: locale.baseName.toLowerCase(),
      language: sameAs[locale.language] ?? locale.language,
      script,
      region,
      namesRegion: locale.region !== undefined,
      namesScript: (locale.script ?? locale.region) !== undefined,
    };
  } catch {
    const lower = tag.toLowerCase();
    return {
      tag: lower,
      language: lower,
      script: undefined,
      region: undefined,
      namesRegion: false,
      namesScript: false,
    };
  }
});

/**
 * How well a text in one language serves a reader of another; 0: not at all. The order is that of RFC 4647
 * §3.4: the tag itself, then the tag without its region. Then any other region, and last a text whose tag
 * leaves the script open, or one in the other written Norwegian. Texts in another script than the wanted one
 * do not match: zh-TW is not zh-Hans.
 */
function closeness(wanted: Language, text: Language): number {
  if (wanted.tag === text.tag) return 5;
  if (wanted.language !== text.language) return alsoReads[wanted.language] === text.language ? 0.5 : 0;
  if (wanted.script !== text.script) return wanted.namesScript && text.namesScript ? 0 : 1;
  if (wanted.region === text.region) return 4;
  return text.namesRegion ? 2 : 3;
}

/**
 * Finds the text for a reader: for each wanted language, in order of preference, the closest one. Ignores
 * `*`.
 * @returns the matching member of `available`, or undefined.
 */
export function lookupLanguage(wanted: readonly string[], available: readonly string[]): string | undefined {
  const [first = ''] = wanted;
  if (available.includes(first)) return first;
  const texts = available.map((tag) => ({ tag, language: readLanguage(tag) }));
  for (const range of wanted) {
    if (range === '*') continue;
    const language = readLanguage(range);
    let best = { tag: undefined as string | undefined, closeness: 0 };
    for (const text of texts) {
      const found = closeness(language, text.language);
      if (found > best.closeness) best = { tag: text.tag, closeness: found };
    }
    if (best.tag !== undefined) return best.tag;
  }
  return undefined;
}

/** The languages of an Accept-Language header in order of preference, without those of q=0. */
export function acceptedLanguages(acceptLanguage: string | undefined): readonly string[] {
  return acceptLanguage ? readLanguages(acceptLanguage) : [];
}

const readLanguages = rememberByText((acceptLanguage): readonly string[] =>
  Object.freeze(
    new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages().slice(0, maxAccepted),
  ),
);
