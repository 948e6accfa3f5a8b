import { verify } from 'node:crypto';
import type { JWK } from 'jose';
import { publicKeyOf } from '#lib/jose/key-objects.ts';
import { parseForeignJson } from '#lib/json/check-json.ts';

/** A JWS in compact serialisation as it came (RFC 7515 §3.1): nothing of it is proved before `provePayload`. */
export interface CompactJws {
  header: Readonly<Record<string, unknown>>;
  /** In base64url, if it is one. */
  parts: readonly [header: string, payload: string, signature: string];
}

/** Algorithms that peers sign with (RFC 7518 §3.4, RFC 8037 §3.1), each for keys of its own. */
export type SignatureAlgorithm = 'ES256' | 'EdDSA';

const kinds = { ES256: { type: 'ec', hash: 'sha256' }, EdDSA: { type: 'ed25519', hash: null } } as const;
/** Of both algorithms. */
const signatureBytes = 64;
const base64url = /^[\w-]+$/;

/** @returns undefined if it has not three parts, or no header. */
export function readCompactJws(jws: string): CompactJws | undefined {
  const parts = jws.split('.');
  const [head = ''] = parts;
  if (parts.length !== 3 || !base64url.test(head)) return undefined;
  const header = parseObject(Buffer.from(head, 'base64url'));
  return header && { header, parts: parts as [string, string, string] };
}

/**
 * Checks the signature, in this thread: jose goes through the thread pool of WebCrypto, which takes twice as long.
 * @param alg what the key is for; the JWS has no say in it, and has to say the same.
 * @returns undefined if it was not signed with this key, or names what has to be understood and is not (RFC 7515 §4.1.11).
 * @throws Error if that is no key.
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

/** @returns undefined unless it is a JSON object in UTF-8. */
export function parseObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value = parseForeignJson(bytes);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
