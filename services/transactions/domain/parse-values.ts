import type { Fault } from '#lib/errors/fail.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { hostName } from '#lib/text/host-name.ts';
import { readBoundedText, toNfc } from '#lib/text/nfc.ts';
import type { Given } from './context.ts';

/** True if a reader found a fault instead of a value. */
export function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'pointer' in value && 'detail' in value;
}

/** A text in NFC, trimmed, of 1 to `most` characters (code points). */
export function parseText({ value, pointer }: Given, most: number): string | Fault {
  const text = readBoundedText(String(value), most);
  return (
    text || {
      pointer,
      code: 'invalid',
      detail: `must be a text of 1 to ${most.toLocaleString('en')} characters`,
    }
  );
}

/** Subjects and other identifying texts are compared exactly after this (docs/interface.md, "Terms"). */
export function normaliseText(text: string): string {
  return toNfc(text).trim();
}

/** A BCP 47 tag in its canonical form. */
export function parseLanguage({ value, pointer }: Given): string | Fault {
  return (
    canonicalLanguageTag(String(value)) ?? {
      pointer,
      code: 'invalid',
      detail: 'must be a BCP 47 language tag such as en or fr-CA',
    }
  );
}

/** An http(s) URL without credentials: it is shown as a link and followed by the page, so never `javascript:`. */
export function parseHttpUrl({ value, pointer }: Given): string | Fault {
  const url = URL.parse(String(value));
  const fine =
    url &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.href.length <= 2048;
  return fine
    ? url.href
    : { pointer, code: 'invalid', detail: 'must be an http or https URL without credentials' };
}

/** A web origin as the WHATWG URL parser writes it: `https://host:` is `https://host`. */
export function parseOrigin({ value, pointer }: Given): string | Fault {
  const url = URL.parse(String(value));
  const bare = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (bare && hostName.test(url.hostname) && url.pathname === '/' && url.search === '' && url.hash === '')
    return url.origin;
  return { pointer, code: 'invalid', detail: 'must be an origin such as https://www.example.org' };
}
