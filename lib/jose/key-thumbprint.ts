import { calculateJwkThumbprint, type JWK } from 'jose';
import { rememberByText } from '#lib/memo/remember-by-text.ts';

/** Peers' keys come from the database each time, and each part that is sealed names its key. */
const thumbprintOf = rememberByText((members: string) => calculateJwkThumbprint(JSON.parse(members) as JWK));

/** The name of an elliptic curve key: its thumbprint (RFC 7638), worked out once. @throws if it is none. */
export function keyThumbprint({ kty, crv, x, y }: JWK): Promise<string> {
  return thumbprintOf(JSON.stringify({ kty, crv, x, y }));
}
