import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import { fail } from '#lib/errors/fail.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import type { ActiveItem } from '../domain/check-answers.ts';
import { formatReference, formatSerial, isEntryId, parseReference } from '../domain/identifiers.ts';
import { isAnswerable, type ModelType } from '../domain/model.ts';
import type { ActiveRow } from '../queries/active-entries.ts';
import type { PeerRow } from '../queries/read-peers.ts';
import type { FormsContext } from './context.ts';
import { type PeerSection, readPeerSections } from './read-peer-sections.ts';

/** The current content of a pinned layout. */
export interface CurrentForm {
  language: string;
  /** Languages that all own content has, and that the pages have. */
  languages: string[];
  info: ActiveItem & { row: ActiveRow };
  /** Own ACTIVE elements by key, in layout order, without withdrawn ones. */
  elements: Map<string, ActiveItem & { row: ActiveRow }>;
  /** The peers' sections. */
  peers: PeerSection[];
  theme: ActiveItem | undefined;
  active: ActiveVersions;
}

const informationWithdrawn = 'The information of this form has been withdrawn.';
const elementsWithdrawn = 'All elements of this form have been withdrawn.';

/**
 * Reads the ACTIVE versions of a layout with one query; contents come from the cache.
 * @param wanted languages, best first.
 * @throws Failure `withdrawn` if the information or all elements were withdrawn; `unavailable` of
 * `readPeerSections`.
 */
export async function readForm(
  context: FormsContext,
  layout: PinnedLayout,
  wanted: readonly string[],
): Promise<CurrentForm> {
  const references = layout.elements.flatMap((text) =>
    text.includes('@') ? (parseReference(text) ?? []) : [],
  );
  const found = await context.readNamed(
    {
      keys: [layout.info, ...layout.elements, ...(layout.theme ? [layout.theme] : [])],
      ids: layout.theme && isEntryId(layout.theme) ? [layout.theme] : [],
    },
    references,
  );
  const peers = await readPeerSections(context, references, found.peers);
  const rows = new Map(found.rows.map((row) => [row.key, row]));
  const theme = found.rows.find(({ key, id }) => key === layout.theme || id === layout.theme)?.key;
  const versions = await context.contents.get([...rows.values()].flatMap(({ version }) => version ?? []));
  const find = (key: string, isExpected: (type: ModelType) => boolean) => {
    const row = rows.get(key);
    const version = row?.version && isExpected(row.type) ? versions.get(row.version) : undefined;
    return row && version ? { row, version, name: row.name } : undefined;
  };
  const info = find(layout.info, (type) => type === 'information');
  const elements = new Map(
    layout.elements.flatMap((key) => {
      const item = find(key, isAnswerable);
      return item ? [[key, item] as const] : [];
    }),
  );
  if (!info || (elements.size === 0 && peers.length === 0))
    throw fail('withdrawn', info ? elementsWithdrawn : informationWithdrawn);
  return {
    language: chooseLanguage(context, wanted, [info, ...elements.values()]),
    languages: completeLanguages(context, [info, ...elements.values()]),
    info,
    elements,
    peers,
    theme: theme === undefined ? undefined : find(theme, (type) => type === 'theme'),
    active: presentActive(
      rows.values(),
      peers.flatMap((part) => Array.from(part.elements.values(), ({ row }) => row)),
    ),
  };
}

/**
 * Chooses the language of a form (docs/interface.md, "The consent context"): the first wanted language that
 * the pages or any own content has, else the instance's. Content without that language falls back to its own
 * default. Peers' contents have no influence.
 */
function chooseLanguage(
  { renderer, instance }: FormsContext,
  wanted: readonly string[],
  items: readonly ActiveItem[],
): string {
  const available = new Set([...renderer.languages, ...items.flatMap(({ version }) => version.languages)]);
  return lookupLanguage(wanted, [...available]) ?? instance.language;
}

function completeLanguages({ renderer }: FormsContext, items: readonly ActiveItem[]): string[] {
  const [first, ...others] = items.map(({ version }) => version.languages);
  return (first ?? []).filter(
    (language) =>
      others.every((languages) => languages.includes(language)) &&
      lookupLanguage([language], renderer.languages) !== undefined,
  );
}

/** Own elements by key, and peers' elements by reference (`<key>@<host>`). */
export function elementsOf({ elements, peers }: CurrentForm): ReadonlyMap<string, ActiveItem> {
  if (peers.length === 0) return elements;
  return new Map<string, ActiveItem>([...elements, ...peers.flatMap((part) => [...part.elements])]);
}

/** Presents rows by key. The object has no prototype, because users choose the keys. */
export function presentActive(rows: Iterable<ActiveRow>, peers: Iterable<PeerRow> = []): ActiveVersions {
  const active: ActiveVersions = Object.create(null);
  for (const { key, status, major, minor } of rows)
    active[key] = {
      major,
      serial: major === null || minor === null ? null : formatSerial({ major, minor }),
      deleted: status === 'DELETED',
    };
  for (const { major, minor, ...reference } of peers)
    active[formatReference(reference)] = { major, serial: formatSerial({ major, minor }), deleted: false };
  return active;
}
