import { readdirSync, readFileSync } from 'node:fs';
import IntlMessageFormat from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { problemStatus } from '#lib/http/problem.ts';
import { loadCatalogues } from '#lib/pages/catalogues.ts';

const services = new URL('../../services/', import.meta.url);
const rooms = new URL('console/rooms/', services);
/** Folders with words of pages. */
const folders = [
  'forms/locales/',
  'console/pages/locales/',
  ...readdirSync(rooms, { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => `console/rooms/${name}/locales/`),
];

const readFolder = (folder: string) =>
  Object.fromEntries(
    readdirSync(new URL(folder, services)).map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(new URL(folder + file, services), 'utf8')) as Record<string, string>,
    ]),
  );
const all = folders.map((folder) => ({ folder, catalogues: readFolder(folder) }));
/** Each folder with each language but English, and both texts. */
const others = all.flatMap(({ folder, catalogues: { en = {}, ...rest } }) =>
  Object.entries(rest).map(([language, catalogue]) => ({ folder, language, catalogue, english: en })),
);

type Part = {
  type: number;
  value?: string;
  pluralType?: string;
  options?: Record<string, { value: Part[] }>;
};

/** The plural parts of a message, also those inside a choice. */
function pluralsIn(parts: Part[]): Part[] {
  return parts.flatMap((part) => [
    ...(part.pluralType ? [part] : []),
    ...Object.values(part.options ?? {}).flatMap(({ value }) => pluralsIn(value)),
  ]);
}

/** Names of all placeholders in a message, those inside plural forms included. */
function placeholders(message: string): string[] {
  const names = (parts: Part[]): string[] =>
    parts.flatMap((part) => [
      ...(part.type > 0 && part.type < 7 && part.value ? [part.value] : []),
      ...Object.values(part.options ?? {}).flatMap((option) => names(option.value)),
    ]);
  return [...new Set(names(new IntlMessageFormat(message, 'en').getAst() as Part[]))].sort();
}

describe('the words of pages', () => {
  it('exist in the same languages everywhere', () => {
    for (const { folder, catalogues } of all)
      expect(Object.keys(catalogues).sort(), folder).toEqual(['ar', 'en', 'fr']);
  });

  it.each(others)('of $folder in $language are those that exist in English', ({ catalogue, english }) => {
    expect(Object.keys(catalogue).sort()).toEqual(Object.keys(english).sort());
  });

  it.each(others)('of $folder in $language have the placeholders of English', ({ catalogue, english }) => {
    for (const [key, message] of Object.entries(catalogue)) {
      expect(placeholders(message), key).toEqual(placeholders(english[key] ?? ''));
    }
  });

  it.each(others)('of $folder in $language have every plural form', ({ language, catalogue }) => {
    const needed = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    for (const [key, message] of Object.entries(catalogue)) {
      for (const { options } of pluralsIn(new IntlMessageFormat(message, language).getAst() as Part[])) {
        const missing = needed.filter((form) => form !== 'zero' && form !== 'other' && !options?.[form]);
        // French counts in millions otherwise; no page does.
        expect(
          missing.filter((form) => !(language === 'fr' && form === 'many')),
          key,
        ).toEqual([]);
      }
    }
  });

  it('have a title and an advice for every problem', () => {
    const { en: english = {} } = readFolder('forms/locales/');
    for (const code of Object.keys(problemStatus)) {
      expect(english[`error.${code}.title`], code).toBeTruthy();
      expect(english[`error.${code}.text`], code).toBeTruthy();
    }
  });

  it('are looked up by RFC 4647, and fall back to English', () => {
    const { pick } = loadCatalogues(new URL('../../services/forms/locales/', import.meta.url));
    expect(pick('fr-CA').language).toBe('fr');
    expect(pick('AR-eg').language).toBe('ar');
    expect(pick('de').language).toBe('en');
    expect(pick('not a tag').language).toBe('en');
  });
});
