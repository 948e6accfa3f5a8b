import { type JWK, SignJWT } from 'jose';
import type { SharedEntry } from '#lib/contracts/forms.ts';
import { privateKeyOf } from '#lib/jose/keys.ts';

/** Signs an entry for partner instances: a JWS of typ `accord-model+jwt`. It says what was true at `iat`; it does not end. */
export async function signSharedEntry(
  entry: SharedEntry,
  { issuer, key, now }: { issuer: string; key: JWK & { kid: string }; now: Date },
): Promise<string> {
  return new SignJWT({ ...entry })
    .setProtectedHeader({ alg: 'ES256', typ: 'accord-model+jwt', kid: key.kid })
    .setIssuer(issuer)
    .setIssuedAt(Math.floor(now.getTime() / 1000))
    .sign(privateKeyOf(key));
}
