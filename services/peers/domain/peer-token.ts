import type { JWK } from 'jose';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { readCompactJws } from '#lib/jose/jws.ts';
import {
  bodyDigest,
  maxSkewSeconds,
  numericDate,
  readPayload,
  type SignedFault,
  signatureFault,
  signClaims,
} from './signatures.ts';

/** The parts of a request that its token signs (docs/federation.md, "Requests between peers"). */
export interface PeerRequest {
  method: string;
  /** Absolute URL. The query string is not compared (RFC 9449 §4.2). */
  url: string;
  body: Uint8Array;
}

/** An incoming request. Its body is read last: only after the signature has proved who sent it. */
export type IncomingPeerRequest = Omit<PeerRequest, 'body'> & { body: () => Promise<Uint8Array> };

/** Claims of a token of typ `accord-peer+jwt`. */
export interface PeerClaims {
  iss: string;
  aud: string;
  htm: string;
  htu: string;
  /** SHA-256 of the raw body, base64url. */
  bd: string;
  jti: string;
  iat: number;
  exp: number;
}

/** Why a token is rejected, in the order of the checks. */
export type PeerTokenFault = SignedFault | 'lifetime' | 'clock' | 'audience' | 'method' | 'address' | 'body';

export type PeerTokenCheck =
  | { valid: true; peer: string; kid: string; claims: PeerClaims }
  /** @param issuer as claimed; proved unless the key is unknown. @param issuedAt in seconds; proved. */
  | { valid: false; fault: PeerTokenFault; issuer?: string; issuedAt?: number };

const maxTokenLength = 4_096;
const lifetimeSeconds = 60;
const type = 'accord-peer+jwt';
/** Token ids are stored until they expire, so their length is bounded. */
const tokenId = /^[\w.~-]{16,64}$/;

/**
 * Signs a request. @param issuer this instance's base URL. @param audience the peer's. @param id `jti`, new
 * for every attempt. @returns the value for `Authorization: Peer`.
 */
export function signPeerRequest(
  { method, url, body }: PeerRequest,
  { issuer, audience, key, id = randomId(), now = new Date() }: PeerRequestOptions,
): string {
  const about = { iss: issuer, aud: audience, htm: method, htu: withoutQuery(url), bd: bodyDigest(body) };
  const iat = numericDate(now);
  return signClaims({ ...about, jti: id, iat, exp: iat + lifetimeSeconds }, { type, key });
}

type PeerRequestOptions = { issuer: string; audience: string; key: PrivateKey; id?: string; now?: Date };

/**
 * Checks a request's token in the order of {@link PeerTokenFault}. The signature is checked only if the key
 * is pinned. The caller checks in the database that the `jti` is new.
 * @param options.pinned finds a pinned key of one peer by the claimed `iss` and `kid`; the signature then
 * proves both. Several peers may list the same public key, so `kid` alone does not identify a peer.
 */
export async function verifyPeerToken(
  token: string,
  request: IncomingPeerRequest,
  options: { audience: string; pinned: (issuer: string, kid: string) => Promise<JWK | undefined>; now: Date },
): Promise<PeerTokenCheck> {
  if (token.length > maxTokenLength) return refuse('size');
  const jws = readCompactJws(token);
  if (!jws) return refuse('form');
  const { alg, crit, kid, typ } = jws.header;
  // Checked before the look-up, so that only a token that could be valid causes one.
  const isAccepted = alg === 'ES256' || alg === 'EdDSA';
  if (typ !== type || crit !== undefined || !isAccepted) return refuse('algorithm');
  // Until the signature is checked, these claims are unproved and only used to look up the key.
  const claimed = readPayload(jws);
  const issuer = claimed?.iss;
  if (typeof issuer !== 'string') return refuse('claims');
  const pinned = typeof kid === 'string' ? await options.pinned(issuer, kid) : undefined;
  if (!pinned) return { ...refuse('unknown-key'), issuer };
  const unproved = signatureFault(jws, pinned);
  if (unproved) return refuse(unproved);
  const claims = readClaims(claimed);
  if (!claims) return refuse('claims');
  const fault = faultOf(claims, { ...options, request });
  if (fault) return { ...refuse(fault), issuer, issuedAt: claims.iat };
  if (claims.bd !== bodyDigest(await request.body())) return refuse('body');
  return { valid: true, peer: issuer, kid: kid as string, claims };
}

function refuse(fault: PeerTokenFault): PeerTokenCheck & { valid: false } {
  return { valid: false, fault };
}

function readClaims(claimed: Record<string, unknown> | undefined): PeerClaims | undefined {
  const claims = claimed as Partial<PeerClaims> | undefined;
  const texts = [claims?.iss, claims?.aud, claims?.htm, claims?.htu, claims?.bd, claims?.jti];
  const times = [claims?.iat, claims?.exp];
  const isComplete =
    texts.every((text) => typeof text === 'string') && times.every((time) => Number.isSafeInteger(time));
  return isComplete && tokenId.test(claims?.jti as string) ? (claims as PeerClaims) : undefined;
}

function faultOf(
  claims: PeerClaims,
  { audience, request, now }: { audience: string; request: IncomingPeerRequest; now: Date },
): PeerTokenFault | undefined {
  const seconds = now.getTime() / 1000;
  if (claims.exp <= claims.iat || claims.exp - claims.iat > lifetimeSeconds) return 'lifetime';
  if (claims.iat > seconds + maxSkewSeconds || claims.exp < seconds - maxSkewSeconds) return 'clock';
  if (claims.aud !== audience) return 'audience';
  if (claims.htm !== request.method) return 'method';
  return withoutQuery(claims.htu) === withoutQuery(request.url) ? undefined : 'address';
}

function withoutQuery(url: string): string {
  return url.split(/[?#]/, 1)[0] as string;
}
