import { createHmac, randomBytes, randomInt } from 'node:crypto';

/**
 * Codes of an authenticator app by time (TOTP, RFC 6238), with the values that all apps know: HMAC-SHA-1, six
 * digits, 30 seconds.
 */
const stepMs = 30_000;
const secretBytes = 20;

/** The alphabet of RFC 4648 §6, in which apps take secrets. */
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Crockford's alphabet: no letters that look like digits. */
const recoveryAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const recoveryLength = 10;
/** Recovery codes of an account; each is valid once. */
const recoveryCodes = 10;

/** A new secret, in base 32. */
export function drawSecret(): string {
  const bits = [...randomBytes(secretBytes)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => base32[Number.parseInt(five, 2)]).join('');
}

/** The code of a time step (RFC 4226 §5.3). @param secret in base 32. */
export function codeAt(secret: string, step: number): string {
  const bits = [...secret].map((letter) => base32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/**
 * The step of a code that is valid now. The clock of a telephone may differ by one step (RFC 6238 §5.2).
 * @param now epoch milliseconds. @returns undefined for a wrong code.
 */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  const current = Math.floor(now / stepMs);
  return [current, current - 1, current + 1].find((step) => codeAt(secret, step) === code);
}

/** The address that apps read from a QR code (the format `otpauth` of Google Authenticator). */
export function addressOf(secret: string, { issuer, name }: { issuer: string; name: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(name)}`;
  return `otpauth://totp/${label}?${new URLSearchParams({ secret, issuer })}`;
}

/** New recovery codes, such as `7K3P9-QXW4T`. */
export function drawRecoveryCodes(): string[] {
  const letter = () => recoveryAlphabet[randomInt(recoveryAlphabet.length)];
  return Array.from({ length: recoveryCodes }, () => {
    const text = Array.from({ length: recoveryLength }, letter).join('');
    return `${text.slice(0, recoveryLength / 2)}-${text.slice(recoveryLength / 2)}`;
  });
}

/** What a person has entered: a code of the app, or a recovery code without its dash. */
export type EnteredCode = { kind: 'app'; code: string } | { kind: 'recovery'; code: string };

/** Reads a code as people type it, with spaces and small letters. @returns undefined for anything else. */
export function readEntered(text: string): EnteredCode | undefined {
  const code = text.slice(0, 100).replaceAll(/[\s-]/g, '').toUpperCase();
  if (/^\d{6}$/.test(code)) return { kind: 'app', code };
  const letters = code.replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return /^[0-9A-HJKMNP-TV-Z]{10}$/.test(letters) ? { kind: 'recovery', code: letters } : undefined;
}
