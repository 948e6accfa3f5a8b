import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { readSharedEntries, readSharedState } from '../queries/active-entries.ts';

/** The internal operation `sharedEntries`: a page of what a peer may show. */
export function createSharedEntries({ db }: { db: Database }): FormsOperations['sharedEntries'] {
  return async ({ peer, after, known, limit }) => {
    // The state first: what changes in between makes the next look see another state.
    const state = await readSharedState(db, peer);
    if (state === known) return { state, entries: [], more: false };
    const found = await readSharedEntries(db, { peer, after, limit: limit + 1 });
    return { state, entries: found.slice(0, limit), more: found.length > limit };
  };
}
