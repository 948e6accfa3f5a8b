import { createHash } from 'node:crypto';

/** SHA-256 of a raw body, base64url: what signatures between instances are over. */
export function bodyDigest(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url');
}
