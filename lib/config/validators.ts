import { makeValidator } from 'envalid';
import ipaddr from 'ipaddr.js';
import { maskCredentials } from '#lib/config/mask-credentials.ts';
import { connectionStringFault } from '#lib/db/connection-string-fault.ts';
import { isInstanceName } from '#lib/federation/instance-name.ts';
import { defaultRateLimits, type LimitKind, type RateLimits } from '#lib/http/rate-limits.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';

/** An http(s) URL with neither path, query, fragment nor credentials, written without a slash at its end. */
export const originUrl = makeValidator<string>((text) => {
  const url = URL.parse(text);
  const bare =
    url &&
    /^https?:$/.test(url.protocol) &&
    url.username + url.password === '' &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '';
  if (!bare)
    throw new Error(
      `must be an http or https address without a path, such as https://consent.example.org (it is "${maskCredentials(text)}")`,
    );
  return url.origin;
});

/** An http(s) URL that may have a path, written without a slash at its end. */
export const httpUrl = makeValidator<string>((text) => {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search + url.hash + url.username + url.password !== '')
    throw new Error(`must be an http or https address (it is "${maskCredentials(text)}")`);
  return url.href.replace(/\/+$/, '');
});

/** Where PostgreSQL is; never told back, because it has a password. */
export const databaseUrl = makeValidator<string>((text) => {
  const fault = connectionStringFault(text);
  if (fault) throw new Error(`must be like postgresql://user:password@host:5432/database (${fault})`);
  return text;
});

/** A TCP port; 0 takes a free one. */
export const tcpPort = makeValidator<number>((text) => {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new Error(`must be a port from 0 to 65535 (it is "${text}")`);
  return port;
});

/** A number without a sign or a fraction. */
export const wholeNumber = makeValidator<number>((text) => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`must be a whole number (it is "${text}")`);
  return Number(text);
});

/** A list of web origins, separated by commas or spaces. */
export const originList = makeValidator<string[]>((text) =>
  listItems(text).map((item) => {
    const url = URL.parse(item);
    if (!url || !/^https?:$/.test(url.protocol) || url.origin !== item.replace(/\/$/, ''))
      throw new Error(
        `must be origins such as https://www.example.org, separated by commas ("${maskCredentials(item)}" is none)`,
      );
    return url.origin;
  }),
);

/** CSP source expressions of pages that may embed forms, e.g. `https: http://localhost:*`. */
export const embedSources = makeValidator<string>((text) => {
  const items = listItems(text);
  const fine = items.every((item) => /^(https?:|https?:\/\/[\w.*-]+(:(\d+|\*))?)$/.test(item));
  if (!fine || items.length === 0)
    throw new Error(
      `must be origins such as https://www.example.org, separated by commas (it is "${maskCredentials(text)}")`,
    );
  return items.join(' ');
});

/** A list of networks in CIDR notation. */
export const networkList = makeValidator<string[]>((text) =>
  listItems(text).map((item) => {
    if (!ipaddr.isValidCIDR(item))
      throw new Error(`must be networks such as 10.0.0.0/8, separated by commas ("${item}" is none)`);
    return item;
  }),
);

/** A language tag (BCP 47) in its canonical form. */
export const languageTag = makeValidator<string>((text) => {
  const tag = canonicalLanguageTag(text);
  if (tag === undefined) throw new Error(`must be a language such as en or fr-CA (it is "${text}")`);
  return tag;
});

/** What subjects and peers read. */
export const instanceName = makeValidator<string>((text) => {
  if (isInstanceName(text)) return text.trim();
  throw new Error(
    'must be 1 to 255 characters that can be seen, without invisible or control characters and none that turn text round',
  );
});

/** An IANA time zone. */
export const timeZone = makeValidator<string>((text) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new Error(`must be a time zone such as Europe/Paris (it is "${text}")`);
  }
});

/** `key=6000,user=300,transaction=60,address=60` per minute, or `off` (docs/operations.md, "Settings"). */
export const rateLimits = makeValidator<RateLimits>((text) => {
  if (text === 'off') return 'off';
  const limits = { ...defaultRateLimits };
  for (const item of listItems(text)) {
    const [, kind, points] = /^(key|user|transaction|address|authorization)=(\d{1,9})$/.exec(item) ?? [];
    if (!kind || !Number(points))
      throw new Error(`must be like key=6000,user=300,transaction=60,address=60, or off ("${item}" is not)`);
    limits[kind as LimitKind] = Number(points);
  }
  return limits;
});

const logLevels = ['info', 'warn', 'error', 'silent'] as const;

/** From which level on lines are logged. */
export const logLevel = makeValidator<(typeof logLevels)[number]>((text) => {
  const level = logLevels.find((each) => each === text);
  if (!level) throw new Error(`must be one of ${logLevels.join(', ')} (it is "${text}")`);
  return level;
});

/** `true` or `false`. */
export const flag = makeValidator<boolean>((text) => {
  if (/^(true|1)$/i.test(text)) return true;
  if (/^(false|0)$/i.test(text)) return false;
  throw new Error(`must be true or false (it is "${text}")`);
});

function listItems(text: string): string[] {
  return text.split(/[\s,]+/).filter((item) => item !== '');
}

/** A number of days. */
export const days = makeValidator<number>((text) => {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Error(`must be a number of days from 1 to 9999 (it is "${text}")`);
  return Number(text);
});
