import {
  calculateJwkThumbprint,
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  type JWK,
} from 'jose';
import { isInstanceName } from '#lib/federation/instance-name.ts';
import { toNfc } from '#lib/text/nfc.ts';
import { algorithmOf, maxSkewSeconds, numericDate, type OwnKey, signClaims } from './signatures.ts';

/** This instance's self-description (docs/federation.md, "Who an instance is"). */
export interface SelfDescription {
  /** Base URL: identifies the instance. */
  instance: string;
  name: string;
  /**
   * Public keys: signing (`use: sig`) and sealing (`use: enc`), each with its RFC 7638 thumbprint as `kid`.
   */
  jwks: { keys: JWK[] };
  endpoints: { description: string; pairing: string };
  /** Versions of the federation protocol that the instance speaks. */
  versions: string[];
}

/** A public key of a peer. */
export interface PeerKey {
  /** RFC 7638 thumbprint. */
  kid: string;
  use: 'sig' | 'enc';
  jwk: JWK;
}

/** A peer's self-description whose signature was verified. */
export interface PeerDescription {
  /** Base URL. */
  instance: string;
  name: string;
  keys: PeerKey[];
  /** `kid` of the key that signed it: one of its own signing keys. */
  signedBy: string;
}

/** Why a self-description is rejected. */
export type DescriptionFault =
  | 'form'
  | 'algorithm'
  | 'keys'
  | 'own-keys'
  | 'signature'
  | 'instance'
  | 'lifetime'
  | 'name'
  | 'version';

const type = 'accord-instance+jwt';
const protocolVersion = '1';
const lifetimeSeconds = 24 * 60 * 60;
const maxLength = 64 * 1024;
const maxKeys = 16;
const maxLifetimeSeconds = 7 * 24 * 60 * 60;

/** Builds the self-description from the instance's private keys. Older keys stay published. */
export async function describeInstance({
  baseUrl,
  name,
  signingKeys,
  sealingKeys,
}: {
  baseUrl: string;
  name: string;
  signingKeys: readonly JWK[];
  sealingKeys: readonly JWK[];
}): Promise<SelfDescription> {
  const keys = await Promise.all([
    ...signingKeys.map((key) => publicPart(key, 'sig', 'ES256')),
    ...sealingKeys.map((key) => publicPart(key, 'enc', 'ECDH-ES')),
  ]);
  return {
    instance: baseUrl,
    name,
    jwks: { keys },
    endpoints: { description: `${baseUrl}/.well-known/accord`, pairing: `${baseUrl}/federation/pairing` },
    versions: [protocolVersion],
  };
}

async function publicPart({ kty, crv, x, y }: JWK, use: 'sig' | 'enc', alg: string): Promise<JWK> {
  const key = { kty, crv, x, y };
  return { ...key, use, alg, kid: await calculateJwkThumbprint(key as JWK) };
}

/**
 * Signs a self-description, valid for a day.
 * @param key the oldest of the instance's keys: peers that pinned it accept the newer ones
 * (docs/federation.md, "Requests between peers").
 */
export function signDescription(description: SelfDescription, key: OwnKey, now = new Date()): string {
  const iat = numericDate(now);
  const claims = { ...description, iss: description.instance, iat, exp: iat + lifetimeSeconds };
  return signClaims(claims, { type, key });
}

/** Thumbprints of the signing keys among `keys`. */
export function signingKids(keys: readonly PeerKey[]): string[] {
  return keys.filter(({ use }) => use === 'sig').map(({ kid }) => kid);
}

/**
 * Reads a self-description. Its signature proves possession of one of the listed keys. Whether that key is
 * trusted is a separate check (docs/federation.md, "Requests between peers").
 * @param url where it was fetched, or the claimed sender. @param ownKids of this instance's keys, which no
 * peer may list.
 */
export async function readDescription(
  jws: string,
  { url, now, ownKids }: { url: string; now: Date; ownKids: ReadonlySet<string> },
): Promise<{ description: PeerDescription } | { fault: DescriptionFault }> {
  const decoded = jws.length <= maxLength ? decode(jws) : undefined;
  if (!decoded) return { fault: 'form' };
  const { header, payload } = decoded;
  if (header.typ !== type || header.crit !== undefined) return { fault: 'algorithm' };
  const keys = await readKeys(payload.jwks);
  if (!keys) return { fault: 'keys' };
  if (keys.some(({ kid }) => ownKids.has(kid))) return { fault: 'own-keys' };
  const signer = keys.find(({ kid, use }) => kid === header.kid && use === 'sig');
  if (!signer || algorithmOf(signer.jwk) !== header.alg) return { fault: 'algorithm' };
  if (!(await isSignedBy(jws, signer))) return { fault: 'signature' };
  const fault = faultOf(payload, { url, now });
  if (fault) return { fault };
  const name = toNfc(payload.name as string).trim();
  return { description: { instance: url, name, keys, signedBy: signer.kid } };
}

function decode(
  jws: string,
): { header: Record<string, unknown>; payload: Record<string, unknown> } | undefined {
  try {
    return { header: { ...decodeProtectedHeader(jws) }, payload: { ...decodeJwt(jws) } };
  } catch {
    return undefined;
  }
}

async function isSignedBy(jws: string, { jwk }: PeerKey): Promise<boolean> {
  const alg = algorithmOf(jwk) as string;
  try {
    await compactVerify(jws, await importJWK(jwk, alg), { algorithms: [alg] });
    return true;
  } catch {
    return false;
  }
}

/** Requires distinct, valid keys, at least one for signing and one for sealing. */
async function readKeys(jwks: unknown): Promise<PeerKey[] | undefined> {
  const listed = (jwks as { keys?: unknown } | undefined)?.keys;
  if (!Array.isArray(listed) || listed.length > maxKeys) return undefined;
  const keys = (await Promise.all(listed.map(readKey))).filter((key) => key !== undefined);
  const isComplete =
    keys.length === listed.length && new Set(keys.map(({ kid }) => kid)).size === keys.length;
  return isComplete && new Set(keys.map(({ use }) => use)).size === 2 ? keys : undefined;
}

async function readKey(value: unknown): Promise<PeerKey | undefined> {
  const { kty, crv, x, y, use, kid, d } = (value ?? {}) as Record<string, unknown>;
  if (use !== 'sig' && use !== 'enc') return undefined;
  // A published private key is compromised.
  if (d !== undefined) return undefined;
  const jwk = (kty === 'EC' ? { kty, crv, x, y } : { kty, crv, x }) as JWK;
  const fits = use === 'sig' ? algorithmOf(jwk) !== undefined : jwk.kty === 'EC' && jwk.crv === 'P-256';
  try {
    if (!fits || (await calculateJwkThumbprint(jwk)) !== kid) return undefined;
    await importJWK(jwk, use === 'sig' ? algorithmOf(jwk) : 'ECDH-ES');
    return { kid, use, jwk };
  } catch {
    return undefined;
  }
}

function faultOf(
  { iss, instance, iat, exp, name, versions }: Record<string, unknown>,
  { url, now }: { url: string; now: Date },
): DescriptionFault | undefined {
  const seconds = now.getTime() / 1000;
  if (iss !== url || instance !== url) return 'instance';
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp - iat > maxLifetimeSeconds) return 'lifetime';
  if (iat > seconds + maxSkewSeconds || exp < seconds - maxSkewSeconds) return 'lifetime';
  if (typeof name !== 'string' || !isInstanceName(name)) return 'name';
  return Array.isArray(versions) && versions.includes(protocolVersion) ? undefined : 'version';
}
