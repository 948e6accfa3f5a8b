import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';

const letters = Array.from('abcdefghijklmnopqrstuvwxyz');
/** Languages with a tag of two letters that the platform knows (ISO 639-1), without outdated ones. */
const tags = letters
  .flatMap((first) => letters.map((second) => first + second))
  .filter((tag) => canonicalLanguageTag(tag) === tag && namesIn('en').of(tag) !== undefined);

/** The languages of the console, in which the name of a language may be typed. */
export const consoleLanguages = ['en', 'fr', 'ar'] as const;

function namesIn(reader: string): Intl.DisplayNames {
  return new Intl.DisplayNames(reader, { type: 'language', fallback: 'none' });
}

/** Tags of languages, sorted by their names in the language of a reader, with one that is used already. */
export function languageTags(reader: string, used = ''): readonly string[] {
  const names = namesIn(reader);
  const nameOf = (tag: string) => names.of(tag) ?? tag;
  const { compare } = new Intl.Collator(reader);
  // A macrolanguage may have the name of its usual variety.
  const once = new Map(tags.map((tag) => [nameOf(tag), tag]));
  return [...new Set([...once.values(), used])]
    .filter(Boolean)
    .toSorted((one, other) => compare(nameOf(one), nameOf(other)));
}

const lists = new Map<string, readonly string[]>();

/** The names of languages in the language of a reader, sorted. */
export function languageList(reader: string): readonly string[] {
  let list = lists.get(reader);
  if (!list) {
    const names = namesIn(reader);
    // A macrolanguage may have the name of its usual variety.
    const all = new Set(tags.flatMap((tag) => names.of(tag) ?? []));
    list = [...all].toSorted(new Intl.Collator(reader).compare);
    lists.set(reader, list);
  }
  return list;
}

/** A mistyped name may have the shape of a tag of more letters. */
const tagShape = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i;

let byName: ReadonlyMap<string, string> | undefined;

/** The tag of a language that was typed: by its name in a language of the console, or as its tag. */
export function languageTyped(typed: string): string | undefined {
  byName ??= new Map(
    consoleLanguages.flatMap((reader) => {
      const names = namesIn(reader);
      return tags.map((tag) => [(names.of(tag) ?? '').toLocaleLowerCase(reader), tag] as const);
    }),
  );
  const text = typed.trim();
  return byName.get(text.toLowerCase()) ?? (tagShape.test(text) ? canonicalLanguageTag(text) : undefined);
}
