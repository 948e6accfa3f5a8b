import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Fault } from '#lib/errors/fail.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { canStandInPath, hostName } from '#lib/text/host-name.ts';
import { readBoundedText, toNfc } from '#lib/text/nfc.ts';

/** True for a fault, which a parser returns instead of a value. */
export function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'pointer' in value && 'detail' in value;
}

export function invalid(pointer: string, detail: string): Fault {
  return { pointer, code: 'invalid', detail };
}

/** A text in NFC, trimmed, of 1 to `max` characters (code points). */
export function parseText({ value, pointer }: Given, max: number): string | Fault {
  const text = readBoundedText(String(value), max);
  return text || invalid(pointer, `must be a text of 1 to ${max.toLocaleString('en')} characters`);
}

/** The name of a subject: a {@link parseText} that can stand in a path, because paths name subjects. */
export function parseSubject(given: Given): string | Fault {
  const name = parseText(given, 1024);
  if (isFault(name) || canStandInPath(name)) return name;
  return invalid(given.pointer, 'must not be . or .., nor have them between slashes: no path could name it');
}

/** Normalises an identifier such as a subject, before it is compared exactly. */
export function normaliseText(text: string): string {
  return toNfc(text).trim();
}

/** A BCP 47 tag in its canonical form. */
export function parseLanguage({ value, pointer }: Given): string | Fault {
  const tag = canonicalLanguageTag(String(value));
  return tag ?? invalid(pointer, 'must be a BCP 47 language tag such as en or fr-CA');
}

/** An http(s) URL without credentials. Pages link and redirect to it, so `javascript:` is refused. */
export function parseHttpUrl({ value, pointer }: Given): string | Fault {
  const url = URL.parse(String(value));
  const isAllowed =
    url &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.href.length <= 2048;
  return isAllowed ? url.href : invalid(pointer, 'must be an http or https URL without credentials');
}

/** A web origin as the WHATWG URL parser serialises it. */
export function parseOrigin({ value, pointer }: Given): string | Fault {
  const url = URL.parse(String(value));
  const bare = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (bare && hostName.test(url.hostname) && url.pathname === '/' && url.search === '' && url.hash === '')
    return url.origin;
  return invalid(pointer, 'must be an origin such as https://www.example.org');
}

/** The key in `element/<type>/<key>/<serial>`; another text is a key. */
export function keyOf(text: string): string {
  return /^element\/[^/]+\/([^/]+)\/[^/]+$/.exec(text)?.[1] ?? text;
}

/** SHA-256 over the canonical JSON (RFC 8785) of a value. Members that are undefined are left out. */
export function sha256Canonical(value: unknown): Buffer {
  return hash('sha256', canonicalize(value) as string, 'buffer');
}

/** A value of a context and where it was given. */
export interface Given {
  value: unknown;
  pointer: string;
}
