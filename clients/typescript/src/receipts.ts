import type { Accord } from './accord.ts';
import { decodeBase64 } from './base64.ts';
import type { components } from './contract.gen.ts';
import { AccordError } from './problem.ts';

export type Receipt = components['schemas']['Receipt'];
/** A public key of an instance (RFC 7517). */
export type SigningKey = components['schemas']['JwkSet']['keys'][number];

/** A text that is not a receipt which the instance has signed. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError';
}

/** The keys with which an instance signs, also earlier ones. Older instances have no JWK Set of their own. */
export async function signingKeys(accord: Accord): Promise<SigningKey[]> {
  try {
    return (await accord.getSigningKeys()).keys;
  } catch (error) {
    if (!(error instanceof AccordError) || error.status !== 404) throw error;
    const { jwks } = await accord.getInstance();
    return jwks.keys.filter(({ use }) => use === 'sig') as SigningKey[];
  }
}

/**
 * Verifies a receipt (`getReceipt` with `accept: 'application/jose'`) and returns what was signed.
 * @param keys of the instance that you trust, never of one that the receipt names.
 * @throws {ReceiptError}
 */
export async function verifySignedReceipt(jws: string, keys: readonly SigningKey[]): Promise<Receipt> {
  const parts = jws.trim().split('.');
  const [header = '', payload = '', signature = ''] = parts;
  if (parts.length !== 3) throw new ReceiptError('A receipt is a compact JWS of three parts.');
  const { alg, kid, typ, crit } = read(header) as Record<string, unknown>;
  if (alg !== 'ES256' || typ !== 'accord-consent-receipt+jws' || crit !== undefined)
    throw new ReceiptError('The header is not that of a receipt.');
  const found = keys.find((key) => key.kid === kid);
  if (!found) throw new ReceiptError('The instance does not publish the key of this receipt.');
  const { kty, crv, x, y } = found;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, algorithm, false, ['verify']);
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  if (!(await crypto.subtle.verify(algorithm, key, bytesOf(signature), signed)))
    throw new ReceiptError('The signature is wrong.');
  return read(payload) as Receipt;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  try {
    return decodeBase64(text);
  } catch {
    throw new ReceiptError('The receipt is not base64url.');
  }
}

function read(part: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytesOf(part)));
  } catch {
    throw new ReceiptError('The receipt is not JSON in base64url.');
  }
}
