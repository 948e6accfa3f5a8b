import { recordAction, thisInstance } from '#lib/audit/record-action.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { lockSubject } from '../person/positions-sql.ts';
import { readSubject, replaceSubject, type Subject } from '../person/store.ts';
import { forgetHolds, readHold, restrictHeld, tellRestriction } from '../standing/holds-store.ts';
import { deleteOrdersOf } from '../standing/store.ts';
import {
  cancelOpen,
  deleteClaims,
  type ErasureScope,
  eraseTransactions,
  pickTransactions,
  readRest,
} from './erase-transactions.ts';
import type { Erasure, SubjectDigest } from './erasure.ts';
import {
  addErased,
  endErasure,
  endRequestsOfPeers,
  insertErasure,
  lockErasure,
  moveErasure,
  readErasure,
  readOpenErasure,
} from './store.ts';

export interface ErasureDependencies {
  db: Database;
  instance: { baseUrl: string };
  subjectDigest: SubjectDigest;
  /** Wakes the outbox relay. */
  wake: () => void;
  /** Wakes the job that erases. */
  wakeErasure: () => void;
}

/**
 * Starts the erasure of a subject, or stores the request for it. Idempotent: the erasure of the subject that
 * has not ended is returned, and started if the subject had only requested it.
 * @param given.state REQUESTED for a request by the person.
 * @param given.isByStaff whether staff records the request, which the audit log has then.
 */
export async function requestErasure(
  dependencies: ErasureDependencies,
  subject: Pick<Subject, 'id' | 'name'>,
  {
    state,
    reason,
    isByStaff = false,
  }: { state: 'REQUESTED' | 'RUNNING'; reason: string | null; isByStaff?: boolean },
): Promise<Erasure> {
  const { db, wakeErasure } = dependencies;
  const erasure = await db.withTransaction(async (tx) => {
    await lockSubject(tx, subject.name);
    // It may have been erased while this request waited.
    if ((await readSubject(tx, subject.name))?.id !== subject.id)
      throw fail('not-found', 'Subject not found.');
    return openErasure(dependencies, tx, subject, { state, reason, peer: null, isByStaff });
  });
  wakeErasure();
  return erasure;
}

/** See {@link requestErasure}. The caller has locked the subject. @param given.peer see {@link Erasure}. */
export async function openErasure(
  dependencies: Pick<ErasureDependencies, 'subjectDigest' | 'instance'>,
  tx: Queries,
  { id: reference, name: subject }: Pick<Subject, 'id' | 'name'>,
  {
    state,
    reason,
    peer,
    isByStaff = false,
  }: Pick<Erasure, 'reason' | 'peer'> & { state: 'REQUESTED' | 'RUNNING'; isByStaff?: boolean },
): Promise<Erasure> {
  const digest = dependencies.subjectDigest.make(subject);
  const row = { id: randomId(), reference, subject, peer, digest, state, reason };
  const inserted = await insertErasure(tx, row);
  const stored = inserted ?? ((await readOpenErasure(tx, { subject, peer })) as Erasure);
  if (inserted && isByStaff)
    await recordAction(tx, { action: 'erasure.requested', target: `subject/${reference}` });
  if (state === 'REQUESTED' || (!inserted && stored.state !== 'REQUESTED')) return stored;
  // The audit log names this instance as the actor, not the peer that asked.
  return startErasure(dependencies, tx, stored, peer === null ? undefined : thisInstance);
}

/**
 * Starts or refuses a requested erasure, or refuses one that is HELD. Idempotent.
 * @throws Failure `not-found`; `wrong-state` if it was decided otherwise.
 */
export async function decideErasure(
  dependencies: ErasureDependencies,
  id: string,
  { status, ground }: { status: 'RUNNING' | 'REFUSED'; ground: string | null },
): Promise<Erasure> {
  const { db, wakeErasure } = dependencies;
  const found = await readErasure(db, id);
  if (!found) throw noSuchErasure();
  const erasure = await db.withTransaction(async (tx) => {
    if (found.subject !== null) await lockSubject(tx, found.subject);
    const stored = (await lockErasure(tx, id)) as Erasure;
    const isSame = (stored.state === 'REFUSED') === (status === 'REFUSED');
    const isOpen = stored.state === 'REQUESTED' || (stored.state === 'HELD' && status === 'REFUSED');
    if (!isOpen && isSame) return stored;
    if (!isOpen)
      throw fail('wrong-state', `The erasure is already ${stored.state}.`, {
        members: { state: stored.state },
      });
    if (status === 'RUNNING') return startErasure(dependencies, tx, stored);
    await recordAction(tx, { action: 'erasure.refused', target: `subject/${stored.reference}` });
    return endErasure(tx, id, { state: 'REFUSED', ground });
  });
  wakeErasure();
  return erasure;
}

export function noSuchErasure() {
  return fail('not-found', 'Erasure not found.');
}

/**
 * Starts an erasure whose subject is locked; while a hold is in force, it is HELD.
 * @param account who acts; default: the caller of the current request.
 */
async function startErasure(
  { instance }: Pick<ErasureDependencies, 'instance'>,
  tx: Queries,
  { id, reference, subject, peer }: Erasure,
  account?: string,
): Promise<Erasure> {
  await recordAction(tx, { action: 'erasure.started', target: `subject/${reference}` }, account);
  if (subject === null || !(await readHold(tx, subject))) return moveErasure(tx, id, 'RUNNING');
  return holdErasure(tx, { id, reference, subject, peer }, instance.baseUrl);
}

/**
 * Makes an erasure HELD, which restricts the use of the subject's data unless a peer asks. The subject is
 * locked.
 */
export async function holdErasure(
  tx: Queries,
  { id, reference, subject, peer }: Pick<Erasure, 'id' | 'reference' | 'peer'> & { subject: string },
  source: string,
): Promise<Erasure> {
  if (peer === null && (await restrictHeld(tx, subject)))
    await tellRestriction(tx, { subject, reference }, source);
  return moveErasure(tx, id, 'HELD');
}

/** Transactions that one COMMIT erases. */
const batch = 50;

/**
 * Works on an erasure until it is DONE or has to wait: for a hold, for a transaction that is being answered,
 * or for a held part whose leader has not decided. Whatever was committed is not done again, so it can be
 * repeated at any time.
 */
export async function runErasure(
  dependencies: Pick<ErasureDependencies, 'db' | 'instance' | 'wake'>,
  id: string,
  isStopped: () => boolean,
): Promise<void> {
  const { db, instance, wake } = dependencies;
  const found = await readErasure(db, id);
  if (!found || found.subject === null) return;
  const { subject, peer } = found;
  const scope = { erasure: id, subject, peer };
  if ((await readHold(db, subject)) === undefined) {
    await db.withTransaction((tx) => cancelOpen(tx, scope, instance.baseUrl));
    await deleteClaims(db, scope);
  }
  let goesOn = true;
  while (goesOn && !isStopped()) {
    goesOn = await db.withTransaction((tx) => eraseBatch(tx, scope, instance.baseUrl));
    wake();
  }
}

/** @returns whether another batch may follow at once. */
async function eraseBatch(tx: Queries, scope: ErasureScope, source: string): Promise<boolean> {
  const { erasure: id, subject, peer } = scope;
  await lockSubject(tx, subject);
  const erasure = await lockErasure(tx, id);
  if (!erasure || (erasure.state !== 'RUNNING' && erasure.state !== 'HELD')) return false;
  const { reference } = erasure;
  if (await readHold(tx, subject)) {
    if (erasure.state === 'RUNNING') await holdErasure(tx, { id, reference, subject, peer }, source);
    return false;
  }
  if (erasure.state === 'HELD') await moveErasure(tx, id, 'RUNNING');
  const picked = await pickTransactions(tx, scope, batch);
  if (picked.length > 0) {
    const erased = await eraseTransactions(tx, picked, { erasure: id, source });
    await addErased(tx, erasure, erased);
    return true;
  }
  const rest = await readRest(tx, scope);
  if (rest.covered) return false;
  await deleteOrdersOf(tx, subject, peer);
  if (peer === null || !rest.others) {
    // Only a hold that has ended is left; one in force was ruled out above.
    await forgetHolds(tx, [subject]);
    await replaceSubject(tx, subject, rest.others);
  }
  await recordAction(tx, { action: 'subject.erased', target: `subject/${reference}` }, thisInstance);
  await endErasure(tx, id, { state: 'DONE' });
  if (peer === null) await endRequestsOfPeers(tx, subject);
  return false;
}
