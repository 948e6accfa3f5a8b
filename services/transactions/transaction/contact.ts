import { createRequire } from 'node:module';
import { domainToASCII } from 'node:url';
import type { SubjectContact } from '#lib/contracts/parts.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { isStorable } from '#lib/json/check-json.ts';
import type { Given } from './values.ts';
import { invalid, isFault, normaliseText } from './values.ts';

const require = createRequire(import.meta.url);
/** Loaded on first use, because most transactions have no telephone number. */
const phoneNumbers = () => require('libphonenumber-js/min') as typeof import('libphonenumber-js/min');

/** RFC 5321 §4.5.3.1.3 limits a path to 256 octets, two of which are its angle brackets. */
const maxAddressLength = 254;
/** In octets of UTF-8 (RFC 5321 §4.5.3.1.1, RFC 6531). */
const maxLocalBytes = 64;
/** Characters at which `domainToASCII` stops or which it decodes, because it parses the host of a URL. */
const notInDomains = /[\s\p{C}#%/:?@\\]/u;

/**
 * Reads one e-mail address (RFC 5321, without quoted local parts and address literals); the domain may be
 * internationalised.
 * @returns the address in NFC.
 */
export function parseEmailAddress({ value, pointer }: Given): string | Fault {
  const address = normaliseText(String(value));
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  const ascii = domainToASCII(domain);
  const isLocal =
    Buffer.byteLength(local) <= maxLocalBytes &&
    /^[^\s@<>()[\],;:"\\.\p{C}]+(\.[^\s@<>()[\],;:"\\.\p{C}]+)*$/u.test(local);
  const isDomain = /^([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)*[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/.test(ascii);
  // Digits alone would be an IP address.
  const isName = isDomain && /[a-z]/.test(ascii) && !notInDomains.test(domain);
  if (at > 0 && address.length <= maxAddressLength && ascii.length <= 253 && isLocal && isName)
    return address;
  return invalid(pointer, 'must be one e-mail address, such as ann@example.org');
}

/**
 * Reads a telephone number with its country code. Spaces, dots, hyphens and brackets are ignored.
 * @returns the number in E.164.
 */
export function parsePhoneNumber({ value, pointer }: Given): string | Fault {
  const digits = normaliseText(String(value)).replaceAll(/[\s.\-()\u2010-\u2015]/gu, '');
  try {
    const number = /^\+\d{6,15}$/.test(digits) ? phoneNumbers().parsePhoneNumberWithError(digits) : undefined;
    if (number?.isPossible()) return number.number;
  } catch {
    // No country has such a number.
  }
  return invalid(pointer, 'must be a telephone number with its country code, such as +33 6 39 98 00 01');
}

/** Longer texts are left out without being parsed. */
const maxLength = 1000;

/**
 * The contact data that the owner of a part may get: a valid e-mail address and a valid telephone number. All
 * other contact data, and texts that are not valid, are left out.
 * @returns undefined if nothing is left.
 */
export function readContact({ emailAddress, phoneNumber }: SubjectContact = {}): SubjectContact | undefined {
  const read = (text: string | undefined, parse: typeof parseEmailAddress) => {
    if (text === undefined || text.length > maxLength || !isStorable(text)) return undefined;
    const value = parse({ value: text, pointer: '' });
    return isFault(value) ? undefined : value;
  };
  const [address, number] = [read(emailAddress, parseEmailAddress), read(phoneNumber, parsePhoneNumber)];
  const contact = { ...(address && { emailAddress: address }), ...(number && { phoneNumber: number }) };
  return Object.keys(contact).length > 0 ? contact : undefined;
}

const characters = new Intl.Segmenter();

/** Such as `a…@example.org`. */
export function maskEmailAddress(address: string): string {
  const [first] = characters.segment(address);
  return `${first?.segment ?? ''}…${address.slice(address.lastIndexOf('@'))}`;
}

/** Such as `…4567`. */
export function maskPhoneNumber(number: string): string {
  return `…${number.slice(-4)}`;
}

/** The country calling code of a number in E.164. */
export function phonePrefix(number: string): string {
  return phoneNumbers().parsePhoneNumberWithError(number).countryCallingCode;
}
