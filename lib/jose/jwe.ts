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
import { parseObject } from '#lib/jose/jws.ts';
import { type PublicJwk, readPublicKey } from '#lib/jose/keys.ts';

/** Every JWE uses ECDH-ES with P-256 in direct mode (RFC 7518 §4.6) and A256GCM (§5.3). */
const sealing = { alg: 'ECDH-ES', enc: 'A256GCM' } as const;

export type JweHeader = Record<string, unknown>;

/** A parsed JWE. Its header is authenticated only by {@link decryptCompact}. */
export interface CompactJwe {
  header: JweHeader;
  /** Additional authenticated data. */
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
 * Encrypts to a public key as a JWE in compact serialisation (RFC 7516 §7.1) with an ephemeral key pair. Runs
 * on this thread: jose uses WebCrypto's thread pool for each step, which takes longer (ADR 18).
 * @param more header parameters in addition to `alg`, `enc` and `epk`.
 */
export function encryptCompact(
  plaintext: Uint8Array,
  { key, more }: { key: KeyObject; more: JweHeader },
): string {
  const ephemeral = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = ephemeral.publicKey.export({ format: 'jwk' });
  const protectedHeader = encode(JSON.stringify({ ...more, ...sealing, epk: { kty, crv, x, y } }));
  const secret = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: key });
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(cipherName, deriveKey(secret), iv, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(protectedHeader, 'ascii'));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  // The encrypted key is empty in direct mode.
  return [protectedHeader, '', encode(iv), encode(ciphertext), encode(cipher.getAuthTag())].join('.');
}

/**
 * Parses a JWE. @returns undefined unless it uses the algorithms above, without compression, critical
 * extensions (RFC 7516 §4.1.13) or party information (docs/federation.md has no `apu`, `apv` or `zip`).
 */
export function readCompact(jwe: string): CompactJwe | undefined {
  const parts = jwe.split('.', 6);
  if (parts.length !== 5 || !parts.every((part) => base64url.test(part)) || parts[1] !== '') return undefined;
  const [protectedHeader, , ...others] = parts as [string, string, string, string, string];
  const [iv, ciphertext, tag] = others.map(decode) as [Buffer, Buffer, Buffer];
  if (iv.length !== ivBytes || tag.length !== tagBytes) return undefined;
  const header = parseObject(decode(protectedHeader));
  if (header?.alg !== sealing.alg || header.enc !== sealing.enc) return undefined;
  const { zip, crit, apu, apv } = header;
  if ([zip, crit, apu, apv].some((parameter) => parameter !== undefined)) return undefined;
  return { header, protectedHeader, iv, ciphertext, tag };
}

/** @param key the private key. @returns undefined if the JWE was not encrypted to it, or was changed. */
export function decryptCompact(
  { header, protectedHeader, iv, ciphertext, tag }: CompactJwe,
  key: KeyObject,
): Buffer | undefined {
  const ephemeral = readPublicKey(header.epk as PublicJwk);
  if (ephemeral?.asymmetricKeyType !== key.asymmetricKeyType) return undefined;
  const secret = diffieHellman({ privateKey: key, publicKey: ephemeral as KeyObject });
  const decipher = createDecipheriv(cipherName, deriveKey(secret), iv, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(protectedHeader, 'ascii')).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    return undefined;
  }
}

/**
 * Concat KDF (RFC 7518 §4.6.2) in one round, because SHA-256 gives all bits of the key; without party
 * information.
 */
function deriveKey(secret: Buffer): KeyObject {
  return createSecretKey(createHash('sha256').update(number(1)).update(secret).update(otherInfo).digest());
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** AlgorithmID, PartyUInfo, PartyVInfo, SuppPubInfo (RFC 7518 §4.6.2). */
const otherInfo = Buffer.concat([
  number(sealing.enc.length),
  Buffer.from(sealing.enc, 'ascii'),
  number(0),
  number(0),
  number(keyBytes * 8),
]);

function encode(bytes: string | Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

function decode(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
