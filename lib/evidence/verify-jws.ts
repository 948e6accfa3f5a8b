import type { JWK } from 'jose';
import { EvidenceFault, parseObject } from '#lib/evidence/ndjson.ts';
import { provePayload, readCompactJws, type SignatureAlgorithm } from '#lib/jose/jws.ts';

/** A public signing key of evidence. */
export interface EvidenceKey {
  jwk: JWK;
  alg: SignatureAlgorithm;
}

/**
 * Verifies a compact JWS and returns its payload.
 * @param about.type `typ` of the header. @param about.place named by the fault.
 * @throws EvidenceFault.
 */
export type VerifyJws = (jws: unknown, about: { type: string; place: string }) => Record<string, unknown>;

/** @param keys by `kid`. @param onUse is called with the `kid` of each valid signature. */
export function createJwsVerifier(
  keys: ReadonlyMap<string, EvidenceKey>,
  onUse: (kid: string) => void,
): VerifyJws {
  return (given, { type, place }) => {
    const invalid = (why: string) => new EvidenceFault(`${place}: the signature is not valid (${why}).`);
    const jws = typeof given === 'string' ? readCompactJws(given) : undefined;
    if (!jws) throw invalid('not a compact JWS');
    const kid = String(jws.header.kid);
    const key = keys.get(kid);
    if (!key) throw invalid(`no key has the kid ${kid}`);
    // A text that decodes to the same bytes is another text.
    if (jws.parts.some((part) => Buffer.from(part, 'base64url').toString('base64url') !== part))
      throw invalid('not base64url');
    const payload = provePayload(jws, key.jwk, key.alg);
    if (!payload) throw invalid('it is of another key, algorithm or text');
    if (jws.header.typ !== type) throw new EvidenceFault(`${place}: the JWS has not the type ${type}.`);
    onUse(kid);
    return parseObject(payload, place).value;
  };
}
