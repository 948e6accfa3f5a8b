import type { JWK } from 'jose';
import { createCompactJws } from '#lib/jose/compact-jws.ts';
import { createEs256 } from '#lib/jose/es256.ts';

/** Signs a receipt's body as it is stored. @returns a compact JWS. */
export type ReceiptSigner = (body: string) => string;

/** Receipts are signed with the instance's key, whose public part stands in `/.well-known/accord` (docs/interface.md, "Receipts"). */
export function createReceiptSigner(signingKey: JWK & { kid: string }): ReceiptSigner {
  const header = {
    alg: 'ES256',
    kid: signingKey.kid,
    typ: 'accord-consent-receipt+jws',
    cty: 'application/json',
  };
  return createCompactJws(header, createEs256(signingKey));
}
