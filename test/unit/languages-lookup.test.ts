import { assert, constantFrom, property, subarray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lookupLanguage } from '#lib/i18n/match-language.ts';

describe('the language of a text is found for', () => {
  it.each([
    ['zh-TW', ['en', 'zh-Hans', 'zh-Hant'], 'zh-Hant'],
    ['zh-HK', ['en', 'zh-Hans', 'zh-Hant'], 'zh-Hant'],
    ['zh-CN', ['en', 'zh-Hant', 'zh-Hans'], 'zh-Hans'],
    ['zh-SG', ['en', 'zh-Hant', 'zh-Hans'], 'zh-Hans'],
    ['cmn-TW', ['zh-Hant'], 'zh-Hant'],
    ['zh-Hant-TW', ['zh-TW', 'zh'], 'zh-TW'],
    ['zh-TW', ['zh', 'zh-Hant'], 'zh-Hant'],
    ['zh-TW', ['zh'], 'zh'],
    ['zh', ['zh-Hant'], 'zh-Hant'],
    ['zh-TW', ['zh-Hans'], undefined],
    ['zh-TW', ['zh-CN'], undefined],
    ['no', ['nb'], 'nb'],
    ['nb-NO', ['no'], 'no'],
    ['iw', ['he'], 'he'],
    ['he-IL', ['iw'], 'iw'],
    ['tl', ['fil'], 'fil'],
    ['sr-Latn', ['sr', 'sr-Latn'], 'sr-Latn'],
    ['sr', ['sr-Latn', 'sr-Cyrl'], 'sr-Cyrl'],
    ['sr-RS', ['sr'], 'sr'],
    ['sr-Latn-RS', ['sr-Cyrl'], undefined],
    ['pt', ['pt-PT', 'pt-BR'], 'pt-BR'],
    ['pt-BR', ['pt-PT', 'pt'], 'pt'],
    ['pt-PT', ['pt', 'pt-PT'], 'pt-PT'],
    ['pt-PT', ['pt-BR'], 'pt-BR'],
    ['fr', ['fr-CA'], 'fr-CA'],
    ['fr-CH', ['fr-CA', 'fr'], 'fr'],
    ['fr-CA', ['fr', 'en'], 'fr'],
    ['de-CH-1996', ['de-CH', 'de'], 'de-CH'],
    ['EN-us', ['en-US'], 'en-US'],
    ['en-u-ca-buddhist', ['en'], 'en'],
    ['x-klingon', ['en', 'x-klingon'], 'x-klingon'],
    ['tlh', ['en'], undefined],
    ['*', ['en'], undefined],
    ['not a tag', ['en'], undefined],
    [`en-${'a'.repeat(30_000)}`, ['en'], undefined],
  ])('%.40s among %j', (wanted, available, found) => {
    expect(lookupLanguage([wanted], available)).toBe(found);
  });

  it('the wanted language that comes first, even if a later one is closer', () => {
    expect(lookupLanguage(['fr-CH', 'en'], ['en', 'fr-CA'])).toBe('fr-CA');
  });
});

const tags = ['en', 'en-GB', 'fr', 'fr-CA', 'zh', 'zh-Hant', 'zh-Hans', 'zh-TW', 'sr', 'sr-Latn', 'nb', 'he'];

it('a text in the wanted language itself is always found, and every found text exists', () => {
  const wantedTags = constantFrom(...tags, 'zh-HK', 'no', 'iw', 'pt', '*', 'garbled-');
  assert(
    property(wantedTags, subarray(tags), (wanted, available) => {
      const found = lookupLanguage([wanted], available);
      if (available.includes(wanted)) expect(found).toBe(wanted);
      if (found !== undefined) expect(available).toContain(found);
    }),
  );
});
