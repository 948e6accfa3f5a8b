import { scriptOfLanguage } from '#lib/i18n/language-tag.ts';
import {
  eastAsian,
  eastAsianFamilies,
  type FontFamily,
  firstFamilies,
  otherAlphabets,
  scriptFamilies,
} from './font-families.ts';

/** The fonts of a document, which are chosen while its texts are read. */
export interface DocumentFonts {
  /** Whether a font has a glyph for a character. From then on the document uses that font. */
  hasGlyph(character: string): boolean;
  /** The families that not all documents use. */
  chosen: ReadonlySet<FontFamily>;
  /** The names of all families by preference, and those for texts in a language where they differ. */
  names(): FontNames;
}

export interface FontNames {
  all: string[];
  byLanguage: Record<string, string[]>;
}

interface Options {
  /** Languages of the document's texts. They decide how a Chinese character is drawn. */
  languages: readonly string[];
  /** All texts of the document, and possibly more. */
  text: string;
  /** Whether a family is installed and has a character. */
  covers: (family: FontFamily, codePoint: number) => boolean;
}

export function createDocumentFonts({ languages, text, covers }: Options): DocumentFonts {
  const chosen = new Set<FontFamily>();
  const known = new Map<string, boolean>();
  const own = ownFamilies(languages, text);
  const eastAsianOrder = [...new Set([...own, ...eastAsianFamilies.values()])];

  function choose(character: string): boolean {
    const codePoint = character.codePointAt(0) as number;
    const hasIt = (family: FontFamily) => covers(family, codePoint);
    if (firstFamilies.some(hasIt)) return true;
    const fitting = scriptFamilies.filter(({ draws }) => draws.test(character));
    const family = fitting.find((each) => chosen.has(each) && hasIt(each)) ?? fitting.find(hasIt);
    if (family) chosen.add(family);
    if (family ?? hasIt(otherAlphabets)) return true;
    if (!eastAsian.test(character)) return false;
    const first = eastAsianOrder.find(hasIt);
    for (const each of own) if (hasIt(each)) chosen.add(each);
    if (first) chosen.add(first);
    return first !== undefined;
  }

  function namesWith(preferred: FontFamily | undefined): string[] {
    const order = [...new Set([...(preferred ? [preferred] : []), ...eastAsianOrder])];
    const isChosen = (family: FontFamily) => chosen.has(family);
    const scripts = scriptFamilies.filter(isChosen);
    const families = [...firstFamilies, ...scripts, otherAlphabets, ...order.filter(isChosen)];
    return families.map(({ name }) => name);
  }

  return {
    chosen,
    hasGlyph(character) {
      const answer = known.get(character) ?? choose(character);
      known.set(character, answer);
      return answer;
    },
    names: () => ({
      all: namesWith(undefined),
      byLanguage: Object.fromEntries(
        languages.flatMap((language) => {
          const family = eastAsianFamilies.get(scriptOfLanguage(language) ?? '');
          return family && chosen.has(family) ? [[language, namesWith(family)]] : [];
        }),
      ),
    }),
  };
}

/** The East Asian families of a document's languages, else of the letters in its text. */
function ownFamilies(languages: readonly string[], text: string): FontFamily[] {
  const named = languages.map((language) => scriptOfLanguage(language) ?? '');
  const find = (scripts: readonly string[]) =>
    [...new Set(scripts)].flatMap((script) => eastAsianFamilies.get(script) ?? []);
  const families = find(named);
  if (families.length > 0) return families;
  return find([
    ...(/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? ['Jpan'] : []),
    ...(/\p{Script=Hangul}/u.test(text) ? ['Kore'] : []),
    ...(/\p{Script=Bopomofo}/u.test(text) ? ['Hant'] : []),
  ]);
}
