import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { fail, invalidMember } from '#lib/errors/fail.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { lockSubject } from '../person/positions-sql.ts';
import { readSubject, type Subject } from '../person/store.ts';
import { isAskedToErase, queuePeerNotices } from '../sent-parts/notices-store.ts';
import type { ErasureDependencies } from './erase.ts';
import { mayBeStored } from './erase-transactions.ts';
import type { Erasure, ErasurePeer } from './erasure.ts';
import { insertAtPeers, readNewestAt } from './store.ts';

/** SQL: whether the owner of a part `f` of a transaction `t` can be asked to erase it alone. */
export const isErasable = sql`(t.state = 'COMMITTED' AND ${mayBeStored} AND NOT ${isAskedToErase})`;

/**
 * Asks peers to erase all that was sent to them of a person; nothing is erased here. Each decides about it.
 * Idempotent: a part that its owner was asked about is not asked about again, and the newest request is
 * returned. @param locations base URLs. @throws Failure `invalid` for a peer that can have nothing to erase.
 */
export async function eraseAtPeers(
  { db, instance, wake }: Pick<ErasureDependencies, 'db' | 'instance' | 'wake'>,
  subject: Pick<Subject, 'id' | 'name'>,
  locations: readonly string[],
): Promise<Erasure> {
  const erasure = await db.withTransaction(async (tx) => {
    await lockSubject(tx, subject.name);
    // It may have been erased while this request waited.
    if ((await readSubject(tx, subject.name))?.id !== subject.id)
      throw fail('not-found', 'Subject not found.');
    const parts = await readParts(tx, subject.name, locations);
    const known = new Set(parts.map(({ location }) => location));
    const missing = locations.findIndex((peer) => !known.has(peer));
    if (missing >= 0)
      throw invalidMember('A peer has nothing to erase.', `/peers/${missing}`, 'is not a peer with answers');
    const untold = parts.filter((part) => part.isErasable);
    if (untold.length === 0)
      return readNewestAt(
        tx,
        parts.map(({ sid }) => sid),
      );
    const peers = new Map(untold.map(({ name, location }) => [location, { name, location }]));
    const asked = await insertAtPeers(tx, {
      id: randomId(),
      reference: subject.id,
      peers: [...peers.values()],
    });
    const sids = untold.map(({ sid }) => sid);
    await queuePeerNotices(tx, { erasure: asked.id }, sql`f.sid = ANY(${sids}::text[])`, instance.baseUrl);
    return asked;
  });
  wake();
  return erasure;
}

/** The parts at peers that can be asked, or were. */
function readParts(
  tx: Queries,
  subject: string,
  locations: readonly string[],
): Promise<(ErasurePeer & { sid: string; isErasable: boolean })[]> {
  return tx.query(sql`
    SELECT f.sid, f.name, f.location, ${isErasable} AS "isErasable"
      FROM transactions AS t JOIN sent_parts AS f ON f.transaction = t.id
     WHERE t.subject = ${subject} AND f.location = ANY(${locations}::text[])
       AND (${isErasable} OR ${isAskedToErase})`);
}
