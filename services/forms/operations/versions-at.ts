import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { VersionAt, VersionsAt } from '#lib/contracts/versions.ts';
import type { Queries } from '#lib/db/database.ts';
import { canonicalReference, parseReference } from '../domain/identifiers.ts';
import { readOwners, readPurposes, readVersionsAt } from '../queries/versions-at.ts';

/** The internal operation `versionsAt` (lib/contracts/forms.ts). */
export async function readVersions(
  db: Queries,
  { keys, purposes, at }: Parameters<FormsOperations['versionsAt']>[0],
): Promise<VersionsAt> {
  const references = new Map(keys.map((key) => [canonicalReference(key), key]));
  const ofPeers = [...references.keys()].filter((key) => parseReference(key)?.host);
  const own = [...references.keys()].filter((key) => !parseReference(key)?.host);
  const [versions, owners, having] = await Promise.all([
    own.length > 0 ? readVersionsAt(db, own, at) : [],
    ofPeers.length > 0 ? readOwners(db, ofPeers) : [],
    purposes.length > 0 ? readPurposes(db, purposes, at) : [],
  ]);
  // Without prototypes, because callers choose the keys.
  const found: Record<string, VersionAt> = Object.create(null);
  for (const { key, ...version } of [...versions, ...owners]) found[references.get(key) ?? key] = version;
  const byPurpose: Record<string, string[]> = Object.create(null);
  for (const { purpose, key, ...version } of having) {
    found[key] = version;
    byPurpose[purpose] ??= [];
    byPurpose[purpose].push(key);
  }
  return { versions: found, purposes: byPurpose };
}
