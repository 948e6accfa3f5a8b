import type { PeerEntry, SharedEntry } from '#lib/contracts/forms.ts';
import { isStorable } from '#lib/json/check-json.ts';
import {
  numericDate,
  type OwnKey,
  type PinnedKey,
  readSigned,
  type SignedFault,
  signClaims,
} from './signatures.ts';

/** Why a document is rejected, in the order of the checks. */
export type DocumentFault = SignedFault | 'issuer' | 'content';

const type = 'accord-model+jwt';
const maxLength = 2 * 1024 * 1024;

/** Signs an entry for peers (docs/federation.md, "Catalogue"). It states what was true at `iat`. */
export function signSharedEntry(
  entry: SharedEntry,
  { issuer, key, now }: { issuer: string; key: OwnKey; now: Date },
): string {
  return signClaims({ ...entry, iss: issuer, iat: numericDate(now) }, { type, key });
}

/**
 * Reads an entry that a peer shares. The service forms validates its content.
 * @param peer.url its base URL. @param peer.signing its pinned signing keys only.
 */
export function readSharedDocument(
  jws: string,
  { url, signing }: { url: string; signing: readonly PinnedKey[] },
): { entry: PeerEntry } | { fault: DocumentFault } {
  const read = readSigned(jws, { type, maxLength, signing });
  if ('fault' in read) return read;
  const { iss, key, type: kind, name, serial, defaultLanguage, data } = read.claims;
  if (iss !== url) return { fault: 'issuer' };
  const entry = { key, type: kind, name, serial, defaultLanguage, data } as PeerEntry;
  // PostgreSQL would reject the whole batch because of one text that it cannot store.
  return isStorable(entry) ? { entry } : { fault: 'content' };
}
