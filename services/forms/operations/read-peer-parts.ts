import type { JWK } from 'jose';
import type { Database } from '#lib/db/database.ts';
import type { ActiveItem } from '../domain/check-answers.ts';
import type { ContentVersion } from '../domain/content-version.ts';
import {
  type ElementReference,
  formatIdentifier,
  formatReference,
  type Identifier,
  isBefore,
  parseReference,
  parseSerial,
} from '../domain/identifiers.ts';
import { isDated, ownerName, requireFresh, unanswerable } from '../domain/peer-entry.ts';
import { type PeerRow, readPeerSerials } from '../queries/read-peers.ts';
import type { ContentCache } from './content-cache.ts';

/** A peer's part of a form: what it shares at this moment of what the layout names. */
export interface PeerPart {
  /** Base URL. */
  url: string;
  /** As people are told it. */
  name: string;
  info: ActiveItem;
  /** What answers are sealed to: a public JWK. */
  sealingKey: JWK;
  /** Elements by reference (`<key>@<host>`), in layout order. */
  elements: Map<string, ActiveItem & { row: PeerRow }>;
  /** When the copy was known to be as the peer's own, if that was long ago. */
  asOf: Date | undefined;
}

/**
 * Makes peers' parts of a layout out of the rows that were read for it. Peers come in the order in which the layout first names them.
 * @throws Failure `unavailable` if a copy that is needed is too old, or does not say who asks.
 */
export function createReadPeerParts({
  contents,
  staleDays,
  ownName,
}: {
  contents: ContentCache;
  staleDays: number;
  /** INSTANCE_NAME */
  ownName: string;
}) {
  return async (references: readonly ElementReference[], found: readonly PeerRow[]): Promise<PeerPart[]> => {
    if (found.length === 0) return [];
    const rows = found.map((row) => ({ ...row, owner: ownerName(row, ownName) }));
    const versions = await contents.get(rows.map(({ version }) => version));
    const parts = new Map<string, PeerPart>();
    for (const reference of references) {
      const row = rows.find(({ host, key }) => host === reference.host && key === reference.key);
      const version = row && row.type !== 'information' ? versions.get(row.version) : undefined;
      if (!row || !version) continue;
      const part = parts.get(row.url) ?? partOf(row, rows, versions);
      parts.set(row.url, part);
      part.elements.set(formatReference(reference), { row, version, name: row.name, owner: row.owner });
    }
    const needed = rows.filter(({ url }) => parts.has(url));
    requireFresh(needed, staleDays);
    return [...parts.values()];
  };
}

export type ReadPeerParts = ReturnType<typeof createReadPeerParts>;

function partOf(
  peer: PeerRow,
  rows: readonly PeerRow[],
  versions: Awaited<ReturnType<ContentCache['get']>>,
): PeerPart {
  const info = rows.find(({ url, type }) => url === peer.url && type === 'information');
  const version = info && versions.get(info.version);
  // Nobody may be asked without being told who asks, and for what; and not before all is filled in.
  if (!info?.sealingKey || !version) throw unanswerable(peer);
  return {
    url: peer.url,
    name: peer.owner,
    info: { version, name: info.name, owner: info.owner },
    sealingKey: info.sealingKey,
    elements: new Map(),
    asOf: isDated(peer) ? peer.asOf : undefined,
  };
}

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
