import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Queries } from '#lib/db/database.ts';
import { isFinal, stateAt } from '../domain/states.ts';
import { readTransactionOf } from '../queries/followers.ts';

/** The internal operation `readDecision`. Nobody else's part was ever released to this peer: it holds nothing of it. */
export function createReadDecision({ db }: { db: Queries }): TransactionsOperations['readDecision'] {
  return async ({ sid, peer }) => {
    const found = await readTransactionOf(db, sid);
    if (!found || found.location !== peer) return { decision: 'rollback' };
    const state = stateAt(found, found.now);
    if (!isFinal(state)) return { decision: 'open' };
    return { decision: state === 'COMMITTED' ? 'commit' : 'rollback' };
  };
}
