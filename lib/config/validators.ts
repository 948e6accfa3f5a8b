import { makeValidator } from 'envalid';
import { isInstanceName } from '#lib/federation/instance-name.ts';
import { defaultRateLimits, type LimitKind, type RateLimits } from '#lib/http/rate-limits.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { canonicalTimeZone } from '#lib/i18n/time-zone.ts';

/** A TCP port; 0 chooses a free one. */
export const tcpPort = makeValidator<number>((text) => {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new Error(`must be a port from 0 to 65535 (it is "${text}")`);
  return port;
});

/** A non-negative integer. */
export const wholeNumber = makeValidator<number>((text) => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`must be a whole number (it is "${text}")`);
  return Number(text);
});

/** A language tag (BCP 47). @returns its canonical form. */
export const languageTag = makeValidator<string>((text) => {
  const tag = canonicalLanguageTag(text);
  if (tag === undefined) throw new Error(`must be a language such as en or fr-CA (it is "${text}")`);
  return tag;
});

/** The name that subjects and peers see. */
export const instanceName = makeValidator<string>((text) => {
  if (isInstanceName(text)) return text.trim();
  throw new Error(
    'must be 1 to 255 visible characters, without control, invisible or direction-changing characters',
  );
});

/** An IANA time zone. */
export const timeZone = makeValidator<string>((text) => {
  const zone = canonicalTimeZone(text);
  if (zone === undefined) throw new Error(`must be a time zone such as Europe/Paris (it is "${text}")`);
  return zone;
});

/** `key=6000,user=300,transaction=60,address=60` per minute, or `off` (docs/operations.md, "Settings"). */
export const rateLimits = makeValidator<RateLimits>((text) => {
  if (text === 'off') return 'off';
  const limits = { ...defaultRateLimits };
  for (const item of listItems(text)) {
    const [, kind, points] =
      /^(key|user|transaction|address|authorization|decision|public|link|choices|choices-of-all)=(\d{1,9})$/.exec(
        item,
      ) ?? [];
    if (!kind || !Number(points))
      throw new Error(`must be like key=6000,user=300,transaction=60,address=60, or off ("${item}" is not)`);
    limits[kind as LimitKind] = Number(points);
  }
  return limits;
});

const logLevels = ['info', 'warn', 'error', 'silent'] as const;

/** The lowest level that is logged. */
export const logLevel = makeValidator<(typeof logLevels)[number]>((text) => {
  const level = logLevels.find((each) => each === text);
  if (!level) throw new Error(`must be one of ${logLevels.join(', ')} (it is "${text}")`);
  return level;
});

const saslMechanisms = ['scram-sha-256', 'scram-sha-512'] as const;

/** A mechanism of SASL that does not send the password (RFC 5802). */
export const saslMechanism = makeValidator<(typeof saslMechanisms)[number]>((text) => {
  const mechanism = saslMechanisms.find((each) => each === text.toLowerCase());
  if (!mechanism) throw new Error(`must be one of ${saslMechanisms.join(', ')} (it is "${text}")`);
  return mechanism;
});

/** `true` or `false`. */
export const flag = makeValidator<boolean>((text) => {
  if (/^(true|1)$/i.test(text)) return true;
  if (/^(false|0)$/i.test(text)) return false;
  throw new Error(`must be true or false (it is "${text}")`);
});

/** Splits at commas and white space. */
export function listItems(text: string): string[] {
  return text.split(/[\s,]+/).filter((item) => item !== '');
}

/** A number of days. */
export const days = makeValidator<number>((text) => {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Error(`must be a number of days from 1 to 9999 (it is "${text}")`);
  return Number(text);
});

/** Seconds from 0 to 10, fractions allowed. @returns milliseconds. */
export const seconds = makeValidator<number>((text) => {
  if (!/^\d{1,2}(\.\d{1,3})?$/.test(text) || Number(text) > 10)
    throw new Error(`must be seconds from 0 to 10 (it is "${text}")`);
  return Number(text) * 1000;
});

/** Seconds, or an ISO 8601 duration such as PT10M, of at most a day. @returns seconds. */
export const secondsOrDuration = makeValidator<number>((text) => {
  const [, hours, minutes, rest] =
    /^PT(?=\d)(?:(\d{1,2})H)?(?:(\d{1,4})M)?(?:(\d{1,5})S)?$/i.exec(text) ?? [];
  const isDuration = hours ?? minutes ?? rest;
  const total = isDuration
    ? Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(rest ?? 0)
    : Number(/^\d{1,5}$/.exec(text)?.[0]);
  if (!(total >= 1 && total <= 86_400))
    throw new Error(`must be seconds or a duration such as PT10M, at most a day (it is "${text}")`);
  return total;
});

/** A duration of years, months, weeks and days, ISO 8601. @returns it as PostgreSQL reads it. */
export const calendarPeriod = makeValidator<string>((text) => {
  const period = text.toUpperCase();
  if (!isCalendarPeriod(period))
    throw new Error(`must be a duration of years, months, weeks or days, such as P2Y (it is "${text}")`);
  return period;
});

/** Whether a text is a duration of years, months, weeks and days that is not zero. */
export function isCalendarPeriod(text: string): boolean {
  return /^P(?=\d)(\d{1,3}Y)?(\d{1,4}M)?(\d{1,4}W)?(\d{1,5}D)?$/.test(text) && /[1-9]/.test(text);
}

/** The number of replicas of a service. */
export const replicaCount = makeValidator<number>((text) => {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new Error(`must be a number from 1 to 9999 (it is "${text}")`);
  return Number(text);
});
