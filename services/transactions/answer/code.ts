import { createHmac, createSecretKey, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import type { Confirmation } from '../transaction/context.ts';
import type { Transaction } from '../transaction/transaction.ts';

/** Limits of attempts per code and of codes per transaction (docs/interface.md, "Confirmation codes"). */
export const maxTries = 5;
export const maxCodes = 3;
/** For how many seconds after the expiry of the last code an attempt that was counted may still commit. */
export const commitSeconds = 10;

/** The code of a transaction, as it is stored. */
export interface Code {
  /** 1 for the first code. */
  number: number;
  mac: Buffer;
  /** The code itself, encrypted; null unless the page shows it. */
  sealed: Buffer | null;
  /** Attempts so far. */
  tries: number;
  createdAt: Date;
  expiresAt: Date;
  usedAt: Date | null;
}

/** A code to be stored. */
export interface NewCode extends Pick<Code, 'number' | 'mac' | 'sealed'> {
  /** For how many seconds the code is valid. */
  ttl: number;
}

/** What the digest of a code includes: the code confirms no other answers and no other transaction. */
export interface CodeBinding {
  transaction: string;
  answersDigest: Buffer;
  number: number;
}

/** A confirmation with a code. */
export type CodeType = Exclude<Confirmation, 'NONE'>;

/** What callers learn about a code. */
export function codeStatus({ number, tries, createdAt, expiresAt }: Code, resendAfter: number) {
  return {
    triesLeft: maxTries - tries,
    codesLeft: maxCodes - number,
    expires: expiresAt,
    resendAfter: new Date(createdAt.getTime() + resendAfter * 1000),
  };
}

export type Codes = ReturnType<typeof createCodes>;

/**
 * Draws codes, and compares entered codes with the keyed digest that is stored.
 * @param secrets of transaction tokens; keys are derived from them. The first key makes digests, all keys
 * check them.
 */
export function createCodes(secrets: readonly Uint8Array[]) {
  const keys = secrets.map((secret) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'accord confirmation codes', 32))),
  );
  const [own] = keys;
  if (!own) throw new Error('confirmation codes need a secret');
  const digest = (key: typeof own, { transaction, answersDigest, number }: CodeBinding, code: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([transaction, answersDigest.toString('hex'), number, code]))
      .digest();
  return {
    /** @returns six random digits. */
    draw: () => String(randomInt(1_000_000)).padStart(6, '0'),
    mac: (binding: CodeBinding, code: string) => digest(own, binding, code),
    matches: (mac: Buffer, binding: CodeBinding, code: string) =>
      keys.some((key) => timingSafeEqual(digest(key, binding, code), mac)),
  };
}

/**
 * Reads a code as people write it: spaces and hyphens are ignored, and Arabic and Persian digits are read.
 * @returns undefined unless it is six digits.
 */
export function readCode(value: unknown): string | undefined {
  const [text] = [value].flat();
  if (typeof text !== 'string') return undefined;
  const digits = text
    .normalize('NFKC')
    .replaceAll(/[\s\p{Pd}\p{Cf}]/gu, '')
    .replaceAll(/[٠-٩۰-۹]/g, (digit) => String((digit.codePointAt(0) as number) & 0xf));
  return /^\d{6}$/.test(digits) ? digits : undefined;
}

/** @returns a new code as it is stored, and its six digits in `text`. */
export function drawCode(
  { codes, codeTtl, messaging }: { codes: Codes; codeTtl: number; messaging: { box: SecretBox } },
  { id, context }: Pick<Transaction, 'id' | 'context'>,
  { number, answersDigest }: { number: number; answersDigest: Buffer },
): { code: NewCode; text: string } {
  const text = codes.draw();
  const mac = codes.mac({ transaction: id, answersDigest, number }, text);
  const sealed = context.confirmation === 'FORM_CODE' ? messaging.box.seal(id, text) : null;
  return { code: { number, mac, sealed, ttl: codeTtl }, text };
}
