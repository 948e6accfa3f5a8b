import { LRUCache } from 'lru-cache';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { type KeyedHash, readApiKeyId } from '../domain/api-keys.ts';
import { judgeCredentials, type KeyVerdict, readCredentials } from '../domain/credentials.ts';
import { findKey, touchKey } from '../queries/api-keys.ts';
import type { TokenVerifier } from '../tokens/verifiers.ts';

/** Resolves the credentials of a request to a principal. */
export function createIntrospection({
  keys,
  tokens,
}: {
  keys: KeyVerifier;
  tokens: TokenVerifier;
}): AuthOperations['introspect'] {
  return async (credentials) => {
    const read = readCredentials(credentials);
    const [verifiedKeys, token] = await Promise.all([
      Promise.all(read.keys.map((key) => keys.verify(key))),
      read.token === undefined ? undefined : tokens.verify(read.token, credentials.isLasting),
    ]);
    return judgeCredentials({
      keys: verifiedKeys,
      token,
      malformed: read.malformed,
      browser: credentials.browser,
    });
  };
}

/** Verifies API keys. */
export interface KeyVerifier {
  verify(key: string): Promise<KeyVerdict>;
  /** Waits for pending updates of access times. */
  settle(): Promise<void>;
}

const minuteMs = 60_000;

const rolesOf = { OWNER: ['key'], DECISION: ['decision'], PEER: [] } as const;

/**
 * A PEER key that can still pair is valid but has no roles, so calls get a 403; afterwards it is invalid
 * (docs/interface.md, "Credentials").
 */
export function createKeyVerifier({
  db,
  keyedHash,
  log,
}: {
  db: Database;
  keyedHash: KeyedHash;
  log: Logger;
}): KeyVerifier {
  const recorded = new LRUCache<string, true>({ max: 2_000, ttl: minuteMs });
  const recording = new Set<Promise<void>>();

  /** Updates the access time in the background. */
  function recordAccess(id: string): void {
    if (recorded.has(id)) return;
    recorded.set(id, true);
    const update = touchKey(db, id)
      .catch((error: unknown) => log.warn('failed to record the use of an API key', { id, error }))
      .finally(() => recording.delete(update));
    recording.add(update);
  }

  return {
    async verify(key) {
      const id = readApiKeyId(key);
      const row = id === undefined ? undefined : await findKey(db, id);
      const right = keyedHash.matches(key, row?.hash);
      if (!row || !right || row.spent) return { valid: false };
      // A PEER key is used when it pairs.
      if (row.scope !== 'PEER') recordAccess(row.id);
      return {
        valid: true,
        principal: {
          roles: rolesOf[row.scope],
          name: row.name,
          account: `key:${row.id}`,
          ...(row.elements && { elements: row.elements }),
        },
      };
    },
    async settle() {
      await Promise.all(recording);
    },
  };
}
