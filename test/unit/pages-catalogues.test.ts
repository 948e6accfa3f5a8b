import { readdirSync, readFileSync } from 'node:fs';
import IntlMessageFormat from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { problemStatus } from '#lib/http/problem.ts';
import { loadCatalogues } from '../../services/forms/pages/catalogues.ts';

const folder = new URL('../../services/forms/locales/', import.meta.url);
const catalogues = Object.fromEntries(
  readdirSync(folder).map((file) => [
    file.replace('.json', ''),
    JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Record<string, string>,
  ]),
);
const english = catalogues.en as Record<string, string>;
const others = Object.entries(catalogues).filter(([language]) => language !== 'en');

type Part = { type: number; value?: string; options?: Record<string, { value: Part[] }> };

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
  it.each(others)('in %s cover every message that exists in English, and no other', (_, catalogue) => {
    expect(Object.keys(catalogue).sort()).toEqual(Object.keys(english).sort());
  });

  it.each(others)('in %s have the same placeholders as in English', (_, catalogue) => {
    for (const [key, message] of Object.entries(catalogue)) {
      expect(placeholders(message), key).toEqual(placeholders(english[key] ?? ''));
    }
  });

  it.each(others)('in %s have every plural form that the language needs', (language, catalogue) => {
    const needed = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    for (const [key, message] of Object.entries(catalogue)) {
      for (const part of new IntlMessageFormat(message, language).getAst() as Part[]) {
        if (!part.options) continue;
        const missing = needed.filter((form) => form !== 'zero' && form !== 'other' && !part.options?.[form]);
        // French counts in millions otherwise; no page does.
        expect(
          missing.filter((form) => !(language === 'fr' && form === 'many')),
          key,
        ).toEqual([]);
      }
    }
  });

  it('have a title and an advice for every problem', () => {
    for (const code of Object.keys(problemStatus)) {
      expect(english[`error.${code}.title`], code).toBeTruthy();
      expect(english[`error.${code}.text`], code).toBeTruthy();
    }
  });

  it('are looked up by RFC 4647, and fall back to English', () => {
    const { pick } = loadCatalogues();
    expect(pick('fr-CA').language).toBe('fr');
    expect(pick('AR-eg').language).toBe('ar');
    expect(pick('de').language).toBe('en');
    expect(pick('not a tag').language).toBe('en');
  });
});
