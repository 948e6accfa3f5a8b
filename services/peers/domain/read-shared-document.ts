import type { JWK } from 'jose';
import type { PeerEntry } from '#lib/contracts/forms.ts';
import { isStorable } from '#lib/json/check-json.ts';
import { readSigned, type SignedFault } from './read-signed.ts';

/** Why a document is left out, in the order in which it is looked at. */
export type DocumentFault = SignedFault | 'issuer' | 'content';

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
  const read = readSigned(jws, { type: 'accord-model+jwt', longest, signing });
  if ('fault' in read) return { valid: false, fault: read.fault };
  const { iss, key, type, name, serial, defaultLanguage, data } = read.claims;
  if (iss !== url) return { valid: false, fault: 'issuer' };
  const entry = { key, type, name, serial, defaultLanguage, data } as PeerEntry;
  // What PostgreSQL cannot store would keep all that comes with it from being stored.
  return isStorable(entry) ? { valid: true, entry } : { valid: false, fault: 'content' };
}
