import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { type PublicJwk, readPublicKey } from '#lib/jose/key-objects.ts';
import { parseObject } from '#lib/jose/read-compact.ts';

/** How every JWE here is made: one key for one message, agreed with P-256, for AES-GCM (RFC 7518 §4.6 in direct mode, and §5.3). */
const sealing = { alg: 'ECDH-ES', enc: 'A256GCM' } as const;

/** Parameters of a protected header, whoever wrote it. */
export type JweHeader = Record<string, unknown>;

/** A JWE as it came: its header is not proved before `decrypt`. */
export interface CompactJwe {
  header: JweHeader;
  /** Authenticated together with what is sealed. */
  protectedHeader: string;
  iv: Buffer;
  ciphertext: Buffer;
  tag: Buffer;
}

const cipherName = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
const base64url = /^[\w-]*$/;

/**
 * Encrypts to a public key: a JWE in compact serialisation (RFC 7516 §7.1), with a key pair that is drawn for it alone. In this thread: jose goes
 * through the thread pool of WebCrypto for each step, which takes five times as long.
 * @param more header parameters beside those of encryption.
 */
export function encryptCompact(
  plaintext: Uint8Array,
  { key, more }: { key: KeyObject; more: JweHeader },
): string {
  const once = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = once.publicKey.export({ format: 'jwk' });
  const protectedHeader = encode(JSON.stringify({ ...more, ...sealing, epk: { kty, crv, x, y } }));
  const secret = diffieHellman({ privateKey: once.privateKey, publicKey: key });
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(cipherName, deriveKey(secret, {}), iv, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(protectedHeader, 'ascii'));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  // Between header and IV a wrapped key would stand: agreed directly, there is none.
  return [protectedHeader, '', encode(iv), encode(ciphertext), encode(cipher.getAuthTag())].join('.');
}

/** @returns undefined if it is no JWE made as described by `sealing`, or asks for what is not understood (RFC 7516 §4.1.13). */
export function readCompact(jwe: string): CompactJwe | undefined {
  const parts = jwe.split('.');
  if (parts.length !== 5 || !parts.every((part) => base64url.test(part)) || parts[1] !== '') return undefined;
  const [protectedHeader, , ...others] = parts as [string, string, string, string, string];
  const [iv, ciphertext, tag] = others.map(decode) as [Buffer, Buffer, Buffer];
  if (iv.length !== ivBytes || tag.length !== tagBytes) return undefined;
  const header = parseObject(decode(protectedHeader));
  if (header?.alg !== sealing.alg || header.enc !== sealing.enc) return undefined;
  if (header.zip !== undefined || header.crit !== undefined) return undefined;
  return { header, protectedHeader, iv, ciphertext, tag };
}

/** @param key private. @returns undefined if it was not encrypted to this key, or has been changed since. */
export function decryptCompact(
  { header, protectedHeader, iv, ciphertext, tag }: CompactJwe,
  key: KeyObject,
): Buffer | undefined {
  const { apu, apv, epk } = header;
  if (!isInfo(apu) || !isInfo(apv)) return undefined;
  const theirs = readPublicKey(epk as PublicJwk);
  if (theirs?.asymmetricKeyType !== key.asymmetricKeyType) return undefined;
  const secret = diffieHellman({ privateKey: key, publicKey: theirs as KeyObject });
  const decipher = createDecipheriv(cipherName, deriveKey(secret, { apu, apv }), iv, {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(protectedHeader, 'ascii')).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Concatenation key derivation in one round (RFC 7518 §4.6.2): SHA-256 gives as many bits as are wanted. */
function deriveKey(secret: Buffer, { apu = '', apv = '' }: { apu?: string; apv?: string }): KeyObject {
  const key = createHash('sha256')
    .update(number(1))
    .update(secret)
    .update(withLength(Buffer.from(sealing.enc, 'ascii')))
    .update(withLength(decode(apu)))
    .update(withLength(decode(apv)))
    .update(number(keyBytes * 8))
    .digest();
  return createSecretKey(key);
}

function withLength(bytes: Buffer): Buffer {
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** What either side may say of itself (RFC 7518 §4.6.1.2). */
function isInfo(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && base64url.test(value));
}

function encode(bytes: string | Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

function decode(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
