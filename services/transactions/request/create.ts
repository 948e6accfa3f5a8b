import type { FormsOperations } from '#lib/contracts/forms.ts';
import { isStaff, type Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { recordByStaff } from '../answer/record-by-staff.ts';
import { claimDocument } from '../documents/store.ts';
import { isNotified, type Messaging } from '../messages/queue.ts';
import { layoutReference, type ReadContext } from '../transaction/context.ts';
import { insertWithClaim } from '../transaction/store.ts';
import {
  creatorOf,
  newTransaction,
  type ReadTransaction,
  type Transaction,
} from '../transaction/transaction.ts';
import { readClaimed, takeValidity } from './claims-store.ts';
import { requireUnderDailyLimit } from './daily-limit.ts';
import { queueInvitation } from './invite.ts';
import { contextDigest } from './parse-context.ts';
import { unknownAddress, withLayoutContext } from './read-context.ts';
import { isReusable, readReuseFacts, reuseOrCreate } from './reuse.ts';

export interface CreateDependencies {
  db: Database;
  forms: FormsOperations;
  instance: { baseUrl: string };
  messaging: Messaging;
  /** Wakes the outbox relay. */
  wake: () => void;
}

/**
 * Creates a transaction, or returns the one of an equal context (docs/interface.md, "Duplicate creation").
 * @returns created: false for an existing transaction.
 * @throws Failure of `resolveLayout`, and with `sendInvitation` of `queueInvitation`; `invalid` if the
 * address of the layout's notification is malformed.
 */
export async function createTransaction(
  { db, forms, instance, messaging, wake }: CreateDependencies,
  read: ReadContext,
  principal: Principal,
): Promise<ReadTransaction & { created: boolean }> {
  const { baseUrl: source } = instance;
  await requireUnderDailyLimit(db, principal, read.context.subject);
  const found = await forms.resolveLayout(layoutReference(read.context));
  const { layout, active: resolved } = found;
  const given = withLayoutContext(read, found.context, principal, messaging);
  const { context } = given;
  requireNotifiable(messaging, { layout, ...given });
  const digest = contextDigest(given, layout, resolved);
  const transaction = newTransaction(given, layout, principal);
  const facts = await readReuseFacts({ db, forms }, transaction, resolved);
  // An invitation, a document and a line of the audit log are statements of their own.
  const needsTransaction =
    context.sendInvitation || isStaff(principal) || context.collection?.document !== undefined;
  const inserted = needsTransaction ? undefined : await insertWithClaim(db, digest, transaction, source);
  if (inserted) {
    wake();
    return { ...inserted, created: true };
  }
  const existing = await readClaimed(db, digest);
  if (existing && (await isReusable(db, existing, facts)))
    return { ...(await takeValidity(db, existing, context)), created: false };
  const made = await db.withTransaction(async (tx) => {
    const claim = { digest, transaction, source };
    const first = needsTransaction ? await insertWithClaim(tx, digest, transaction, source) : undefined;
    const found = first
      ? { ...first, created: true }
      : await reuseOrCreate(tx, claim, (claimed) => isReusable(tx, claimed, facts));
    if (found.created && context.sendInvitation)
      await queueInvitation(tx, messaging, found.transaction, {
        channel: context.invitationChannel ?? 'EMAIL',
        causedBy: creatorOf(principal),
      });
    if (found.created) await claimDocument(tx, found.transaction, '/collection/document');
    if (found.created) await recordByStaff(tx, principal, 'transaction.created', transaction.id);
    return found;
  });
  if (made.created) wake();
  return made;
}

/**
 * Requires an address to which the notification of a layout can and may be sent, if the context names one. To
 * a malformed address it would not be sent, without a message to the caller.
 * @throws Failure `invalid`, `forbidden`.
 */
export function requireNotifiable(
  messaging: Messaging,
  { layout, ...given }: Pick<Transaction, 'layout'> & ReadContext,
): void {
  if (!isNotified(messaging, { layout })) return;
  if (given.addressFault)
    throw fail('invalid', 'The context is not valid.', { errors: [given.addressFault] });
  if (!given.isAddressKnown) throw unknownAddress('mail');
}
