import { recordAction } from '#lib/audit/record-action.ts';
import { fail } from '#lib/errors/fail.ts';
import { lockSubject } from '../person/positions-sql.ts';
import { readSubject, type Subject } from '../person/store.ts';
import { type Hold, liftHold, readHold, tellRestriction, writeHold } from '../standing/holds-store.ts';
import { type ErasureDependencies, holdErasure } from './erase.ts';
import { readOpenErasure } from './store.ts';

/**
 * Puts a hold on the data of a subject, in place of an earlier one (docs/erasure.md, "Hold"). An erasure that
 * runs becomes HELD after the transactions that it has begun.
 * @throws Failure `not-found` if the subject was erased in the meantime.
 */
export async function holdSubject(
  { db, instance, wake }: ErasureDependencies,
  { id, name }: Pick<Subject, 'id' | 'name'>,
  given: Omit<Hold, 'since'>,
): Promise<Hold> {
  const hold = await db.withTransaction(async (tx) => {
    await lockSubject(tx, name);
    if ((await readSubject(tx, name))?.id !== id) throw fail('not-found', 'Subject not found.');
    const before = await readHold(tx, name);
    const erasure = await readOpenErasure(tx, { subject: name, peer: null });
    const isHeld = erasure !== undefined && erasure.state !== 'REQUESTED';
    const restrict = given.restrict || isHeld;
    await writeHold(tx, name, { ...given, restrict });
    if (restrict && !before?.restrict)
      await tellRestriction(tx, { subject: name, reference: id }, instance.baseUrl);
    if (isHeld) await holdErasure(tx, { ...erasure, subject: name }, instance.baseUrl);
    await recordAction(tx, { action: 'subject.held', target: `subject/${id}` });
    return (await readHold(tx, name)) as Hold;
  });
  wake();
  return hold;
}

/** Ends the hold of a subject; the erasure that was HELD goes on. Idempotent. */
export async function endHold(
  { db, wakeErasure }: ErasureDependencies,
  { id, name }: Pick<Subject, 'id' | 'name'>,
): Promise<void> {
  await db.withTransaction(async (tx) => {
    await lockSubject(tx, name);
    if (!(await liftHold(tx, name))) return;
    await recordAction(tx, { action: 'subject.released', target: `subject/${id}` });
  });
  wakeErasure();
}
