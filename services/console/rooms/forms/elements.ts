import type { Context } from 'koa';
import type { Schemas } from '../../api/api-types.ts';
import { type Entry, elementPath, hasVersion, listEntries, questionTypes } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { RoomTools } from '../../pages/tools.ts';

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
  /** Of an own element; contents of peers do not decide the language of a form. */
  languages?: readonly string[];
  /** Said beside it: it becomes active with the form. */
  note?: string;
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
  tools: RoomTools,
  references: readonly string[],
): Promise<ElementView[]> {
  const reader = tools.reader(ctx);
  const own = references.filter((each) => !each.includes('@'));
  const [entries, peers] = await Promise.all([
    own.length > 0 ? listEntries(tools.api(ctx), { keys: own }) : [],
    own.length < references.length ? listPeers(ctx, tools) : [],
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

/** Entries with a first draft among those that a form names: they become active with it. */
export async function readNewDrafts(
  ctx: Context,
  tools: RoomTools,
  references: readonly string[],
): Promise<Entry[]> {
  const keys = references.filter((each) => !each.includes('@'));
  if (keys.length === 0) return [];
  const entries = await listEntries(tools.api(ctx), { keys });
  return entries.filter(isNewDraft);
}

/** Whether an entry has a draft and was never active. */
function isNewDraft({ status, versions }: Entry): boolean {
  return status === 'INACTIVE' && hasVersion({ versions }, 'DRAFT') && !versions.some(({ serial }) => serial);
}

/** Whether a form may name an entry: it is ACTIVE, or becomes so with the form. */
function isUsable(entry: Entry): boolean {
  return entry.status === 'ACTIVE' || isNewDraft(entry);
}

/** Elements of this instance and of peers that a form may name. @param word a part of their name or key. */
export async function searchElements(
  ctx: Context,
  tools: RoomTools,
  { word, without }: { word: string; without: readonly string[] },
): Promise<FoundElements> {
  const reader = tools.reader(ctx);
  const [entries, peers] = await Promise.all([
    listEntries(tools.api(ctx), { types: questionTypes, keyword: word }),
    listPeers(ctx, tools),
  ]);
  const wanted = word.toLocaleLowerCase();
  const isWanted = ({ name, reference }: ElementView) =>
    `${name} ${reference}`.toLocaleLowerCase().includes(wanted);
  const ofPeers = peersView(reader, peers).filter((each) => !each.problem && isWanted(each));
  const found = [...entries.filter(isUsable).map((entry) => ownView(reader, entry)), ...ofPeers].filter(
    ({ reference }) => !without.includes(reference),
  );
  return { values: found.slice(0, maxFound), more: Math.max(0, found.length - maxFound) };
}

/** Entries that a form may name beside its elements. */
export async function readChoices(
  ctx: Context,
  tools: RoomTools,
  type: 'information' | 'theme' | 'email',
): Promise<Entry[]> {
  return (await listEntries(tools.api(ctx), { types: type })).filter(isUsable);
}

async function listPeers(ctx: Context, tools: RoomTools): Promise<PeerModels['values']> {
  const { body } = await tools.api(ctx).call('listPeerModels');
  return body.values;
}

function ownView(reader: ConsoleReader, entry: Entry): ElementView {
  const { key, name, type } = entry;
  return {
    reference: key,
    name,
    type: reader.word('elementType', type),
    href: elementPath(key),
    languages: entry.availableLanguages,
    ...(isNewDraft(entry) && { note: reader.t('element.draft') }),
    ...(!isUsable(entry) && { problem: reader.t('element.notActive') }),
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
