import { assert, constantFrom, dictionary, option, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  defaultSettings,
  type GivenSettings,
  pinnedBy,
  planSettings,
  readSetting,
  resolveSettings,
  type SettingName,
  settingNames,
  settingVariables,
} from '#lib/config/instance-settings.ts';

const defaults = defaultSettings('consent.example.org', false);
const pinnable = settingNames.filter((name) => settingVariables[name] !== null);
const value = constantFrom('A', 'B', ...Object.values(defaults).filter((each) => each !== null));
const given = (names: readonly SettingName[]) => dictionary(constantFrom(...names), value);
const sources = record({ pinned: given(pinnable), stored: given(settingNames) });
const change = dictionary(constantFrom(...settingNames), option(value));

describe('a setting of the instance', () => {
  it('is what the environment says, else the database, else the default', () => {
    assert(
      property(sources, ({ pinned, stored }) => {
        const resolved = resolveSettings({ pinned, stored, defaults });
        for (const name of settingNames)
          expect(resolved[name]).toBe(pinned[name] ?? stored[name] ?? defaults[name]);
      }),
    );
  });

  it('that is not sent keeps its value, whatever the others become', () => {
    assert(
      property(sources, change, (from, sent) => {
        const all = { ...from, defaults };
        const { stored } = planSettings(sent, all);
        const [before, after] = [resolveSettings(all), resolveSettings({ ...all, stored })];
        for (const name of settingNames.filter((each) => !(each in sent)))
          expect(after[name]).toBe(before[name]);
      }),
    );
  });

  it('that is sent is in force afterwards, unless the environment pins another value, which is a fault', () => {
    assert(
      property(sources, change, (from, sent) => {
        const all = { ...from, defaults };
        const { stored, changes, faults } = planSettings(sent, all);
        const [before, after] = [resolveSettings(all), resolveSettings({ ...all, stored })];
        for (const [name, wanted] of Object.entries(sent) as [SettingName, string | null][]) {
          const isPinned = from.pinned[name] !== undefined;
          if (!isPinned) expect(after[name]).toBe(wanted ?? defaults[name]);
          const isFault = isPinned && wanted !== null && wanted !== from.pinned[name];
          expect(faults.some((fault) => fault.name === name)).toBe(isFault);
        }
        expect(changes.map(({ name }) => name)).toEqual(
          settingNames.filter((name) => before[name] !== after[name]),
        );
      }),
    );
  });

  it('can be sent back as it was read, and nothing changes', () => {
    assert(
      property(sources, (from) => {
        const all = { ...from, defaults };
        const { changes, faults } = planSettings(resolveSettings(all), all);
        expect([changes, faults]).toEqual([[], []]);
      }),
    );
  });

  it('that has the value of its default is not stored, so that it follows the default', () => {
    assert(
      property(sources, change, (from, sent) => {
        const { stored } = planSettings(sent, { pinned: {}, stored: from.stored, defaults });
        for (const name of Object.keys(sent) as SettingName[]) expect(stored[name]).not.toBe(defaults[name]);
      }),
    );
  });

  it('is pinned by its variable of the environment, and by no other', () => {
    expect(pinnedBy({ MAIL_FROM: 'a@b.org', INSTANCE_NAME: undefined, PORT: 8080 })).toEqual({
      mailFrom: 'a@b.org',
    } satisfies GivenSettings);
  });
});

describe('the value of a setting', () => {
  it.each([
    ['name', ' Cafe\u0301 ', 'Café'],
    ['language', 'FR-ca', 'fr-CA'],
    ['timeZone', 'europe/paris', 'Europe/Paris'],
    [
      'logo',
      '/assets/logos/0197a1f3-0d1c-7c52-8a57-0c9d2c3c9a10',
      '/assets/logos/0197a1f3-0d1c-7c52-8a57-0c9d2c3c9a10',
    ],
    ['mailFrom', 'Théâtre <consent@example.org>', 'Théâtre <consent@example.org>'],
    ['auditRetention', 'p180d', 'P180D'],
    ['recordRetention', 'P1Y6M', 'P1Y6M'],
  ] as const)('%s %j is %j', (name, text, expected) => {
    expect(readSetting(name, text)).toEqual({ value: expected });
  });

  it.each([
    ['name', '\u202eAccord'],
    ['name', 'x'.repeat(256)],
    ['language', 'not a language'],
    ['timeZone', 'Europe/Nowhere'],
    ['logo', 'https://example.org/logo.png'],
    ['logo', '/assets/logos/../../keys'],
    ['mailFrom', 'Accord'],
    ['mailFrom', 'a@b.org\r\nBcc: all@b.org'],
    ['mailFrom', '\u202eHospital <a@b.org>'],
    ['auditRetention', 'P179D'],
    ['auditRetention', 'P5M'],
    ['abandonedRetention', 'P0D'],
    ['backupRetention', 'PT5M'],
    ['recordRetention', '1 year'],
  ] as const)('%s is not %j', (name, text) => {
    expect(readSetting(name, text)).toHaveProperty('fault.name', name);
  });
});
