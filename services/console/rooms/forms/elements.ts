import type { Context } from 'koa';
import type { Schemas } from '../../api/api-types.ts';
import {
  type Entry,
  elementPath,
  entryChoices,
  listEntries,
  questionTypes,
} from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { RoomKit } from '../../pages/kit.ts';

type PeerModels = Schemas['PeerModels'];

/** An element that forms may name, or one that a form names. */
export interface ElementView {
  /** Key, or `<key>@<host>` of a peer's element. */
  reference: string;
  name: string;
  /** Its type in words. */
  type: string;
  /** Name of the peer that owns it. */
  owner?: string;
  /** Its page; only of own elements. */
  href?: string;
  /** Why forms cannot show it. */
  problem?: string;
}

/** Elements found by a search that a form does not name yet. */
export interface FoundElements {
  values: ElementView[];
  /** How many more there are. */
  more: number;
}

const maxFound = 30;

/** The elements that a form names, in its order. */
export async function readNamed(
  ctx: Context,
  kit: RoomKit,
  references: readonly string[],
): Promise<ElementView[]> {
  const reader = kit.reader(ctx);
  const own = references.filter((each) => !each.includes('@'));
  const [entries, peers] = await Promise.all([
    own.length > 0 ? listEntries(kit.api(ctx), { keys: own }) : [],
    own.length < references.length ? listPeers(ctx, kit) : [],
  ]);
  const known = [...entries.map((entry) => ownView(reader, entry)), ...peersView(reader, peers)];
  return references.map(
    (reference) =>
      known.find((each) => each.reference === reference) ?? {
        reference,
        name: reference,
        type: '',
        problem: reader.t(reference.includes('@') ? 'element.notShared' : 'element.unknown'),
      },
  );
}

/** ACTIVE elements of this instance and of peers. @param word a part of their name or key. */
export async function searchElements(
  ctx: Context,
  kit: RoomKit,
  { word, without }: { word: string; without: readonly string[] },
): Promise<FoundElements> {
  const reader = kit.reader(ctx);
  const [entries, peers] = await Promise.all([
    listEntries(kit.api(ctx), { types: questionTypes, statuses: 'ACTIVE', keyword: word }),
    listPeers(ctx, kit),
  ]);
  const wanted = word.toLocaleLowerCase();
  const isWanted = ({ name, reference }: ElementView) =>
    `${name} ${reference}`.toLocaleLowerCase().includes(wanted);
  const ofPeers = peersView(reader, peers).filter((each) => !each.problem && isWanted(each));
  const found = [...entries.map((entry) => ownView(reader, entry)), ...ofPeers].filter(
    ({ reference }) => !without.includes(reference),
  );
  return { values: found.slice(0, maxFound), more: Math.max(0, found.length - maxFound) };
}

/** ACTIVE entries that a form may name beside its elements, as options of a choice. */
export async function readChoices(ctx: Context, kit: RoomKit, type: 'information' | 'theme' | 'email') {
  const entries = await listEntries(kit.api(ctx), { types: type, statuses: 'ACTIVE' });
  return entryChoices(entries);
}

async function listPeers(ctx: Context, kit: RoomKit): Promise<PeerModels['values']> {
  const { body } = await kit.api(ctx).call('listPeerModels');
  return body.values;
}

function ownView(reader: ConsoleReader, { key, name, type, status }: Entry): ElementView {
  return {
    reference: key,
    name,
    type: reader.word('elementType', type),
    href: elementPath(key),
    ...(status !== 'ACTIVE' && { problem: reader.t('element.notActive') }),
  };
}

function peersView(reader: ConsoleReader, peers: PeerModels['values']): ElementView[] {
  return peers.flatMap(({ name: owner, stale, elements }) =>
    elements.map(({ reference, name, type }) => ({
      reference,
      name,
      type: reader.word('elementType', type),
      owner,
      ...(stale && { problem: reader.t('element.stale') }),
    })),
  );
}
