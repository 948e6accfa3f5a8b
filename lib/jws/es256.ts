import { sign } from 'node:crypto';
import type { JWK } from 'jose';
import { privateKeyOf } from '#lib/jwk/key-objects.ts';
import type { Sign } from '#lib/jws/compact-jws.ts';

/** Signs with a private key on P-256 (RFC 7518 §3.4), in this thread: the way to another one and back takes longer than the signature. */
export function createEs256(privateKey: JWK): Sign {
  const key = privateKeyOf(privateKey);
  return (input) => sideBySide(sign('sha256', Buffer.from(input), key));
}

const integerBytes = 32;

/**
 * JWS has the integers r and s side by side in 32 bytes each (RFC 7518 §3.4); OpenSSL gives a DER sequence of them (RFC 3279 §2.2.3),
 * without leading zeros, and takes as long as for the signature to convert it.
 */
function sideBySide(der: Buffer): Buffer {
  const both = Buffer.alloc(2 * integerBytes);
  let at = 2;
  for (const end of [integerBytes, 2 * integerBytes]) {
    const start = at + 2;
    const stop = start + (der[at + 1] as number);
    // A zero in front keeps an integer positive whose first bit is set.
    const first = Math.max(start, stop - integerBytes);
    der.copy(both, end - (stop - first), first, stop);
    at = stop;
  }
  return both;
}
