import { LRUCache } from 'lru-cache';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { readApiKeyId } from '../domain/api-key.ts';
import type { KeyedHash } from '../domain/keyed-hash.ts';
import type { KeyVerdict } from '../domain/verdict.ts';
import { findKey, touchKey } from '../queries/api-keys.ts';

/** Judges API keys. */
export interface KeyVerifier {
  verify(key: string): Promise<KeyVerdict>;
  /** Waits for what is still being noted. */
  settle(): Promise<void>;
}

const minuteMs = 60_000;

/** A key of scope PEER that can still pair is known and may call nothing (docs/federation.md and docs/interface.md, "Credentials"): 403. Later it is like any that is not valid. */
export function createKeyVerifier({
  db,
  keyedHash,
  log,
}: {
  db: Database;
  keyedHash: KeyedHash;
  log: Logger;
}): KeyVerifier {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: minuteMs });
  const noting = new Set<Promise<void>>();

  /** Beside the request, which does not wait for it. */
  function noteAccess(id: string): void {
    if (noted.has(id)) return;
    noted.set(id, true);
    const note = touchKey(db, id)
      .catch((error: unknown) => log.warn('the use of a key could not be noted', { id, error }))
      .finally(() => noting.delete(note));
    noting.add(note);
  }

  return {
    async verify(key) {
      const id = readApiKeyId(key);
      const row = id === undefined ? undefined : await findKey(db, id);
      const right = keyedHash.matches(key, row?.hash);
      if (!row || !right || row.spent) return { valid: false };
      const calls = row.scope === 'OWNER';
      // When a key of scope PEER was used is when it paired.
      if (calls) noteAccess(row.id);
      return {
        valid: true,
        principal: { roles: calls ? ['key'] : [], name: row.name, account: `key:${row.id}` },
      };
    },
    async settle() {
      await Promise.all(noting);
    },
  };
}
