import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Draws the secret of a webhook, as receivers write it down (Standard Webhooks, "Signature scheme"): 256 bits. */
export function drawSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Seals secrets, so that a copy of the database signs nothing. */
export interface SecretBox {
  /** @param webhook its id: what was sealed for one opens for no other. */
  seal(webhook: string, secret: string): Buffer;
  /** @throws Error if none of the keys opens it. */
  open(webhook: string, sealed: Buffer): string;
}

/** @param keys of the instance: the first seals, all open. */
export function createSecretBox(keys: readonly Uint8Array[]): SecretBox {
  const derived = keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', 'accord webhook secrets', 32)));
  const [own] = derived;
  if (!own) throw new Error('webhooks need a key that seals their secrets');
  return {
    seal(webhook, secret) {
      const nonce = randomBytes(nonceBytes);
      const sealing = createCipheriv(cipher, own, nonce).setAAD(Buffer.from(webhook));
      const text = Buffer.concat([sealing.update(secret, 'utf8'), sealing.final()]);
      return Buffer.concat([nonce, sealing.getAuthTag(), text]);
    },
    open(webhook, sealed) {
      for (const key of derived) {
        const secret = openWith(key, webhook, sealed);
        if (secret !== undefined) return secret;
      }
      throw new Error('No key opens the secret of this webhook.');
    },
  };
}

function openWith(key: Buffer, webhook: string, sealed: Buffer): string | undefined {
  try {
    const opening = createDecipheriv(cipher, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(webhook))
      .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
    const text = sealed.subarray(nonceBytes + tagBytes);
    return Buffer.concat([opening.update(text), opening.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
