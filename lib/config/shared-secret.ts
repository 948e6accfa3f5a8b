import { randomBytes } from 'node:crypto';

const minBytes = 32;
const minDistinct = 12;
/** Words of samples and of manuals: a secret that has one of them was copied, not drawn. */
const sampleWords =
  /change.?me|example|secret|password|placeholder|insecure|replace|default|01234567|abcdefgh/i;

/** Draws a secret of 256 bits. */
export function generateSharedSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Reads one entry; its bytes are those of the text. @throws Error that says what is wrong with it, never what it is. */
export function readSharedSecret(line: string): Uint8Array {
  const bytes = new TextEncoder().encode(line);
  if (bytes.length < minBytes)
    throw new Error(`is ${bytes.length} bytes long and must be at least ${minBytes}`);
  if (sampleWords.test(line) || new Set(line).size < minDistinct)
    throw new Error('looks like an example; draw a random one, such as with: openssl rand -base64 48');
  return bytes;
}
