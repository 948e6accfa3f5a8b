import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { Database } from '#lib/db/database.ts';
import { type KeyedHash, readApiKeyId } from '../domain/api-keys.ts';
import { findKey, reserveKey, spendKeysOf, useKey } from '../queries/api-keys.ts';

/** Keys of scope PEER: each pairs with one peer, once (docs/federation.md, "Pairing"). */
export function createPairingKeys({
  db,
  keyedHash,
}: {
  db: Database;
  keyedHash: KeyedHash;
}): Pick<AuthOperations, 'reservePairingKey' | 'usePairingKey' | 'spendPairingKeys'> {
  return {
    async reservePairingKey({ apiKey, pairing, partner }) {
      const id = readApiKeyId(apiKey);
      const row = id === undefined ? undefined : await findKey(db, id);
      const right = keyedHash.matches(apiKey, row?.hash);
      if (!row || !right) return { verdict: 'unknown' };
      if (row.scope !== 'PEER') return { verdict: 'not-for-pairing' };
      const isReserved = await reserveKey(db, { id: row.id, pairing, ...partner });
      return { verdict: isReserved ? 'reserved' : 'used' };
    },
    async usePairingKey({ apiKey, pairing, partner }) {
      const id = readApiKeyId(apiKey);
      return { used: id !== undefined && (await useKey(db, { id, pairing, ...partner })) };
    },
    async spendPairingKeys({ url }) {
      await spendKeysOf(db, url);
      return {};
    },
  };
}
