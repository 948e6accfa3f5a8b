import { compactVerify, decodeProtectedHeader, importJWK, type JWK, type JWSHeaderParameters } from 'jose';
import type { PeerEntry } from '#lib/contracts/forms.ts';
import { algorithmOf } from './key-algorithm.ts';

/** Why a document is left out, in the order in which it is looked at. */
export type DocumentFault = 'size' | 'form' | 'algorithm' | 'unknown-key' | 'signature' | 'claims' | 'issuer';

export type ReadDocument = { valid: true; entry: PeerEntry } | { valid: false; fault: DocumentFault };

const longest = 2 * 1024 * 1024;

/**
 * Reads an entry that a peer shares: a JWS of typ `accord-model+jwt`, signed by a pinned key, in the name of that peer (federation.md,
 * "Sharing content"). Its content is for the service forms to judge.
 * @param peer.url its base URL. @param peer.signing its pinned signing keys, and nobody else's.
 */
export async function readSharedDocument(
  jws: string,
  { url, signing }: { url: string; signing: readonly { kid: string; jwk: JWK }[] },
): Promise<ReadDocument> {
  if (jws.length > longest) return refuse('size');
  const header = readHeader(jws);
  if (!header) return refuse('form');
  if (header.typ !== 'accord-model+jwt' || header.crit !== undefined) return refuse('algorithm');
  const key = signing.find(({ kid }) => kid === header.kid);
  if (!key) return refuse('unknown-key');
  const alg = algorithmOf(key.jwk);
  if (alg === undefined || alg !== header.alg) return refuse('algorithm');
  const claims = await verify(jws, key.jwk, alg);
  if (claims === 'unsigned') return refuse('signature');
  if (typeof claims !== 'object' || claims === null) return refuse('claims');
  const {
    iss,
    key: name,
    type,
    name: title,
    serial,
    defaultLanguage,
    data,
  } = claims as Record<string, unknown>;
  if (iss !== url) return refuse('issuer');
  return { valid: true, entry: { key: name, type, name: title, serial, defaultLanguage, data } as PeerEntry };
}

function refuse(fault: DocumentFault): ReadDocument {
  return { valid: false, fault };
}

function readHeader(jws: string): JWSHeaderParameters | undefined {
  try {
    return jws.split('.').length === 3 ? (decodeProtectedHeader(jws) as JWSHeaderParameters) : undefined;
  } catch {
    return undefined;
  }
}

async function verify(jws: string, key: JWK, alg: string): Promise<unknown> {
  let payload: Uint8Array;
  try {
    ({ payload } = await compactVerify(jws, await importJWK(key, alg), { algorithms: [alg] }));
  } catch {
    return 'unsigned';
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  } catch {
    return undefined;
  }
}
