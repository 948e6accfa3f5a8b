import type { JWK } from 'jose';
import type { ActiveItem } from '../domain/check-answers.ts';
import { type ElementReference, formatReference } from '../domain/element-reference.ts';
import { ownerName } from '../domain/owner-name.ts';
import { isDated, requireFresh, unanswerable } from '../domain/peer-copy.ts';
import type { PeerRow } from '../queries/read-peers.ts';
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
