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
import { algorithmOf } from './key-algorithm.ts';

/** A public key of a peer, by its RFC 7638 thumbprint. */
export interface PeerKey {
  kid: string;
  use: 'sig' | 'enc';
  jwk: JWK;
}

/** Thumbprints of the signing ones among keys. */
export function signingKids(keys: readonly PeerKey[]): string[] {
  return keys.filter(({ use }) => use === 'sig').map(({ kid }) => kid);
}

/** What a peer says of itself, with its own signature (federation.md, "Trust"). */
export interface PeerDescription {
  /** Base URL. */
  instance: string;
  name: string;
  keys: PeerKey[];
  /** kid of the key that signed it: one of its own signing keys. */
  signedBy: string;
}

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

export type ReadDescription =
  | { valid: true; description: PeerDescription }
  | { valid: false; fault: DescriptionFault };

const longest = 64 * 1024;
const mostKeys = 16;
const mostSkewSeconds = 30;
const longestLifeSeconds = 7 * 24 * 60 * 60;
/** The version of the protocol that this instance speaks. */
export const protocolVersion = '1';

/**
 * Reads a self-description (a JWS of typ `accord-instance+jwt`). That it is signed by one of its own keys proves that whoever made it has
 * that key, and no more: whether the key is to be trusted is another question.
 * @param url where it came from, or who is said to have sent it. @param ownKids of this instance's keys: nobody else has them.
 */
export async function readDescription(
  jws: string,
  { url, now, ownKids }: { url: string; now: Date; ownKids: ReadonlySet<string> },
): Promise<ReadDescription> {
  const parts = jws.length <= longest ? decode(jws) : undefined;
  if (!parts) return refuse('form');
  const { header, payload } = parts;
  if (header.typ !== 'accord-instance+jwt' || header.crit !== undefined) return refuse('algorithm');
  const keys = await readKeys(payload.jwks);
  if (!keys) return refuse('keys');
  if (keys.some(({ kid }) => ownKids.has(kid))) return refuse('own-keys');
  const signer = keys.find(({ kid, use }) => kid === header.kid && use === 'sig');
  if (!signer || algorithmOf(signer.jwk) !== header.alg) return refuse('algorithm');
  if (!(await isSignedBy(jws, signer))) return refuse('signature');
  const fault = faultOf(payload, { url, now });
  if (fault) return refuse(fault);
  const name = toNfc(payload.name as string).trim();
  return { valid: true, description: { instance: url, name, keys, signedBy: signer.kid } };
}

function refuse(fault: DescriptionFault): ReadDescription {
  return { valid: false, fault };
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

/** Signing and sealing keys, each named by its own thumbprint; undefined unless there is one of each. */
async function readKeys(jwks: unknown): Promise<PeerKey[] | undefined> {
  const listed = (jwks as { keys?: unknown } | undefined)?.keys;
  if (!Array.isArray(listed) || listed.length > mostKeys) return undefined;
  const keys = await Promise.all(listed.map(readKey));
  const known = keys.filter((key) => key !== undefined);
  const uses = new Set(known.map(({ use }) => use));
  const whole = known.length === listed.length && new Set(known.map(({ kid }) => kid)).size === known.length;
  return whole && uses.size === 2 ? known : undefined;
}

async function readKey(value: unknown): Promise<PeerKey | undefined> {
  const { kty, crv, x, y, use, kid, d } = (value ?? {}) as Record<string, unknown>;
  if (use !== 'sig' && use !== 'enc') return undefined;
  // A private key among them was published by mistake: nobody should trust it.
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
  payload: Record<string, unknown>,
  { url, now }: { url: string; now: Date },
): DescriptionFault | undefined {
  const { iss, instance, iat, exp, name, versions } = payload;
  const seconds = now.getTime() / 1000;
  if (iss !== url || instance !== url) return 'instance';
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp - iat > longestLifeSeconds) return 'lifetime';
  if (iat > seconds + mostSkewSeconds || exp < seconds - mostSkewSeconds) return 'lifetime';
  if (typeof name !== 'string' || !isInstanceName(name)) return 'name';
  return Array.isArray(versions) && versions.includes(protocolVersion) ? undefined : 'version';
}
