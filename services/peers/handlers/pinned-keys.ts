import { LRUCache } from 'lru-cache';
import type { Database } from '#lib/db/database.ts';
import type { PinnedKey } from '../domain/peer-token.ts';
import { findPinnedKey } from '../queries/peers.ts';

/** Whose keys are whose, as it was when one was last looked for: whoever acts on it has it confirmed. */
export interface PinnedKeys {
  find(kid: string): Promise<PinnedKey | undefined>;
  forget(kid: string): void;
}

const most = 1_000;

export function createPinnedKeys(db: Database): PinnedKeys {
  const known = new LRUCache<string, PinnedKey>({ max: most });
  return {
    async find(kid) {
      const remembered = known.get(kid);
      if (remembered) return remembered;
      const found = await findPinnedKey(db, kid);
      const key = found && { peer: found.url, key: found.jwk };
      // What nobody pinned is not remembered: it may be pinned the next moment, and strangers name what they like.
      if (key) known.set(kid, key);
      return key;
    },
    forget: (kid) => void known.delete(kid),
  };
}
