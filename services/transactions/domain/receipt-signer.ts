import { CompactSign, importJWK, type JWK } from 'jose';

/** Signs a receipt's body as it is stored. @returns a compact JWS. */
export type ReceiptSigner = (body: string) => Promise<string>;

/** Receipts are signed with the instance's key, whose public part stands in `/.well-known/accord` (decisions.md §14). */
export async function createReceiptSigner(signingKey: JWK & { kid: string }): Promise<ReceiptSigner> {
  const key = await importJWK(signingKey, 'ES256');
  const encoder = new TextEncoder();
  return (body) =>
    new CompactSign(encoder.encode(body))
      .setProtectedHeader({
        alg: 'ES256',
        kid: signingKey.kid,
        typ: 'accord-consent-receipt+jws',
        cty: 'application/json',
      })
      .sign(key);
}
