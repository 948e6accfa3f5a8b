import { createHash } from 'node:crypto';
import type { JWK } from 'jose';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { PeerEntry, SharedEntry } from '#lib/contracts/peer-entries.ts';
import {
  type CompactJws,
  createCompactJws,
  createEs256,
  parseObject,
  provePayload,
  readCompactJws,
  type SignatureAlgorithm,
} from '#lib/jose/jws.ts';
import { isStorable } from '#lib/json/check-json.ts';

/** A pinned public signing key of a peer, with its RFC 7638 thumbprint. */
export type PinnedKey = { kid: string; jwk: JWK };

/** Largest accepted difference between two clocks; a larger one raises an alert on both sides. */
export const maxSkewSeconds = 30;

/** SHA-256 of a raw body in base64url: signatures between instances cover this value. */
export function bodyDigest(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url');
}

/** The only algorithm that a public signing key is used with, so that a token cannot choose another. */
export function algorithmOf(key: JWK): SignatureAlgorithm | undefined {
  if (key.kty === 'EC' && key.crv === 'P-256') return 'ES256';
  if (key.kty === 'OKP' && key.crv === 'Ed25519') return 'EdDSA';
  return undefined;
}

/** Signs claims with ES256. @param type `typ` of the header. @returns a compact JWS. */
export function signClaims(claims: object, { type, key }: { type: string; key: PrivateKey }): string {
  return createCompactJws(
    { alg: 'ES256', typ: type, kid: key.kid },
    createEs256(key),
  )(JSON.stringify(claims));
}

/** Seconds since 1970, as JWT claims have them (RFC 7519, NumericDate). */
export function numericDate(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** Why a signed document is rejected, in the order of the checks. */
export type SignedFault = 'size' | 'form' | 'algorithm' | 'unknown-key' | 'signature' | 'claims';

/**
 * Reads a JWS that a peer signed. The signature is checked only if the key is pinned.
 * @param options.signing the pinned signing keys of that peer only. @param options.maxLength in characters.
 */
export function readSigned(
  jws: string,
  { type, maxLength, signing }: { type: string; maxLength: number; signing: readonly PinnedKey[] },
): { claims: Record<string, unknown> } | { fault: SignedFault } {
  if (jws.length > maxLength) return { fault: 'size' };
  const read = readCompactJws(jws);
  if (!read) return { fault: 'form' };
  const { typ, crit, kid } = read.header;
  if (typ !== type || crit !== undefined) return { fault: 'algorithm' };
  const key = signing.find((each) => each.kid === kid);
  if (!key) return { fault: 'unknown-key' };
  const fault = signatureFault(read, key.jwk);
  if (fault) return { fault };
  const claims = readPayload(read);
  return claims ? { claims } : { fault: 'claims' };
}

/** Why a key does not prove a JWS; undefined if the key signed it. */
export function signatureFault(jws: CompactJws, key: JWK): 'algorithm' | 'signature' | undefined {
  const alg = algorithmOf(key);
  if (alg === undefined || alg !== jws.header.alg) return 'algorithm';
  return provePayload(jws, key, alg) ? undefined : 'signature';
}

/** The payload of a JWS, unproved before {@link signatureFault}; undefined if it is not a JSON object. */
export function readPayload({ parts }: CompactJws): Record<string, unknown> | undefined {
  return parseObject(Buffer.from(parts[1], 'base64url'));
}

/** Why a document is rejected, in the order of the checks. */
export type DocumentFault = SignedFault | 'issuer' | 'content';

const documentType = 'accord-model+jwt';
const maxDocumentLength = 2 * 1024 * 1024;

/** Signs an entry for peers (docs/federation.md, "Catalogue"). The document states what was true at `iat`. */
export function signSharedEntry(
  entry: SharedEntry,
  { issuer, key, now }: { issuer: string; key: PrivateKey; now: Date },
): string {
  return signClaims({ ...entry, iss: issuer, iat: numericDate(now) }, { type: documentType, key });
}

/**
 * Reads an entry that a peer shares. The service forms validates its content.
 * @param peer.url its base URL. @param peer.signing its pinned signing keys only.
 */
export function readSharedDocument(
  jws: string,
  { url, signing }: { url: string; signing: readonly PinnedKey[] },
): { entry: PeerEntry } | { fault: DocumentFault } {
  const read = readSigned(jws, { type: documentType, maxLength: maxDocumentLength, signing });
  if ('fault' in read) return read;
  const { iss, key, type: kind, name, serial, defaultLanguage, data } = read.claims;
  if (iss !== url) return { fault: 'issuer' };
  const entry = { key, type: kind, name, serial, defaultLanguage, data } as PeerEntry;
  // PostgreSQL would reject the whole batch because of one text that it cannot store.
  return isStorable(entry) ? { entry } : { fault: 'content' };
}
