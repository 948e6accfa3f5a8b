import { describe, expect, it } from 'vitest';
import { isInstanceName } from '#lib/federation/instance-name.ts';
import { ownerName } from '../../services/forms/domain/peer-entry.ts';

const shown = (owner: string, own: string) =>
  ownerName({ owner, host: 'other.example', isNamesake: false }, own);

/** Each is read as "City Clinic". */
const lookAlikes: [string, string][] = [
  ['in another case', 'CITY clinic'],
  ['with a zero width space', 'City\u200b Clinic'],
  ['with a zero width joiner', 'City\u200d Clinic'],
  ['with a zero width non-joiner', 'City\u200c Clinic'],
  ['with a soft hyphen', 'City Cli\u00adnic'],
  ['with a word joiner', 'City\u2060 Clinic'],
  ['with a byte order mark', '\ufeffCity Clinic'],
  ['with a variation selector', 'City\ufe0f Clinic'],
  ['with a variation selector of the supplement', 'City\u{e0101} Clinic'],
  ['with a grapheme joiner', 'City\u034f Clinic'],
  ['with a Hangul filler', 'City\u3164Clinic'],
  ['with a half width Hangul filler', 'City\uffa0Clinic'],
  ['with an empty braille pattern', 'City\u2800Clinic'],
  ['with tags', 'City Clinic\u{e0041}'],
  ['with a Mongolian vowel separator', 'City\u180e Clinic'],
  ['with a no-break space', 'City\u00a0Clinic'],
  ['with a narrow no-break space', 'City\u202fClinic'],
  ['with two spaces', 'City  Clinic'],
  ['without a space', 'CityClinic'],
  ['in full width', 'Ｃｉｔｙ　Ｃｌｉｎｉｃ'],
  ['in mathematical letters', '𝐂𝐢𝐭𝐲 𝐂𝐥𝐢𝐧𝐢𝐜'],
  ['with a ligature and a mark', 'Cíty Clinic'],
  ['with Cyrillic letters', 'Сіtу Сlіnіс'],
  ['with Greek letters', 'City Clιnιc'],
  ['with capitals for small letters', 'City CIinic'],
  ['with digits for letters', 'C1ty Cl1nic'],
];

describe('the host is shown beside the name of a peer', () => {
  it.each(lookAlikes)('that looks like ours %s', (_how, name) => {
    expect(shown(name, 'City Clinic')).toBe(`${name} (other.example)`);
    expect(shown('City Clinic', name)).toBe('City Clinic (other.example)');
  });

  it('only if the name looks like ours', () => {
    for (const name of ['City Hospital', 'عيادة المدينة', '市立診療所', 'Городская клиника', '☂', '☀'])
      expect(shown(name, 'City Clinic')).toBe(name);
    expect(shown('☂', '☀')).toBe('☂');
    expect(shown('عيادة', 'مدينة')).toBe('عيادة');
  });
});

describe('the name of an instance', () => {
  const invisible = [
    '\u200b',
    '\u200d',
    '\u00ad',
    '\u2060',
    '\ufe0f',
    '\u034f',
    '\u3164',
    '\u2800',
    '\u{e0041}',
  ];
  it.each(invisible.map((each) => [each.codePointAt(0)?.toString(16), each]))(
    'has no U+%s',
    (_code, character) => {
      expect(isInstanceName(`City${character} Clinic`)).toBe(false);
      expect(isInstanceName(`City Clinic${character}`)).toBe(false);
    },
  );

  it.each([
    'بیمارستان‌های شهر',
    'क्‍ष अस्पताल',
    'Clinic 👩‍⚕️ ❤️',
    'Hôpital Saint-Luc',
    'St Mary’s',
    'ЗДРАВЕ',
    '東京 病院',
  ])('may be %s', (name) => expect(isInstanceName(name)).toBe(true));

  it('has at most 30 consecutive marks', () => {
    expect(isInstanceName(`a${'\u0301'.repeat(31)}`)).toBe(false);
  });
});
