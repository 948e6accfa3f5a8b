import { createECDH, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { JWK } from 'jose';
import { keyThumbprint } from '#lib/jose/keys.ts';

/** A private key on P-256, for ES256 or ECDH-ES. `kid` is its RFC 7638 thumbprint. */
export type PrivateKey = JWK & { kty: 'EC'; crv: 'P-256'; x: string; y: string; d: string; kid: string };

/** `d` of the private keys printed in RFC 7515 A.3 and RFC 7517 A.2. */
const published = new Set([
  'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
  '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE',
]);

/** Generates a key as one line of JSON. */
export function generatePrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return JSON.stringify(privateKey.export({ format: 'jwk' }));
}

/** Reads one entry. @throws Error that names the fault and never the key. */
export function readPrivateKey(line: string): PrivateKey {
  const jwk = parse(line);
  if (jwk.kty !== 'EC' || jwk.crv !== 'P-256' || typeof jwk.d !== 'string')
    throw new Error('must be a private key on the curve P-256, as a JWK on one line');
  if (published.has(jwk.d)) throw new Error('is a published example key');
  const { x, y } = publicPoint(jwk.d);
  // Others verify with x and y, so a mismatch must be found here.
  if (x !== jwk.x || y !== jwk.y) throw new Error('has a public part that does not match its private part');
  const key = { kty: 'EC', crv: 'P-256', x, y, d: jwk.d } as const;
  return { ...key, kid: keyThumbprint(key) };
}

/** The public part of a key, as it is published. */
export function publicPart({ kty, crv, x, y, kid }: PrivateKey): JWK {
  return { kty, crv, x, y, kid };
}

function parse(line: string): JWK {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as JWK;
  } catch {
    // Reported below.
  }
  throw new Error('must be a JWK: one JSON object on one line');
}

/** Computes the public point from the private number. */
function publicPoint(d: string): { x: string; y: string } {
  try {
    const pair = createECDH('prime256v1');
    pair.setPrivateKey(Buffer.from(d, 'base64url'));
    const point = pair.getPublicKey(); // 0x04, x, y
    return { x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') };
  } catch {
    throw new Error('is not a valid private key');
  }
}

const minBytes = 32;
const minDistinct = 12;
/** Words from samples and manuals: a secret that contains one was copied, not generated. */
const sampleWords =
  /change.?me|example|secret|password|placeholder|insecure|replace|default|01234567|abcdefgh/i;

/** Generates a secret of 256 bits. */
export function generateSharedSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Reads one entry; its bytes are those of the text. @throws Error that names the fault and never the secret.
 */
export function readSharedSecret(line: string): Uint8Array {
  const bytes = new TextEncoder().encode(line);
  if (bytes.length < minBytes)
    throw new Error(`is ${bytes.length} bytes long and must be at least ${minBytes}`);
  if (sampleWords.test(line) || new Set(line).size < minDistinct)
    throw new Error('looks like an example; generate one, such as with: openssl rand -base64 48');
  return bytes;
}
