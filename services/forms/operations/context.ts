import { LRUCache } from 'lru-cache';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import { type ContentVersion, createContentVersion, type StoredVersion } from '../domain/content-version.ts';
import type { ElementReference } from '../domain/identifiers.ts';
import type { PageRenderer } from '../pages/page-renderer.ts';
import type { PdfRenderer } from '../pdf/pdf-renderer.ts';
import { readContents, type Wanted } from '../queries/active-entries.ts';
import { type NamedRows, readNamed, readPeerContents } from '../queries/read-peers.ts';
import { type CompareVersions, createCompareVersions } from './compare-versions.ts';

/** The dependencies and settings that the service passes to its internal operations. */
export interface OperationOptions {
  db: Database;
  log: Logger;
  renderer: PageRenderer;
  pdf: Pick<PdfRenderer, 'render'>;
  instance: Instance;
  /** Where people sign in; null without a console. */
  consolePath: string | null;
  /** PEER_STALE_LIMIT: the age in days at which a copy of a peer's elements is no longer shown. */
  staleDays: number;
}

/** The same with the caches that the internal operations share. */
export interface FormsContext extends OperationOptions {
  /** Contents of own activated versions. */
  contents: ContentCache;
  /** Contents of peers' versions. */
  peerContents: ContentCache;
  compareVersions: CompareVersions;
  /** The entries that a layout names, its own and peers'. */
  readNamed(wanted: Wanted, references: readonly ElementReference[]): Promise<NamedRows>;
}

/** What is needed to compare versions. */
export type VersionsContext = Pick<FormsContext, 'db' | 'contents' | 'renderer'>;

export function createContext(options: OperationOptions): FormsContext {
  const { db } = options;
  const contents = createContentCache((ids) => readContents(db, ids));
  return {
    ...options,
    contents,
    peerContents: createContentCache((ids) => readPeerContents(db, ids)),
    compareVersions: createCompareVersions({ ...options, contents }),
    readNamed: (wanted, references) => readNamed(db, wanted, references),
  };
}

/** Caches activated versions by id. They never change, so entries are never invalidated. */
export interface ContentCache {
  /** @returns versions by id, without those whose entry has been removed. */
  get(ids: readonly string[]): Promise<ReadonlyMap<string, ContentVersion>>;
}

const maxBytes = 64 * 2 ** 20;
/** Estimated bytes of parsed JSON and its descriptions per character of text. */
const bytesPerCharacter = 4;

/** @param read reads the versions that are not cached. */
function createContentCache(read: (ids: readonly string[]) => Promise<StoredVersion[]>): ContentCache {
  const cache = new LRUCache<string, ContentVersion>({
    maxSize: maxBytes,
    sizeCalculation: ({ data }) => JSON.stringify(data).length * bytesPerCharacter + 1024,
  });
  return {
    async get(ids) {
      const found = new Map<string, ContentVersion>();
      const missing = [];
      for (const id of ids) {
        const known = cache.get(id);
        if (known) found.set(id, known);
        else missing.push(id);
      }
      if (missing.length === 0) return found;
      for (const stored of await read(missing)) {
        const version = createContentVersion(stored);
        cache.set(version.id, version);
        found.set(version.id, version);
      }
      return found;
    },
  };
}
