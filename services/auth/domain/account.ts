import { createHash } from 'node:crypto';
import { readBoundedText } from '#lib/text/nfc.ts';
import type { GivenRole } from './roles.ts';

/** Somebody who can sign in with the built-in issuer. */
export interface Account {
  /** The `sub` of tokens: stable, never used again. */
  id: string;
  /** The username, which is the subject too (docs/operations.md, "Settings"). */
  name: string;
  role: GivenRole;
}

const maxLength = 255;

/** A username as it is compared: NFC, trimmed; undefined if it cannot be one. */
export function readAccountName(text: string): string | undefined {
  const name = readBoundedText(text, maxLength);
  if (!name) return undefined;
  const fine = name.isWellFormed() && !/\p{Cc}/u.test(name);
  return fine ? name : undefined;
}

/** What tries of a name are counted under: names that nobody has are nobody's business to keep. */
export function digestOfName(name: string): Buffer {
  return createHash('sha256').update(name).digest();
}
