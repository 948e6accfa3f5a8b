import { LRUCache } from 'lru-cache';
import { type ContentVersion, createContentVersion, type StoredVersion } from '../domain/content-version.ts';

/** Caches activated versions by id. They never change, so entries are never invalidated. */
export interface ContentCache {
  /** @returns versions by id, without those whose entry has been removed. */
  get(ids: readonly string[]): Promise<ReadonlyMap<string, ContentVersion>>;
}

const maxBytes = 64 * 2 ** 20;
/** Estimated bytes of parsed JSON and its descriptions per character of text. */
const bytesPerCharacter = 4;

/** @param read reads the versions that are not cached. */
export function createContentCache(read: (ids: readonly string[]) => Promise<StoredVersion[]>): ContentCache {
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
