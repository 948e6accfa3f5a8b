import { fail } from '#lib/errors/fail.ts';
import type { Entry } from '../domain/model.ts';
import { checkPrecondition } from '../domain/precondition.ts';
import { readEntryFields, refuseUnknownPeers } from '../domain/read-entry-fields.ts';
import { findUnknownPeers } from '../queries/known-peers.ts';
import { clearDefault, lockDefault, updateModel } from '../queries/models.ts';
import { announce } from './announce.ts';
import type { Dependencies } from './dependencies.ts';
import { findModelToChange } from './find.ts';

/** What is absent stays as it is. */
export interface UpdateModelInput {
  name?: string;
  description?: string | null;
  shared?: boolean;
  sharedWith?: string[];
  default?: boolean;
}

/** Edits an entry's own fields, which are no content. @throws Failure `not-found`, `precondition-failed`, `wrong-state`, `invalid`. */
export async function updateModelFields(
  { db, source, wake }: Dependencies,
  id: string,
  input: UpdateModelInput,
  ifMatch?: string,
): Promise<Entry> {
  const updated = await db.withTransaction(async (tx) => {
    if (input.default === true) await lockDefault(tx);
    const entry = await findModelToChange(tx, id);
    checkPrecondition(ifMatch, entry.revision);
    if (input.default === true && entry.type !== 'information')
      throw fail('invalid', 'Only an information can be the default.', {
        errors: [{ pointer: '/default', code: 'invalid', detail: 'is for information alone' }],
      });
    if (input.default === true && !entry.isDefault) await clearDefault(tx);
    const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
    const fields = readEntryFields({ ...entry, ...given });
    // A peer that was removed since may stay in the list, so that what was read can be sent back.
    const added = fields.sharedWith.filter((peer) => !entry.sharedWith.includes(peer));
    refuseUnknownPeers(fields.sharedWith, await findUnknownPeers(tx, added));
    const changed = await updateModel(tx, id, { ...fields, isDefault: input.default ?? entry.isDefault });
    // Peers show what is shared, by its name; nobody else needs to know (federation.md, "Sharing content").
    if (changed.status === 'ACTIVE' && (concernsPeers(entry) || concernsPeers(changed)))
      await announce(tx, { source, name: 'shared', entry: changed });
    return changed;
  });
  wake();
  return updated;
}

function concernsPeers({ shared, isDefault }: Entry): boolean {
  return shared || isDefault;
}
