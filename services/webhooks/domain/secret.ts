import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts secrets (AES-256-GCM), so that a copy of the database cannot sign messages. */
export interface SecretBox {
  /** @param webhook its id, authenticated with the secret: a row cannot be copied to another webhook. */
  seal(webhook: string, secret: string): Buffer;
  /** @throws Error if no key opens it. */
  open(webhook: string, sealed: Buffer): string;
}

/** @param keys `webhook-sealing`: the first seals, all open. */
export function createSecretBox(keys: readonly Uint8Array[]): SecretBox {
  const derived = keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', 'accord webhook secrets', 32)));
  const [own] = derived;
  if (!own) throw new Error('the webhooks service needs a sealing key');
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
