import type { Database } from '#lib/db/database.ts';
import type { ActiveItem } from '../domain/check-answers.ts';
import type { ContentVersion } from '../domain/content-version.ts';
import { formatReference, parseReference } from '../domain/element-reference.ts';
import { formatIdentifier, type Identifier } from '../domain/identifier.ts';
import { isBefore, parseSerial } from '../domain/serial.ts';
import { readPeerSerials } from '../queries/read-peers.ts';
import type { ContentCache } from './content-cache.ts';

/**
 * Finds what answers mean that name other than the ACTIVE versions of peers' elements (docs/interface.md, "Answers").
 * @param named identifiers of elements that the layout has. @param active elements of the form by reference. @param openedAt RFC 3339.
 * @returns by identifier the content, or null if it is too old or was withdrawn; nothing for what never was.
 */
export function createReadFormerOfPeers({ db, contents }: { db: Database; contents: ContentCache }) {
  return async (
    named: readonly Identifier[],
    active: ReadonlyMap<string, ActiveItem>,
    openedAt: string,
  ): Promise<Map<string, ContentVersion | null>> => {
    const former = new Map<string, ContentVersion | null>();
    const wanted = named.flatMap((identifier) => {
      const reference = parseReference(identifier.key);
      const serial = parseSerial(identifier.serial);
      return reference?.host && serial
        ? [{ ...identifier, ...reference, ...serial, item: active.get(identifier.key) }]
        : [];
    });
    // Copies of former MAJORs and of what is withdrawn are not kept: that they are older is all there is to know.
    for (const { type, item, ...each } of wanted)
      if (!item || isBefore(each, parseSerial(item.version.serial)))
        former.set(formatIdentifier(type, formatReference(each), each.serial), null);
    const rows = await readPeerSerials(db, wanted, openedAt);
    const versions = await contents.get(rows.flatMap(({ id, accepted }) => (accepted ? [id] : [])));
    for (const { id, type, serial, ...reference } of rows)
      former.set(formatIdentifier(type, formatReference(reference), serial), versions.get(id) ?? null);
    return former;
  };
}

export type ReadFormerOfPeers = ReturnType<typeof createReadFormerOfPeers>;
