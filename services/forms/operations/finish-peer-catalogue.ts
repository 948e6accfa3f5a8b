import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { finishState } from '../queries/store-peers.ts';

/** The internal operation `finishPeerCatalogue`: what was not in the state is withdrawn with it, or nothing is done. */
export function createFinishPeerCatalogue({ db }: { db: Database }): FormsOperations['finishPeerCatalogue'] {
  return (input) => db.withTransaction(async (tx) => ({ held: await finishState(tx, input) }));
}
