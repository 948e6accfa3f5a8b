import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { MessageChannel } from '#lib/contracts/messages.ts';
import { isPrivileged, isStaff, type Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { recordByStaff } from '../answer/record-by-staff.ts';
import { isNotified, type Messaging } from '../messages/queue.ts';
import { layoutReference, origins, type ReadContext } from '../transaction/context.ts';
import { codeDestination, isKnownAddress, notificationAddress } from '../transaction/destination.ts';
import { insertWithClaim } from '../transaction/store.ts';
import {
  creatorOf,
  newTransaction,
  type ReadTransaction,
  type Transaction,
} from '../transaction/transaction.ts';
import { normaliseText } from '../transaction/values.ts';
import { readClaimed } from './claims.ts';
import { queueInvitation } from './invite.ts';
import { requireRoom } from './own-transactions.ts';
import { collectFields, contextDigest, parseContext } from './read-context.ts';
import { isReusable, readReuseFacts, reuseOrCreate } from './reuse.ts';
/**
 * Reads the ConsentContext of a caller. Fields that a plain user may not set are refused before other faults,
 * and so are messages to addresses that the account is not known to have.
 * @throws Failure `forbidden`, `layout-conflict`, `not-available`, `invalid`; with a pointer for each fault.
 */
export function readContext(
  body: Record<string, unknown>,
  principal: Principal,
  { channels }: Pick<Messaging, 'channels'>,
): ReadContext {
  if (!isPrivileged(principal)) requireOwnContext(body, principal);
  const parsed = parseContext(body, channels);
  if (!('faults' in parsed)) return isPrivileged(principal) ? parsed : ofUser(parsed, principal);
  if (parsed.unavailable)
    throw fail('not-available', 'The context needs a feature that is not configured on this instance.', {
      errors: parsed.faults,
    });
  const layoutsOnly = parsed.faults.every(({ code }) => code === 'layout-conflict');
  throw fail(layoutsOnly ? 'layout-conflict' : 'invalid', 'The context is not valid.', {
    errors: parsed.faults,
  });
}

/** Origins that plain users may not set. */
const operatorOrigins: readonly unknown[] = origins.filter(
  (origin) => origin !== 'USER' && origin !== 'WEBFORM',
);

function requireOwnContext(body: Record<string, unknown>, principal: Principal): void {
  const { fields } = collectFields(body);
  const subject = fields.get('subject')?.value;
  if (subject !== undefined && normaliseText(String(subject)) !== principal.subject)
    throw fail('forbidden', 'You may only create transactions for yourself.');
  if (fields.has('author')) throw fail('forbidden', 'Only an operator may set the author.');
  if (operatorOrigins.includes(fields.get('origin')?.value))
    throw fail('forbidden', 'You may only use the origins USER and WEBFORM.');
  // As `POST /consents/{txid}/invitation`.
  if (fields.get('sendInvitation')?.value === true)
    throw fail('forbidden', 'Only an operator may send invitations.');
}

/**
 * The context of a plain user.
 * @throws Failure `forbidden` if it sends a code to an address that the account is not known to have.
 */
function ofUser({ context, ...read }: ReadContext, principal: Principal): ReadContext {
  const code = codeDestination(context);
  if (code && !isKnownAddress(code, principal)) throw unknownAddress(code.channel);
  const mail = notificationAddress({ context, isAddressKnown: true });
  return { ...read, context, isAddressKnown: mail === undefined || isKnownAddress(mail, principal) };
}

/** Nobody may have mails or text messages sent to people who did not ask for them. */
function unknownAddress(channel: MessageChannel) {
  const [what, claims] =
    channel === 'mail'
      ? ['the e-mail address', 'email, email_verified']
      : ['the telephone number', 'phone_number, phone_number_verified'];
  return fail(
    'forbidden',
    `You may only have messages sent to ${what} of your account that its issuer has verified (${claims}).`,
  );
}

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
  given: ReadContext,
  principal: Principal,
): Promise<ReadTransaction & { created: boolean }> {
  const { baseUrl: source } = instance;
  const { context } = given;
  await requireRoom(db, principal, context.subject);
  const { layout, active: resolved } = await forms.resolveLayout(layoutReference(context));
  requireNotifiable(messaging, { layout, ...given });
  const digest = contextDigest(given, layout, resolved);
  const transaction = newTransaction(given, layout, principal);
  const facts = await readReuseFacts({ db, forms }, transaction, resolved);
  // An invitation and a line of the audit log are statements of their own, which need a database transaction.
  const needsTransaction = context.sendInvitation || isStaff(principal);
  const inserted = needsTransaction ? undefined : await insertWithClaim(db, digest, transaction, source);
  if (inserted) {
    wake();
    return { ...inserted, created: true };
  }
  const existing = await readClaimed(db, digest);
  if (existing && (await isReusable(db, existing, facts))) return { ...existing, created: false };
  const read = await db.withTransaction(async (tx) => {
    const claim = { digest, transaction, source };
    const first = needsTransaction ? await insertWithClaim(tx, digest, transaction, source) : undefined;
    const found = first
      ? { ...first, created: true }
      : await reuseOrCreate(tx, claim, (claimed) => isReusable(tx, claimed, facts));
    if (found.created && context.sendInvitation)
      await queueInvitation(tx, messaging, found.transaction, creatorOf(principal));
    if (found.created) await recordByStaff(tx, principal, 'transaction.created', transaction.id);
    return found;
  });
  if (read.created) wake();
  return read;
}

/**
 * Requires an address to which the notification of a layout can and may be sent, if the context names one. To
 * a malformed address it would not be sent, and nobody would notice.
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
