import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

/** Crockford's alphabet: no letters that look like digits. */
const recoveryAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const recoveryLength = 10;
/** Recovery codes of an account; each is valid once. */
const recoveryCodes = 10;

/**
 * The codes of a secret by time (TOTP, RFC 6238), with the values that all apps know.
 * @param secret in base 32.
 */
function totpOf(secret: string, { issuer = '', name = '' } = {}): TOTP {
  const values = { algorithm: 'SHA1', digits: 6, period: 30 };
  return new TOTP({ ...values, issuer, label: name, secret: Secret.fromBase32(secret) });
}

/** A new secret of 160 bits, in base 32. */
export function drawSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** The code of a time step. @param secret in base 32. */
export function codeAt(secret: string, step: number): string {
  return totpOf(secret).generate({ timestamp: step * 30_000 });
}

/**
 * The step of a code that is valid now. The clock of a telephone may differ by one step (RFC 6238 §5.2).
 * @param now epoch milliseconds. @returns undefined for a wrong code.
 */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  const totp = totpOf(secret);
  const difference = totp.validate({ token: code, timestamp: now, window: 1 });
  return difference === null ? undefined : totp.counter({ timestamp: now }) + difference;
}

/** The address that apps read from a QR code (the format `otpauth` of Google Authenticator). */
export function addressOf(secret: string, names: { issuer: string; name: string }): string {
  return totpOf(secret, names).toString();
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
