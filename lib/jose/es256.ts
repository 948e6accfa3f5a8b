import { sign } from 'node:crypto';
import type { JWK } from 'jose';
import type { Sign } from '#lib/jose/compact-jws.ts';
import { privateKeyOf } from '#lib/jose/key-objects.ts';

/** Signs with a private key on P-256 (RFC 7518 §3.4), in this thread: the way to another one and back takes longer than the signature. */
export function createEs256(privateKey: JWK): Sign {
  const key = privateKeyOf(privateKey);
  return (input) => sign('sha256', Buffer.from(input), key);
}
