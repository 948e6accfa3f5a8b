import { readFileSync } from 'node:fs';
import { makeValidator } from 'envalid';
import ipaddr from 'ipaddr.js';
import { listItems } from '#lib/config/validators.ts';
import { connectionStringFault } from '#lib/db/connect-at-start.ts';
import { isLoopback } from '#lib/text/host-name.ts';

/** KAFKA_BROKERS: `host:port`, separated by commas. */
export const brokerList = makeValidator<string[]>((text) =>
  itemsOf(text).map((item) => {
    if (!/^(\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i.test(item))
      throw new Error(`must be like kafka-1:9092,kafka-2:9092 ("${maskCredentials(item)}" is not)`);
    return item;
  }),
);

/** REDIS_URL. Messages do not repeat it because it may contain a password. */
export const redisUrl = makeValidator<string>((text) => {
  const url = URL.parse(text);
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw new Error(
      `must be like redis://:password@host:6379/0, or rediss:// (it is "${maskCredentials(text)}")`,
    );
  return text;
});

/** Internal addresses of a service: one, or those of its replicas, separated by commas. */
export const internalAddresses = makeValidator<string[]>((text) =>
  itemsOf(text).map((item) => {
    const url = URL.parse(item);
    if (url?.protocol !== 'http:' || url.pathname !== '/' || url.search !== '' || url.username !== '')
      throw new Error(
        `must be addresses such as http://forms:8081, separated by commas ("${maskCredentials(item)}" is not one)`,
      );
    return url.origin;
  }),
);

function itemsOf(text: string): string[] {
  const items = listItems(text);
  if (items.length === 0) throw new Error('must name at least one');
  return items;
}

/** An http(s) URL without path, query, fragment or credentials. @returns it without a trailing slash. */
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

/** An http(s) URL that may have a path. @returns it without a trailing slash. */
export const httpUrl = makeValidator<string>((text) => {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search + url.hash + url.username + url.password !== '')
    throw new Error(`must be an http or https address (it is "${maskCredentials(text)}")`);
  return url.href.replace(/(?<!\/)\/+$/, '');
});

/** OIDC_ISSUER. @returns the name as it is given, because issuers are compared exactly (RFC 9207 §2.4). */
export const issuerUrl = makeValidator<string>((text) => {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search + url.hash + url.username + url.password !== '')
    throw new Error(`must be an http or https address (it is "${maskCredentials(text)}")`);
  return text.trim();
});

/** DATABASE_URL. Messages do not repeat it because it contains a password. */
export const databaseUrl = makeValidator<string>((text) => {
  const fault = connectionStringFault(text);
  if (fault) throw new Error(`must be like postgresql://user:password@host:5432/database (${fault})`);
  return text;
});

/** Web origins, separated by commas or spaces. */
export const originList = makeValidator<string[]>((text) =>
  listItems(text).map((item) => {
    const url = URL.parse(item);
    if (!url || !/^https?:$/.test(url.protocol) || url.origin !== item.replace(/\/$/, ''))
      throw new Error(
        `must be origins such as https://www.example.org, separated by commas ("${maskCredentials(item)}" is not one)`,
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

/** Networks in CIDR notation. */
export const networkList = makeValidator<string[]>((text) =>
  listItems(text).map((item) => {
    if (!ipaddr.isValidCIDR(item))
      throw new Error(`must be networks such as 10.0.0.0/8, separated by commas ("${item}" is not one)`);
    return item;
  }),
);

/** MAIL_URL: an SMTP server. A typing error in `tls` must not switch off what it asks for. */
export const mailUrl = makeValidator<string>((text) => {
  const url = readServerUrl(text, /^smtps?:$/);
  if (!url || url.pathname.length > 1)
    throw new Error(
      `must be like smtp://user:password@mail.example.org:587 (it is "${maskCredentials(text)}")`,
    );
  if (!hasOnly(url, 'tls', 'required')) throw new Error('must have no other value of tls than required');
  return text;
});

/** SMS_URL: an HTTP gateway for text messages. */
export const smsUrl = makeValidator<string>((text) => {
  const url = readServerUrl(text, /^https?:$/);
  if (!url)
    throw new Error(
      `must be an http or https address such as https://sms.example.org/send (it is "${maskCredentials(text)}")`,
    );
  if (!hasOnly(url, 'format', 'twilio')) throw new Error('must have no other value of format than twilio');
  if (url.protocol === 'http:' && url.username + url.password !== '' && !isLoopback(url.hostname))
    throw new Error('must be https, because it has a password, which http sends in plain text');
  return text;
});

/** A URL whose user and password can be decoded; undefined for any other text. */
function readServerUrl(text: string, protocol: RegExp): URL | undefined {
  const url = URL.parse(text);
  if (!url || !protocol.test(url.protocol) || url.hostname === '' || url.hash !== '') return undefined;
  try {
    decodeURIComponent(url.username + url.password);
    return url;
  } catch {
    return undefined;
  }
}

function hasOnly({ searchParams }: URL, name: string, value: string): boolean {
  return searchParams.getAll(name).every((each) => each === value);
}

/** The sender of mail, such as `Accord <consent@example.org>`. */
export const mailSender = makeValidator<string>((text) => {
  const sender = text.trim();
  if (isMailbox(sender)) return sender;
  throw new Error(`must be like consent@example.org or Accord <consent@example.org> (it is "${text}")`);
});

/** Senders of mails that a context may name. */
export const senderList = makeValidator<string[]>((text) =>
  splitList(text, isMailbox, 'addresses such as consent@example.org'),
);

/** The sender of text messages: a telephone number, a short code, or a name of at most 11 characters. */
export const phoneSender = makeValidator<string>((text) => {
  if (isPhoneSender(text)) return text;
  throw new Error(`must be a telephone number, or a name of at most 11 letters and digits (it is "${text}")`);
});

/** Senders of text messages that a context may name. */
export const phoneList = makeValidator<string[]>((text) =>
  splitList(text, isPhoneSender, 'telephone numbers or names'),
);

function isPhoneSender(text: string): boolean {
  return /^(\+?\d{3,15}|[\dA-Za-z ]{1,11})$/.test(text);
}

function splitList(text: string, isItem: (item: string) => boolean, what: string): string[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  for (const item of items)
    if (!isItem(item)) throw new Error(`must be ${what}, separated by commas ("${item}" is not one)`);
  return items;
}

/** A file with certificates in PEM. @returns its content. */
export const pemFile = makeValidator<string>((file) =>
  readPem(file, /-----BEGIN CERTIFICATE-----/, 'certificates'),
);

/** A file with a private key in PEM, without a passphrase. @returns its content. */
export const keyFile = makeValidator<string>((file) =>
  readPem(file, /-----BEGIN ((RSA|EC) )?PRIVATE KEY-----/, 'a private key'),
);

function readPem(file: string, label: RegExp, what: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`must be a readable file (${(error as NodeJS.ErrnoException).code}: "${file}")`);
  }
  if (!label.test(text)) throw new Error(`must be ${what} in PEM ("${file}")`);
  return text;
}

/** An address, alone or after a name, without characters that could start another mail header. */
export function isMailbox(text: string): boolean {
  const address = /^[^<>\p{Cc}]*<([^<>]+)>$/u.exec(text)?.[1] ?? text;
  return address.length <= 254 && /^[^\s@<>,;:"\\\p{Cc}]+@[^\s@<>,;:"\\\p{Cc}]+$/u.test(address);
}

/**
 * Removes credentials from a setting before a message shows it. The text may be no valid URL: everything
 * before the last `@` counts as a password, and so does the query.
 */
function maskCredentials(text: string): string {
  return text.replace(/^([a-z][a-z\d+.-]*:\/*)?.*@/is, '$1***@').replace(/[?#].+$/s, '?***');
}
