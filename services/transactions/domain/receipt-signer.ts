import { createPrivateKey, type JsonWebKeyInput, sign } from 'node:crypto';
import type { JWK } from 'jose';
import { createCompactJws } from './compact-jws.ts';

/** Signs a receipt's body as it is stored. @returns a compact JWS. */
export type ReceiptSigner = (body: string) => string;

/** Receipts are signed with the instance's key, whose public part stands in `/.well-known/accord` (decisions.md §14). */
export function createReceiptSigner(signingKey: JWK & { kid: string }): ReceiptSigner {
  const key = createPrivateKey({ key: signingKey, format: 'jwk' } as JsonWebKeyInput);
  const header = {
    alg: 'ES256',
    kid: signingKey.kid,
    typ: 'accord-consent-receipt+jws',
    cty: 'application/json',
  };
  // JWS has r and s side by side (RFC 7518 §3.4).
  return createCompactJws(header, (input) =>
    sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }),
  );
}
