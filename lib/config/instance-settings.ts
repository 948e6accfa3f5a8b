import { isMailbox } from '#lib/config/address-validators.ts';
import { isCalendarPeriod } from '#lib/config/validators.ts';
import { isInstanceName } from '#lib/federation/instance-name.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { canonicalTimeZone } from '#lib/i18n/time-zone.ts';

/** The settings of an instance that administrators edit (ADR 39); null: none. */
export interface SettingValues {
  /** What subjects and peers see. */
  name: string;
  /** BCP 47, of pages and messages for readers who ask for none that exists. */
  language: string;
  /** IANA, of the times on pages and the days of statistics. */
  timeZone: string;
  /** Path of an uploaded image, `/assets/logos/<id>`. */
  logo: string | null;
  /** Sender of mails: an address, or `Name <address>`. */
  mailFrom: string;
  /** Ages at which data are deleted, ISO 8601 (docs/audit.md, docs/erasure.md). */
  auditRetention: string;
  recordRetention: string | null;
  abandonedRetention: string;
  backupRetention: string;
}

export type SettingName = keyof SettingValues;

/** What the environment or the database says; a setting that is absent has its default. */
export type GivenSettings = { readonly [Name in SettingName]?: string | undefined };

/** The environment variable that pins each setting; a logo has none, because it is a file. */
export const settingVariables = {
  name: 'INSTANCE_NAME',
  language: 'INSTANCE_LANGUAGE',
  timeZone: 'INSTANCE_TIME_ZONE',
  logo: null,
  mailFrom: 'MAIL_FROM',
  auditRetention: 'AUDIT_RETENTION',
  recordRetention: 'RECORD_RETENTION',
  abandonedRetention: 'ABANDONED_RETENTION',
  backupRetention: 'BACKUP_RETENTION',
} as const satisfies Record<SettingName, string | null>;

export const settingNames = Object.keys(settingVariables) as SettingName[];

/** The settings that the environment pins. @param read settings of a process, undefined where not set. */
export function pinnedBy(read: { readonly [Variable in string]?: unknown }): GivenSettings {
  const pinned = settingNames.flatMap((name) => {
    const variable = settingVariables[name];
    const value = variable === null ? undefined : read[variable];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(pinned);
}

/** @param host of the base URL. @param isDemo whether the instance shows the demonstration's models. */
export function defaultSettings(host: string, isDemo: boolean): SettingValues {
  return {
    // The models of the demonstration name this theatre.
    name: isDemo ? 'Riverside Theatre' : 'Accord',
    language: 'en',
    timeZone: 'UTC',
    logo: null,
    mailFrom: `no-reply@${host}`,
    auditRetention: 'P2Y',
    recordRetention: null,
    abandonedRetention: 'P90D',
    backupRetention: 'P35D',
  };
}

/** What an instance is set to, by source. */
export interface SettingSources {
  /** The environment's; they win. */
  pinned: GivenSettings;
  /** The database's. */
  stored: GivenSettings;
  defaults: SettingValues;
}

/** The rule: the environment, else the database, else the default. */
export function resolveSettings({ pinned, stored, defaults }: SettingSources): SettingValues {
  return { ...defaults, ...present(stored), ...present(pinned) };
}

function present(given: GivenSettings): Partial<Record<SettingName, string>> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** A change of one setting, between two effective values. */
export interface SettingChange {
  name: SettingName;
  before: string | null;
  after: string | null;
}

/** A member that cannot be set, and why. */
export interface SettingFault {
  name: SettingName;
  code: 'invalid' | 'pinned';
  detail: string;
}

/**
 * What a change of settings stores. A member that is absent keeps its value, null sets its default, and the
 * value of the default stores nothing. A member that the environment pins keeps what is stored.
 * @param given canonical values ({@link readSetting}).
 */
export function planSettings(
  given: { readonly [Name in SettingName]?: string | null | undefined },
  sources: SettingSources,
): { stored: GivenSettings; changes: SettingChange[]; faults: SettingFault[] } {
  const { pinned, defaults } = sources;
  const before = resolveSettings(sources);
  const isPinned = (name: SettingName) => pinned[name] !== undefined;
  const faults = settingNames
    .filter((name) => isPinned(name) && typeof given[name] === 'string' && given[name] !== pinned[name])
    .map((name) => ({
      name,
      code: 'pinned' as const,
      detail: `is set by the environment variable ${settingVariables[name]}`,
    }));
  const stored = Object.fromEntries(
    settingNames.flatMap((name) => {
      const value = isPinned(name) || given[name] === undefined ? sources.stored[name] : given[name];
      return typeof value === 'string' && value !== defaults[name] ? [[name, value] as const] : [];
    }),
  );
  const after = resolveSettings({ ...sources, stored });
  const changes = settingNames
    .filter((name) => before[name] !== after[name])
    .map((name) => ({ name, before: before[name], after: after[name] }));
  return { stored, changes, faults };
}

/** Days of the longest and the shortest month, year, … do not matter for a minimum. */
const daysOf = { Y: 365, M: 30, W: 7, D: 1 } as const;

/** The length of a period in days, months of 30 and years of 365. @param period ISO 8601. */
function daysIn(period: string): number {
  const parts = [...period.matchAll(/(\d{1,5})([YMWD])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * daysOf[unit as keyof typeof daysOf], 0);
}

/**
 * The shortest retention of the audit log that an administrator may set: the log is there to tell what
 * administrators did. The environment, which they do not control, may set a shorter one.
 */
const leastAuditDays = 180;

const readers: Record<SettingName, (text: string) => string | undefined> = {
  name: (text) => (isInstanceName(text) ? text.trim().normalize('NFC') : undefined),
  language: canonicalLanguageTag,
  timeZone: canonicalTimeZone,
  logo: (text) =>
    /^\/assets\/logos\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined,
  mailFrom: readSender,
  auditRetention: (text) => {
    const period = readPeriod(text);
    return period !== undefined && daysIn(period) >= leastAuditDays ? period : undefined;
  },
  recordRetention: readPeriod,
  abandonedRetention: readPeriod,
  backupRetention: readPeriod,
};

/** The name beside the address is shown to people as the instance's name is. */
function readSender(text: string): string | undefined {
  const sender = text.trim().normalize('NFC');
  const name = /^(.*)</.exec(sender)?.[1]?.trim() ?? '';
  return isMailbox(sender) && (name === '' || isInstanceName(name)) ? sender : undefined;
}

function readPeriod(text: string): string | undefined {
  const period = text.trim().toUpperCase();
  return isCalendarPeriod(period) ? period : undefined;
}

const period = 'must be a duration of years, months, weeks or days, such as P2Y';

const expectations: Record<SettingName, string> = {
  name: 'must be 1 to 255 visible characters, without control, invisible or direction-changing characters',
  language: 'must be a language such as en or fr-CA',
  timeZone: 'must be a time zone such as Europe/Paris',
  logo: 'must be the path of an uploaded logo, /assets/logos/<id>',
  mailFrom: 'must be like consent@example.org or Accord <consent@example.org>',
  auditRetention: `${period}, of at least 180 days`,
  recordRetention: period,
  abandonedRetention: period,
  backupRetention: period,
};

/** @returns the value in its canonical form, or what it must be. */
export function readSetting(name: SettingName, text: string): { value: string } | { fault: SettingFault } {
  const value = readers[name](text);
  return value === undefined ? { fault: { name, code: 'invalid', detail: expectations[name] } } : { value };
}
