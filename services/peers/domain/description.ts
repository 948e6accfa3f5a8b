import type { JWK } from 'jose';
import { type PrivateKey, publicPart } from '#lib/config/secret-values.ts';
import { auditAreas } from '#lib/contracts/audit-areas.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { isInstanceName } from '#lib/federation/instance-name.ts';
import { readCompactJws } from '#lib/jose/jws.ts';
import { keyThumbprint, readPublicKey } from '#lib/jose/keys.ts';
import { toNfc } from '#lib/text/nfc.ts';
import { readNoteKey } from '#lib/witness/note.ts';
import type { NoteSigner } from '#lib/witness/note-signer.ts';
import {
  algorithmOf,
  maxSkewSeconds,
  numericDate,
  readPayload,
  signatureFault,
  signClaims,
} from './signatures.ts';

/** This instance's self-description (docs/federation.md, "Who an instance is"). */
export type SelfDescription = Omit<components['schemas']['Instance'], 'jws'>;
type PublishedKey = components['schemas']['Jwk'];

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
  /** What it can do beyond the protocol's version; unknown ones have no effect. */
  capabilities: string[];
  /** Its page "My choices"; null if it announces none. */
  choices: string | null;
  /** Keys of its notes; null if it states none, as earlier releases. */
  notes: NoteKeys | null;
  /** `kid` of the key that signed the self-description: one of the signing keys in it. */
  signedBy: string;
}

/** Ed25519 keys of an instance (c2sp.org/signed-note), as text. */
export interface NoteKeys {
  /** Keys that sign the heads of its logs, by area. */
  logs: Record<string, string[]>;
  /** Keys that cosign the heads of others. */
  witness: string[];
}

/** Why a self-description is rejected. */
export const descriptionFaults = {
  form: 'The address does not publish a self-description.',
  algorithm: 'The self-description at this address is signed with an unsupported algorithm or key.',
  keys: 'The self-description at this address has missing or invalid keys.',
  'own-keys': 'The self-description at this address lists a key of this instance.',
  signature: 'The self-description at this address has an invalid signature.',
  instance: 'The instance at this address states another address. Use the stated address.',
  lifetime: 'The self-description at this address has expired. Compare the clocks of both machines.',
  name: 'The instance at this address has no valid name.',
  version: 'The instance at this address speaks no common version of the protocol.',
};

export type DescriptionFault = keyof typeof descriptionFaults;

const type = 'accord-instance+jwt';
const protocolVersion = '1';
const ownCapabilities = ['withdrawal', 'erasure'];
const lifetimeSeconds = 24 * 60 * 60;
const maxLength = 64 * 1024;
const maxKeys = 16;
const maxPageLength = 2_048;
const maxLifetimeSeconds = 7 * 24 * 60 * 60;

/** Builds the self-description from the instance's private keys. Older keys stay published. */
export function describeInstance(instance: {
  baseUrl: string;
  name: string;
  signingKeys: readonly PrivateKey[];
  sealingKeys: readonly PrivateKey[];
  notes: Pick<NoteSigner, 'logKeys' | 'witnessKeys'>;
}): SelfDescription {
  const { baseUrl, name, signingKeys, sealingKeys, notes } = instance;
  const keys = [
    ...signingKeys.map((key) => ({ ...publicPart(key), use: 'sig', alg: 'ES256' })),
    ...sealingKeys.map((key) => ({ ...publicPart(key), use: 'enc', alg: 'ECDH-ES' })),
  ] as PublishedKey[];
  return {
    instance: baseUrl,
    name,
    jwks: { keys },
    endpoints: {
      description: `${baseUrl}/.well-known/accord`,
      pairing: `${baseUrl}/federation/pairing`,
      choices: `${baseUrl}/choices`,
    },
    versions: [protocolVersion],
    capabilities: ownCapabilities,
    notes: {
      logs: Object.fromEntries(auditAreas.map((area) => [area, notes.logKeys(area)])),
      witness: notes.witnessKeys,
    },
  };
}

/**
 * Signs a self-description, valid for a day.
 * @param key the oldest signing key: peers that have pinned it accept the newer keys in the description.
 */
export function signDescription(description: SelfDescription, key: PrivateKey, now = new Date()): string {
  const iat = numericDate(now);
  const claims = { ...description, iss: description.instance, iat, exp: iat + lifetimeSeconds };
  return signClaims(claims, { type, key });
}

/** Thumbprints of the signing keys among `keys`. */
export function signingKids(keys: readonly PeerKey[]): string[] {
  return keys.filter(({ use }) => use === 'sig').map(({ kid }) => kid);
}

/**
 * Reads a self-description. The signature proves possession of one of the listed keys; it does not make
 * that key trusted.
 * @param url the base URL that the description must state. @param ownKids thumbprints of our keys, which no
 * peer may list.
 */
export function readDescription(
  jws: string,
  { url, now, ownKids }: { url: string; now: Date; ownKids: ReadonlySet<string> },
): { description: PeerDescription } | { fault: DescriptionFault } {
  const read = jws.length <= maxLength ? readCompactJws(jws) : undefined;
  const payload = read && readPayload(read);
  if (!payload) return { fault: 'form' };
  const { header } = read;
  if (header.typ !== type || header.crit !== undefined) return { fault: 'algorithm' };
  const keys = readKeys(payload.jwks);
  if (!keys) return { fault: 'keys' };
  if (keys.some(({ kid }) => ownKids.has(kid))) return { fault: 'own-keys' };
  const signer = keys.find(({ kid, use }) => kid === header.kid && use === 'sig');
  if (!signer) return { fault: 'algorithm' };
  const fault = signatureFault(read, signer.jwk) ?? faultOf(payload, { url, now });
  if (fault) return { fault };
  const name = toNfc(payload.name as string).trim();
  const capabilities = readCapabilities(payload.capabilities);
  const choices = readChoicesPage(payload.endpoints, url);
  const notes = readNoteKeys(payload.notes, new URL(url).host);
  return { description: { instance: url, name, keys, capabilities, choices, notes, signedBy: signer.kid } };
}

/** Earlier releases state none. */
function readCapabilities(stated: unknown): string[] {
  return Array.isArray(stated) ? stated.filter((each) => typeof each === 'string') : [];
}

/** A link that people follow must stay at the peer that announces the page: any other address is ignored. */
function readChoicesPage(endpoints: unknown, url: string): string | null {
  const stated = (endpoints as { choices?: unknown } | null | undefined)?.choices;
  if (typeof stated !== 'string' || stated.length > maxPageLength || !URL.canParse(stated)) return null;
  const { origin, href, username, password, search, hash } = new URL(stated);
  const isPlain = `${username}${password}${search}${hash}` === '' && !/[?#]/.test(href);
  return origin === new URL(url).origin && isPlain ? href : null;
}

/** Keys of other names are left out, because their notes would be those of others. */
function readNoteKeys(stated: unknown, host: string): NoteKeys | null {
  if (typeof stated !== 'object' || stated === null) return null;
  const { logs, witness } = stated as Partial<Record<keyof NoteKeys, unknown>>;
  const keysOf = (list: unknown, name: string) =>
    (Array.isArray(list) ? list.slice(0, maxKeys) : []).filter(
      (each): each is string => typeof each === 'string' && readNoteKey(each)?.name === name,
    );
  const ofAreas = auditAreas.map(
    (area) =>
      [area, keysOf((logs as Record<string, unknown> | undefined)?.[area], `${host}/${area}`)] as const,
  );
  return { logs: Object.fromEntries(ofAreas), witness: keysOf(witness, `${host}/witness`) };
}

/** Requires distinct, valid keys, at least one for signing and one for sealing. */
function readKeys(jwks: unknown): PeerKey[] | undefined {
  const listed = (jwks as { keys?: unknown } | undefined)?.keys;
  if (!Array.isArray(listed) || listed.length > maxKeys) return undefined;
  const keys = listed.map(readKey).filter((key) => key !== undefined);
  const isComplete =
    keys.length === listed.length && new Set(keys.map(({ kid }) => kid)).size === keys.length;
  return isComplete && new Set(keys.map(({ use }) => use)).size === 2 ? keys : undefined;
}

function readKey(value: unknown): PeerKey | undefined {
  const { kty, crv, x, y, use, kid, d } = (value ?? {}) as Record<string, unknown>;
  if (use !== 'sig' && use !== 'enc') return undefined;
  // A published private key is compromised.
  if (d !== undefined) return undefined;
  const jwk = (kty === 'EC' ? { kty, crv, x, y } : { kty, crv, x }) as JWK;
  const fits = use === 'sig' ? algorithmOf(jwk) !== undefined : jwk.kty === 'EC' && jwk.crv === 'P-256';
  if (!fits || !readPublicKey(jwk) || keyThumbprint(jwk) !== kid) return undefined;
  return { kid, use, jwk };
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
