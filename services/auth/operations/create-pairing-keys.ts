import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { Database } from '#lib/db/database.ts';
import { readApiKeyId } from '../domain/api-key.ts';
import type { KeyedHash } from '../domain/keyed-hash.ts';
import { findKey } from '../queries/api-keys.ts';
import { reserveKey, useKey } from '../queries/pairing-keys.ts';

/** Keys of scope PEER, which pair with one partner, once (decisions.md §6). */
export function createPairingKeys({
  db,
  keyedHash,
}: {
  db: Database;
  keyedHash: KeyedHash;
}): Pick<AuthOperations, 'reservePairingKey' | 'usePairingKey'> {
  return {
    async reservePairingKey({ apiKey, pairing }) {
      const id = readApiKeyId(apiKey);
      const row = id === undefined ? undefined : await findKey(db, id);
      const right = keyedHash.matches(apiKey, row?.hash);
      if (!row || !right) return { verdict: 'unknown' };
      if (row.scope !== 'PEER') return { verdict: 'not-for-pairing' };
      return { verdict: (await reserveKey(db, { id: row.id, pairing })) ? 'reserved' : 'used' };
    },
    async usePairingKey({ apiKey, pairing }) {
      const id = readApiKeyId(apiKey);
      return { used: id !== undefined && (await useKey(db, { id, pairing })) };
    },
  };
}
