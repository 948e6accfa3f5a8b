import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';

/** Crockford's base 32 (https://www.crockford.com/base32.html): no letter looks like a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 50 bits: with a million links a guess is right once in 10^9 times, and guesses are limited. */
const length = 10;

/** The codes of short links: each stands for a token, and is stored as a keyed digest only. */
export interface ShortCodes {
  /** The code for something with an id, always the same; nobody can derive it without the secret. */
  codeOf(id: string): { code: string; digest: Buffer };
  /** The digests that a code may be stored as. */
  digestsOf(code: string): Buffer[];
}

/** @param secrets of transaction tokens; keys are derived. The first makes codes, all find them. */
export function createShortCodes(secrets: readonly Uint8Array[]): ShortCodes {
  const keyFor = (secret: Uint8Array, purpose: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `accord short links ${purpose}`, 32)));
  const drawing = keyFor(secrets[0] as Uint8Array, 'codes');
  const storing = secrets.map((secret) => keyFor(secret, 'digests'));
  const digestsOf = (code: string) => storing.map((key) => createHmac('sha256', key).update(code).digest());
  return {
    codeOf(id) {
      const bytes = createHmac('sha256', drawing).update(id).digest().subarray(0, length);
      const code = Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('');
      return { code, digest: digestsOf(code)[0] as Buffer };
    },
    digestsOf,
  };
}

/** Reads a code as people type it: in either case, O for 0, I and L for 1, hyphens and spaces between. */
export function readShortCode(text: string): string | undefined {
  const code = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return code.length === length && [...code].every((letter) => alphabet.includes(letter)) ? code : undefined;
}
