import { compactVerify, createLocalJWKSet, type JWK } from 'jose';
import { EvidenceFault, parseObject } from '#lib/evidence/ndjson.ts';

/**
 * Verifies a compact JWS and returns its payload.
 * @param about.type `typ` of the header. @param about.place named by the fault.
 * @throws EvidenceFault.
 */
export type VerifyJws = (
  jws: unknown,
  about: { type: string; place: string },
) => Promise<Record<string, unknown>>;

const algorithms = ['ES256', 'EdDSA'];

/** @param keys the public keys of the instance; those for signatures are used. */
export function createJwsVerifier(keys: readonly JWK[]): VerifyJws {
  const known = createLocalJWKSet({ keys: keys.filter(({ use }) => use === undefined || use === 'sig') });
  return async (jws, { type, place }) => {
    const verified = await compactVerify(String(jws), known, { algorithms }).catch((error: Error) => {
      throw new EvidenceFault(`${place}: the signature is not valid (${error.message}).`);
    });
    if (verified.protectedHeader.typ !== type)
      throw new EvidenceFault(`${place}: the JWS has not the type ${type}.`);
    return parseObject(new TextDecoder().decode(verified.payload), place);
  };
}
