type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/**
 * Names of units in languages for which the platform (Node.js 24, ICU 77) has abbreviations alone: `2 y` for
 * two years in Maltese, where `m` would be a month or a minute.
 */
const units: Readonly<Record<string, Readonly<Record<string, Forms>>>> = {
  mt: {
    year: { one: 'sena', two: 'snin', few: 'snin', many: 'il sena', other: 'sena' },
    month: { one: 'xahar', two: 'xhur', few: 'xhur', many: 'il xahar', other: 'xahar' },
    week: { one: 'ġimgħa', two: 'ġimgħat', few: 'ġimgħat', many: 'il ġimgħa', other: 'ġimgħa' },
    day: { one: 'jum', two: 'jiem', few: 'jiem', many: 'il jum', other: 'jum' },
    hour: { one: 'siegħa', two: 'sigħat', few: 'sigħat', many: 'il siegħa', other: 'siegħa' },
    minute: { one: 'minuta', two: 'minuti', few: 'minuti', many: 'il minuta', other: 'minuta' },
    second: { one: 'sekonda', two: 'sekondi', few: 'sekondi', many: 'il sekonda', other: 'sekonda' },
  },
  ga: {
    year: { one: 'bhliain', two: 'bhliain', few: 'bliana', many: 'mbliana', other: 'bliain' },
    month: { one: 'mhí', two: 'mhí', few: 'mhí', many: 'mí', other: 'mí' },
    week: { two: 'sheachtain', few: 'seachtaine', many: 'seachtaine', other: 'seachtain' },
    day: { other: 'lá' },
    hour: { few: 'huaire', many: 'n-uaire', other: 'uair' },
    minute: { other: 'nóiméad' },
    second: { two: 'shoicind', few: 'shoicind', other: 'soicind' },
  },
};

/** `11`, `year` in Maltese → `11-il sena`. @returns undefined where the platform has the names of units. */
export function ownQuantity(language: string, value: number, unit: string): string | undefined {
  const forms = units[language]?.[unit];
  if (!forms) return undefined;
  const form = forms[new Intl.PluralRules(language).select(value)] ?? forms.other;
  const number = new Intl.NumberFormat(language).format(value);
  return `${number}${form.startsWith('il ') ? '-' : '\u00a0'}${form}`;
}
