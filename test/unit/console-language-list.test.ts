import { describe, expect, it } from 'vitest';
import { languageList, languageTyped } from '../../services/console/models/language-list.ts';

describe('the list of languages', () => {
  it.each([
    ['en', 'French', 'Arabic', 'Tigrinya'],
    ['fr', 'français', 'arabe', 'tigrigna'],
    ['ar', 'الفرنسية', 'العربية', 'التغرينية'],
  ])('has names in %s, each once', (reader, ...names) => {
    const list = languageList(reader);
    expect(list).toEqual(expect.arrayContaining(names));
    expect(list.length).toBeGreaterThan(150);
    expect(new Set(list).size).toBe(list.length);
  });

  it('leads from every name back to a language with that name, in each language of the console', () => {
    for (const reader of ['en', 'fr', 'ar']) {
      const names = new Intl.DisplayNames(reader, { type: 'language' });
      for (const name of languageList(reader)) {
        const tag = languageTyped(name) ?? '';
        expect(tag, name).toMatch(/^[a-z]{2}$/);
        expect(
          ['en', 'fr', 'ar']
            .map((each) => new Intl.DisplayNames(each, { type: 'language' }).of(tag))
            .concat(names.of(tag) ?? ''),
          name,
        ).toContain(name);
      }
    }
  });

  it.each([
    ['French', 'fr'],
    [' franÇais ', 'fr'],
    ['fr', 'fr'],
    ['PT-br', 'pt-BR'],
    ['gsw', 'gsw'],
    ['Frensh', undefined],
    ['fr_FR', undefined],
    ['', undefined],
  ])('takes a name or a tag: %j', (typed, tag) => {
    expect(languageTyped(typed)).toBe(tag);
  });
});
