import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts texts and files for the database (AES-256-GCM), so that a copy of the database does not reveal
 * them.
 */
export interface SecretBox {
  /** @param row id of the row; authenticated, so that the result cannot be opened in another row. */
  seal(row: string, text: string | Uint8Array): Buffer;
  /** @throws Error if no key opens it. */
  open(row: string, sealed: Buffer): string;
  /** @throws Error if no key opens it. */
  openBytes(row: string, sealed: Buffer): Buffer;
}

/**
 * @param keys the first seals, all open. @param purpose separates keys that are derived from one secret.
 * @param isRepeatable the same text is always sealed to the same bytes: the nonce is a keyed digest of it.
 */
export function createSecretBox(
  keys: readonly Uint8Array[],
  purpose: string,
  { isRepeatable = false } = {},
): SecretBox {
  const derive = (key: Uint8Array, info: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', key, '', info, 32)));
  const derived = keys.map((key) => derive(key, purpose));
  const [first] = keys;
  const [own] = derived;
  if (!first || !own) throw new Error('a secret box needs a key');
  const digestKey = derive(first, `${purpose}, nonces`);
  const digestOf = (row: string, text: string | Uint8Array) =>
    createHmac('sha256', digestKey)
      .update(JSON.stringify([row]))
      .update(text)
      .digest()
      .subarray(0, nonceBytes);
  const openBytes = (row: string, sealed: Buffer): Buffer => {
    for (const key of derived) {
      const opened = openWith(key, row, sealed);
      if (opened) return opened;
    }
    throw new Error('No key opens this text.');
  };
  return {
    seal(row, text) {
      const nonce = isRepeatable ? digestOf(row, text) : randomBytes(nonceBytes);
      const sealing = createCipheriv(cipher, own, nonce).setAAD(Buffer.from(row));
      const encrypted = Buffer.concat([sealing.update(text), sealing.final()]);
      return Buffer.concat([nonce, sealing.getAuthTag(), encrypted]);
    },
    open: (row, sealed) => openBytes(row, sealed).toString('utf8'),
    openBytes,
  };
}

function openWith(key: KeyObject, row: string, sealed: Buffer): Buffer | undefined {
  try {
    const opening = createDecipheriv(cipher, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(row))
      .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
    const text = sealed.subarray(nonceBytes + tagBytes);
    return Buffer.concat([opening.update(text), opening.final()]);
  } catch {
    return undefined;
  }
}
