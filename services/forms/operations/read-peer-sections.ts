import type { JWK } from 'jose';
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
import type { ContentCache, FormsContext } from './context.ts';

/** The section of a peer in a form: the elements of the layout that the peer shares now. */
export interface PeerSection {
  /** Base URL. */
  url: string;
  /** The displayed name. */
  name: string;
  info: ActiveItem;
  /** The public JWK that answers are sealed to. */
  sealingKey: JWK;
  /** Elements by reference (`<key>@<host>`), in layout order. */
  elements: Map<string, ActiveItem & { row: PeerRow }>;
  /** When the copy was last confirmed, if that was more than a day ago. */
  asOf: Date | undefined;
}

/**
 * Builds the peers' sections of a form from the rows read for it. The layout's first reference to a peer
 * determines the place of the peer's section.
 * @throws Failure `unavailable` if a copy is too old, or its information is missing.
 */
export async function readPeerSections(
  { peerContents, staleDays, instance }: FormsContext,
  references: readonly ElementReference[],
  found: readonly PeerRow[],
): Promise<PeerSection[]> {
  if (found.length === 0) return [];
  const rows = found.map((row) => ({ ...row, owner: ownerName(row, instance.name) }));
  const versions = await peerContents.get(rows.map(({ version }) => version));
  const sections = new Map<string, PeerSection>();
  for (const reference of references) {
    const row = rows.find(({ host, key }) => host === reference.host && key === reference.key);
    const version = row && row.type !== 'information' ? versions.get(row.version) : undefined;
    if (!row || !version) continue;
    const section = sections.get(row.url) ?? sectionOf(row, rows, versions);
    sections.set(row.url, section);
    section.elements.set(formatReference(reference), { row, version, name: row.name, owner: row.owner });
  }
  const needed = rows.filter(({ url }) => sections.has(url));
  requireFresh(needed, staleDays);
  return [...sections.values()];
}

function sectionOf(
  peer: PeerRow,
  rows: readonly PeerRow[],
  versions: Awaited<ReturnType<ContentCache['get']>>,
): PeerSection {
  const info = rows.find(({ url, type }) => url === peer.url && type === 'information');
  const version = info && versions.get(info.version);
  // A form shows the information of the organisation that asks. Without it, or without the key that seals the
  // answers, the form is not shown.
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
 * Finds the former versions of peers' elements and informations that answers refer to (docs/interface.md,
 * "Answers").
 * @param named identifiers of elements and informations that the form has.
 * @param active elements and informations of the form by reference.
 * @param openedAt RFC 3339.
 * @returns the content by identifier, or null if it is too old or withdrawn. Unknown identifiers are missing.
 */
export async function readFormerOfPeers(
  { db, peerContents }: FormsContext,
  named: readonly Identifier[],
  active: ReadonlyMap<string, ActiveItem>,
  openedAt: string,
): Promise<Map<string, ContentVersion | null>> {
  const former = new Map<string, ContentVersion | null>();
  const wanted = named.flatMap((identifier) => {
    const reference = parseReference(identifier.key);
    const serial = parseSerial(identifier.serial);
    return reference?.host && serial
      ? [{ ...identifier, ...reference, ...serial, item: active.get(identifier.key) }]
      : [];
  });
  // Copies of former MAJORs and of withdrawn elements are not kept: report them as too old.
  for (const { type, item, ...each } of wanted)
    if (!item || isBefore(each, parseSerial(item.version.serial)))
      former.set(formatIdentifier(type, formatReference(each), each.serial), null);
  const rows = await readPeerSerials(db, wanted, openedAt);
  const versions = await peerContents.get(rows.flatMap(({ id, accepted }) => (accepted ? [id] : [])));
  for (const { id, type, serial, ...reference } of rows)
    former.set(formatIdentifier(type, formatReference(reference), serial), versions.get(id) ?? null);
  return former;
}
