import type { ActiveVersions, PinnedLayout } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import type { ActiveItem } from '../domain/check-answers.ts';
import { formatReference, formatSerial, isEntryId, parseReference } from '../domain/identifiers.ts';
import type { ModelType } from '../domain/model.ts';
import { type ActiveRow, readActive } from '../queries/active-entries.ts';
import { type PeerRow, readNamed } from '../queries/read-peers.ts';
import type { ContentCache } from './content-cache.ts';
import type { PeerPart, ReadPeerParts } from './read-peer-parts.ts';

/** The current content of a pinned layout. */
export interface CurrentForm {
  language: string;
  info: ActiveItem & { row: ActiveRow };
  /** Own ACTIVE elements by key, in layout order, without withdrawn ones. */
  elements: Map<string, ActiveItem & { row: ActiveRow }>;
  /** The peers' parts. */
  peers: PeerPart[];
  theme: ActiveItem | undefined;
  active: ActiveVersions;
}

/** Languages that a form can use besides those of its content. */
export interface FormLanguages {
  /** Languages that the pages are translated to. */
  pages: readonly string[];
  /** INSTANCE_LANGUAGE */
  instance: string;
}

const answerable: ReadonlySet<ModelType> = new Set(['processing', 'preference', 'conditions']);

/**
 * Reads the ACTIVE versions of a layout with one query; contents come from the cache.
 * @throws Failure `withdrawn`, `unavailable`.
 */
export function createReadForm({
  db,
  contents,
  readPeerParts,
  languages,
}: {
  db: Database;
  contents: ContentCache;
  readPeerParts: ReadPeerParts;
  languages: FormLanguages;
}) {
  return async (layout: PinnedLayout, wanted: readonly string[]): Promise<CurrentForm> => {
    const references = layout.elements.flatMap((text) =>
      text.includes('@') ? (parseReference(text) ?? []) : [],
    );
    const found = await readNamed(
      db,
      {
        keys: [layout.info, ...layout.elements, ...(layout.theme ? [layout.theme] : [])],
        ids: layout.theme && isEntryId(layout.theme) ? [layout.theme] : [],
      },
      references,
    );
    const peers = await readPeerParts(references, found.peers);
    const rows = new Map(found.rows.map((row) => [row.key, row]));
    const theme = found.rows.find(({ key, id }) => key === layout.theme || id === layout.theme)?.key;
    const versions = await contents.get([...rows.values()].flatMap(({ version }) => version ?? []));
    const find = (key: string, isRight: (type: ModelType) => boolean) => {
      const row = rows.get(key);
      const version = row?.version && isRight(row.type) ? versions.get(row.version) : undefined;
      return row && version ? { row, version, name: row.name } : undefined;
    };
    const info = find(layout.info, (type) => type === 'information');
    const elements = new Map(
      layout.elements.flatMap((key) => {
        const item = find(key, (type) => answerable.has(type));
        return item ? [[key, item] as const] : [];
      }),
    );
    if (!info || (elements.size === 0 && peers.length === 0))
      throw fail(
        'withdrawn',
        'All elements of this form have been withdrawn. Contact the sender of the form.',
      );
    // Peers' contents do not influence the form's language.
    const all = [info, ...elements.values()].map(({ version }) => version.languages);
    return {
      language: chooseLanguage(wanted, { ...languages, contents: all }),
      info,
      elements,
      peers,
      theme: theme === undefined ? undefined : find(theme, (type) => type === 'theme'),
      active: presentActive(rows.values(), peers.flatMap(peerRows)),
    };
  };
}

/** Own and peers' elements by reference. */
export function elementsOf({ elements, peers }: CurrentForm): ReadonlyMap<string, ActiveItem> {
  if (peers.length === 0) return elements;
  return new Map<string, ActiveItem>([...elements, ...peers.flatMap((part) => [...part.elements])]);
}

function peerRows({ elements }: PeerPart) {
  return Array.from(elements.values(), ({ row }) => row);
}

export type ReadForm = ReturnType<typeof createReadForm>;

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

/** The internal operation `activeVersions`. */
export function createActiveVersions({ db }: { db: Database }) {
  return async ({ keys }: { keys: string[] }): Promise<ActiveVersions> =>
    keys.length === 0 ? {} : presentActive(await readActive(db, { keys }));
}

/**
 * Chooses the language of a form (docs/interface.md, "The consent context"): the first wanted language that
 * the pages or any content of the form has, else the instance's. Content without that language falls back to
 * its own default.
 * @param wanted best first.
 * @param pages languages that the pages are translated to.
 */
function chooseLanguage(
  wanted: readonly string[],
  {
    pages,
    contents,
    instance,
  }: { pages: readonly string[]; contents: readonly string[][]; instance: string },
): string {
  const available = new Set(pages);
  for (const languages of contents) for (const language of languages) available.add(language);
  return lookupLanguage(wanted, [...available]) ?? instance;
}
