import { sign, verify } from 'node:crypto';
import type { JWK } from 'jose';
import { privateKeyOf, publicKeyOf } from '#lib/jose/keys.ts';
import { parseForeignJson } from '#lib/json/check-json.ts';

/** Signs the signing input of a JWS, which is ASCII. */
export type Sign = (input: string) => Buffer;

/**
 * Makes JWS in compact serialisation (RFC 7515 §3.1) with one protected header. jose uses WebCrypto's thread
 * pool, which takes longer (ADR 18).
 */
export function createCompactJws(header: Readonly<Record<string, string>>, sign: Sign) {
  const head = encode(JSON.stringify(header));
  return (payload: string): string => {
    const input = `${head}.${encode(payload)}`;
    return `${input}.${sign(input).toString('base64url')}`;
  };
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/**
 * Signs with a private key on P-256 (RFC 7518 §3.4), on this thread: a thread switch takes longer than the
 * signature.
 */
export function createEs256(privateKey: JWK): Sign {
  const key = privateKeyOf(privateKey);
  return (input) => sign('sha256', Buffer.from(input), key);
}

/** A parsed JWS in compact serialisation (RFC 7515 §3.1), unverified before {@link provePayload}. */
export interface CompactJws {
  header: Readonly<Record<string, unknown>>;
  /** In base64url; checked by {@link provePayload}. */
  parts: readonly [header: string, payload: string, signature: string];
}

/** Signature algorithms of peers (RFC 7518 §3.4, RFC 8037 §3.1). */
export type SignatureAlgorithm = 'ES256' | 'EdDSA';

const kinds = { ES256: { type: 'ec', hash: 'sha256' }, EdDSA: { type: 'ed25519', hash: null } } as const;
/** Length of a signature, the same for both algorithms. */
const signatureBytes = 64;
const base64url = /^[\w-]+$/;

/** Parses a JWS. @returns undefined if it does not have three parts and a header. */
export function readCompactJws(jws: string): CompactJws | undefined {
  const parts = jws.split('.', 4);
  const [head = ''] = parts;
  if (parts.length !== 3 || !base64url.test(head)) return undefined;
  const header = parseObject(Buffer.from(head, 'base64url'));
  return header && { header, parts: parts as [string, string, string] };
}

/**
 * Verifies the signature of a JWS, on this thread: jose uses WebCrypto's thread pool, which takes
 * longer (ADR 18).
 * @param alg the algorithm of the key; the JWS must name the same.
 * @returns the payload; undefined if this key did not sign the JWS, or the JWS has critical extensions (RFC
 * 7515 §4.1.11).
 * @throws Error if the key is not valid.
 */
export function provePayload(
  { header, parts }: CompactJws,
  jwk: JWK,
  alg: SignatureAlgorithm,
): Buffer | undefined {
  if (header.alg !== alg || header.crit !== undefined) return undefined;
  if (!parts.every((part) => base64url.test(part))) return undefined;
  const key = publicKeyOf(jwk);
  const { type, hash } = kinds[alg];
  const signature = Buffer.from(parts[2], 'base64url');
  if (key.asymmetricKeyType !== type || signature.length !== signatureBytes) return undefined;
  const signed = Buffer.from(`${parts[0]}.${parts[1]}`, 'ascii');
  return verify(hash, signed, key, signature) ? Buffer.from(parts[1], 'base64url') : undefined;
}

/** @returns undefined unless the bytes are a JSON object in UTF-8. */
export function parseObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value = parseForeignJson(bytes);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
