import { assert, constantFrom, property, subarray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptedLanguages, lookupLanguage } from '#lib/i18n/match-language.ts';

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

/** The languages of the European Union, and those of its neighbours in which the pages of people exist. */
const ofPages = 'ar bg cs da de el en es et fi fr ga hr hu it lt lv mt nb nl pl pt ro sk sl sv tr uk'.split(
  ' ',
);

describe('the language of pages is found for a browser that asks for', () => {
  it.each([
    ['', undefined],
    ['*', undefined],
    ['de', 'de'],
    ['de-DE', 'de'],
    ['de-AT,de;q=0.9', 'de'],
    ['de-CH', 'de'],
    ['gsw', undefined],
    ['gsw,de;q=0.5', 'de'],
    ['en-US,en;q=0.9', 'en'],
    ['en-GB', 'en'],
    ['fr-CA,fr;q=0.8,en;q=0.5', 'fr'],
    ['fr-BE', 'fr'],
    ['nl-BE,fr;q=0.5', 'nl'],
    ['no', 'nb'],
    ['nn', 'nb'],
    ['nn,nb;q=0.9', 'nb'],
    ['nb-NO', 'nb'],
    ['no-NO', 'nb'],
    ['da-DK', 'da'],
    ['sv-FI', 'sv'],
    ['fi-FI', 'fi'],
    ['sme,fi;q=0.3', 'fi'],
    ['et-EE', 'et'],
    ['lv-LV', 'lv'],
    ['lt-LT', 'lt'],
    ['pl-PL', 'pl'],
    ['cs-CZ', 'cs'],
    ['sk-SK', 'sk'],
    ['hu-HU', 'hu'],
    ['sl-SI', 'sl'],
    ['hr-HR', 'hr'],
    ['sr', undefined],
    ['sr-Latn', undefined],
    ['bs,hr;q=0.5', 'hr'],
    ['bg-BG', 'bg'],
    ['mk', undefined],
    ['ro-MD', 'ro'],
    ['mo', 'ro'],
    ['el-GR', 'el'],
    ['el-CY', 'el'],
    ['mt-MT', 'mt'],
    ['ga-IE', 'ga'],
    ['en-IE,ga;q=0.9', 'en'],
    ['pt-BR', 'pt'],
    ['pt-PT', 'pt'],
    ['es-419', 'es'],
    ['es-MX', 'es'],
    ['ca-ES,es;q=0.8', 'es'],
    ['gl', undefined],
    ['eu,es;q=0.1', 'es'],
    ['it-CH', 'it'],
    ['rm,de;q=0.9,it;q=0.8', 'de'],
    ['uk-UA', 'uk'],
    ['ru', undefined],
    ['ru-UA,uk;q=0.7', 'uk'],
    ['tr-TR', 'tr'],
    ['ku,tr;q=0.5', 'tr'],
    ['ar-MA', 'ar'],
    ['ar-EG', 'ar'],
    ['fa', undefined],
    ['zh-TW', undefined],
    ['zh-TW,en;q=0.1', 'en'],
    ['iw,en;q=0.5', 'en'],
    ['en;q=0,fr', 'fr'],
    ['xx-invalid,de;q=0.2', 'de'],
    ['de;q=0.1,fr;q=0.9', 'fr'],
  ])('“%s”: %s', (header, found) => {
    expect(lookupLanguage(acceptedLanguages(header), ofPages)).toBe(found);
  });
});

describe('of the languages that an organisation writes in, a reader gets', () => {
  it.each([
    [
      ['zh-Hans', 'zh-Hant', 'en'],
      { 'zh-TW': 'zh-Hant', 'zh-HK': 'zh-Hant', 'zh-SG': 'zh-Hans', fr: undefined },
    ],
    [['pt-BR', 'pt-PT'], { pt: 'pt-BR', 'pt-PT': 'pt-PT', 'pt-AO': 'pt-BR', es: undefined }],
    [['sr-Cyrl', 'sr-Latn'], { sr: 'sr-Cyrl', 'sr-ME': 'sr-Latn', sh: 'sr-Latn' }],
    [['nb', 'nn'], { no: 'nb', 'nn-NO': 'nn', 'nb-NO': 'nb', da: undefined }],
    [['nn'], { no: 'nn', nb: 'nn', 'nb-NO': 'nn' }],
    [['es', 'es-419'], { 'es-ES': 'es', 'es-419': 'es-419', ca: undefined }],
    [['fr-CA'], { fr: 'fr-CA', 'fr-FR': 'fr-CA' }],
    [['de', 'de-AT'], { 'de-CH': 'de', 'de-AT': 'de-AT' }],
    [['en-GB', 'en-US'], { 'en-AU': 'en-GB', en: 'en-US' }],
    [['zh'], { 'zh-TW': 'zh', 'zh-CN': 'zh' }],
    [['he', 'ar'], { iw: 'he', 'ar-MA': 'ar', yi: undefined }],
    [['az-Arab', 'az-Latn'], { 'az-IR': 'az-Arab', az: 'az-Latn' }],
    [['fil', 'en'], { tl: 'fil', 'en-PH': 'en' }],
  ])('%j', (available, expected) => {
    const found = Object.keys(expected).map((wanted) => [wanted, lookupLanguage([wanted], available)]);
    expect(Object.fromEntries(found)).toEqual(expected);
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
