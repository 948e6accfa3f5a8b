import { createECDH, createHash, generateKeyPairSync } from 'node:crypto';
import type { JWK } from 'jose';

/** A private key on P-256, for ES256 or ECDH-ES. `kid` is its RFC 7638 thumbprint. */
export type PrivateKey = JWK & { kty: 'EC'; crv: 'P-256'; x: string; y: string; d: string; kid: string };

/** `d` of the private keys printed in RFC 7515 A.3 and RFC 7517 A.2. */
const published = new Set([
  'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
  '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE',
]);

/** Draws a key, as one line of JSON. */
export function generatePrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return JSON.stringify(privateKey.export({ format: 'jwk' }));
}

/** Reads one entry. @throws Error that says what is wrong with it, never what it is. */
export function readPrivateKey(line: string): PrivateKey {
  const jwk = parse(line);
  if (jwk.kty !== 'EC' || jwk.crv !== 'P-256' || typeof jwk.d !== 'string')
    throw new Error('must be a private key on the curve P-256, as a JWK on one line');
  if (published.has(jwk.d)) throw new Error('is an example that everybody knows');
  const { x, y } = publicPoint(jwk.d);
  // Others verify with x and y: a file whose halves do not belong together must not get that far.
  if (x !== jwk.x || y !== jwk.y)
    throw new Error('has a public part that does not belong to its private part');
  const kid = createHash('sha256')
    .update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }))
    .digest('base64url');
  return { kty: 'EC', crv: 'P-256', x, y, d: jwk.d, kid };
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
    // Falls through: whatever it is, it is no JWK.
  }
  throw new Error('must be a JWK: one JSON object on one line');
}

/** The point that the private number alone makes. */
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
