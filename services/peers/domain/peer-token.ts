import type { JWK } from 'jose';
import {
  createCompactJws,
  createEs256,
  parseObject,
  provePayload,
  readCompactJws,
  type SignatureAlgorithm,
} from '#lib/jose/jws.ts';
import { bodyDigest } from './body-digest.ts';
import { algorithmOf } from './key-algorithm.ts';

/** A request between instances, as far as its token vouches for it (federation.md, "Trust"). */
export interface PeerRequest {
  method: string;
  /** The whole address. What follows `?` is not compared, as in RFC 9449 §4.2. */
  url: string;
  body: Uint8Array;
}

/** A request that has come in: its body is read when all else is right, so that a stranger's is not read at all. */
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

/**
 * Finds a pinned signing key of one peer. Peers list public keys as they like, so a thumbprint alone names no peer.
 * @param issuer base URL of the peer that is said to have signed.
 */
export type FindPinnedKey = (issuer: string, kid: string) => Promise<JWK | undefined>;

/** Why a token is refused, in the order in which it is looked at. */
export type PeerTokenFault =
  | 'size'
  | 'form'
  | 'algorithm'
  | 'unknown-key'
  | 'signature'
  | 'claims'
  | 'lifetime'
  | 'clock'
  | 'audience'
  | 'method'
  | 'address'
  | 'body';

export type PeerTokenVerdict =
  | { valid: true; peer: string; kid: string; claims: PeerClaims }
  /** @param clock with `clock`: who has signed it, and when by its own. */
  | { valid: false; fault: PeerTokenFault; clock?: { peer: string; issuedAt: number } };

const longestToken = 4_096;
const lifetimeSeconds = 60;
/** Two clocks may differ by this much; more is an alert on both sides. */
export const mostSkewSeconds = 30;
const algorithms: readonly SignatureAlgorithm[] = ['ES256', 'EdDSA'];
const type = 'accord-peer+jwt';
/** ids are ours to keep until they cannot come again: long ones would fill the table. */
const tokenId = /^[\w.~-]{16,64}$/;

/** By the key, which is made ready for use once. */
const writers = new WeakMap<JWK, (payload: string) => string>();

/** Signs a request to a peer. @param audience the peer's base URL. @returns the value of `Authorization: Peer <…>`. */
export async function signPeerRequest({
  request,
  issuer,
  audience,
  key,
  id,
  now,
}: {
  request: PeerRequest;
  issuer: string;
  audience: string;
  /** Private, ES256, with its thumbprint. */
  key: JWK & { kid: string };
  /** jti: one of its own for every attempt. */
  id: string;
  now: Date;
}): Promise<string> {
  const write =
    writers.get(key) ?? createCompactJws({ alg: 'ES256', typ: type, kid: key.kid }, createEs256(key));
  writers.set(key, write);
  const issuedAt = Math.floor(now.getTime() / 1000);
  const claims: PeerClaims = {
    ...{ iss: issuer, aud: audience, htm: request.method, htu: addressOf(request.url) },
    ...{ bd: bodyDigest(request.body), jti: id, iat: issuedAt, exp: issuedAt + lifetimeSeconds },
  };
  return write(JSON.stringify(claims));
}

/**
 * Checks a request's token: size, form, algorithm and key, signature, time, then what it vouches for. Whether its id was used before
 * is for the caller to find out, in the database. A key that nobody pinned costs no signature check.
 * @param options.pinned finds a key by the issuer that the token names and its `kid`; the signature then proves both.
 */
export async function verifyPeerToken(
  token: string,
  request: IncomingPeerRequest,
  options: { audience: string; pinned: FindPinnedKey; now: Date },
): Promise<PeerTokenVerdict> {
  if (token.length > longestToken) return refuse('size');
  const jws = readCompactJws(token);
  if (!jws) return refuse('form');
  const { alg, crit, kid, typ } = jws.header;
  if (typ !== type || crit !== undefined || !isKnown(alg)) return refuse('algorithm');
  // Unproved until the signature is checked: used to look up the key, nothing else.
  const said = parseObject(Buffer.from(jws.parts[1], 'base64url'));
  const issuer = said?.iss;
  if (typeof issuer !== 'string') return refuse('claims');
  if (typeof kid !== 'string') return refuse('unknown-key');
  const pinned = await options.pinned(issuer, kid);
  if (!pinned) return refuse('unknown-key');
  if (algorithmOf(pinned) !== alg) return refuse('algorithm');
  if (!provePayload(jws, pinned, alg)) return refuse('signature');
  const claims = readClaims(said);
  if (!claims) return refuse('claims');
  const fault =
    faultOf(claims, { ...options, request }) ??
    (claims.bd === bodyDigest(await request.body()) ? undefined : 'body');
  if (!fault) return { valid: true, peer: issuer, kid, claims };
  const clock = { peer: issuer, issuedAt: claims.iat };
  return { ...refuse(fault), ...(fault === 'clock' ? { clock } : {}) };
}

function refuse(fault: PeerTokenFault): PeerTokenVerdict & { valid: false } {
  return { valid: false, fault };
}

function isKnown(alg: unknown): alg is SignatureAlgorithm {
  return algorithms.some((each) => each === alg);
}

function readClaims(said: Record<string, unknown> | undefined): PeerClaims | undefined {
  const claims = said as Partial<PeerClaims> | undefined;
  const texts = [claims?.iss, claims?.aud, claims?.htm, claims?.htu, claims?.bd, claims?.jti];
  const times = [claims?.iat, claims?.exp];
  const whole =
    texts.every((text) => typeof text === 'string') && times.every((time) => Number.isSafeInteger(time));
  return whole && tokenId.test(claims?.jti as string) ? (claims as PeerClaims) : undefined;
}

function faultOf(
  claims: PeerClaims,
  { audience, request, now }: { audience: string; request: IncomingPeerRequest; now: Date },
): PeerTokenFault | undefined {
  const seconds = now.getTime() / 1000;
  if (claims.exp <= claims.iat || claims.exp - claims.iat > lifetimeSeconds) return 'lifetime';
  if (claims.iat > seconds + mostSkewSeconds || claims.exp < seconds - mostSkewSeconds) return 'clock';
  if (claims.aud !== audience) return 'audience';
  if (claims.htm !== request.method) return 'method';
  if (addressOf(claims.htu) !== addressOf(request.url)) return 'address';
  return undefined;
}

function addressOf(url: string): string {
  return url.split(/[?#]/, 1)[0] as string;
}
