import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Database } from '#lib/db/database.ts';
import { findPinnedKey } from '../queries/peers.ts';

/** Caches pinned signing keys by peer and thumbprint. May be out of date: admitToken confirms a key with each request. */
export interface PinnedKeys {
  /** @param issuer base URL of the peer that is said to have signed. */
  find(issuer: string, kid: string): Promise<JWK | undefined>;
  forget(issuer: string, kid: string): void;
}

const most = 1_000;

export function createPinnedKeys(db: Database): PinnedKeys {
  const known = new LRUCache<string, JWK>({ max: most });
  const nameOf = (issuer: string, kid: string) => JSON.stringify([issuer, kid]);
  return {
    async find(issuer, kid) {
      const remembered = known.get(nameOf(issuer, kid));
      if (remembered) return remembered;
      const found = await findPinnedKey(db, { url: issuer, kid });
      // Unknown keys are not cached: one may be pinned the next moment, and strangers name as many as they like.
      if (found) known.set(nameOf(issuer, kid), found.jwk);
      return found?.jwk;
    },
    forget: (issuer, kid) => void known.delete(nameOf(issuer, kid)),
  };
}
