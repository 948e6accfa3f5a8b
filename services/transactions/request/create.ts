import { recordAction } from '#lib/audit/record-action.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { MessageChannel } from '#lib/contracts/messages.ts';
import { isPrivileged, isStaff, type Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { cancelLocked, closeExpiredChild } from '../answer/end-transactions.ts';
import { recordByStaff } from '../answer/record-by-staff.ts';
import { transactionBusy } from '../answer/submit.ts';
import type { Message } from '../messages/message.ts';
import { isNotified, type Messaging, queueBadNews, queueInvitation } from '../messages/queue.ts';
import { lockSubject } from '../person/positions.ts';
import {
  authorOf,
  noSuchTransaction,
  requireAccess,
  requireOpen,
  requireUpdatable,
} from '../transaction/access.ts';
import {
  collectFields,
  contextDigest,
  layoutReference,
  origins,
  parseContext,
  type ReadContext,
} from '../transaction/context.ts';
import { codeDestination, isKnownAddress, notificationAddress } from '../transaction/destination.ts';
import {
  insertTransaction,
  insertWithClaim,
  lockTransaction,
  readOpenChild,
  readTransaction,
} from '../transaction/store.ts';
import {
  creatorOf,
  isAwaitingCode,
  type NewTransaction,
  newTransaction,
  type ReadTransaction,
  type Transaction,
} from '../transaction/transaction.ts';
import { normaliseText } from '../transaction/values.ts';
import { readClaimed } from './claims.ts';
import { requireRoom } from './own-transactions.ts';
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

/**
 * Mails the URL of an open transaction to its subject.
 * @throws Failure `not-found`, `wrong-state`, `expired`, `not-available`, `invalid` without a valid address,
 * `too-many-requests`.
 */
export async function inviteSubject(
  { db, instance, messaging }: Pick<CreateDependencies, 'db' | 'instance' | 'messaging'>,
  { id, principal }: { id: string; principal: Principal },
): Promise<Message> {
  const read = await readTransaction(db, id);
  if (!read) throw noSuchTransaction();
  if (!isAwaitingCode(read)) requireOpen(read, instance.baseUrl);
  if (!messaging.channels.mail)
    throw fail('not-available', 'Mail is not configured on this instance (MAIL_URL).');
  return db.withTransaction(async (tx) => {
    const message = await queueInvitation(tx, messaging, read.transaction, creatorOf(principal));
    await recordAction(tx, { action: 'invitation.sent', target: `transaction/${id}` });
    return message;
  });
}

/**
 * Creates a transaction based on a final one, or returns its open child (docs/interface.md, "Children").
 * @param languages of the caller, which replace the language of the parent's context; may be empty.
 * @throws Failure `not-found`, `wrong-state`, `too-many-requests`.
 */
export async function createChild(
  { db, instance, messaging, wake }: Omit<CreateDependencies, 'forms'>,
  { id, principal, languages }: { id: string; principal: Principal; languages: string[] },
): Promise<ReadTransaction & { created: boolean }> {
  const source = instance.baseUrl;
  const readParent = async (queries: Queries) => {
    const read = requireAccess(principal, await readTransaction(queries, id), 'result');
    requireUpdatable(read);
    return read;
  };
  const { subject } = (await readParent(db)).transaction;
  const child = await db.withTransaction(async (tx) => {
    await lockSubject(tx, subject);
    // One of several concurrent requests creates the child; the others find it.
    await lockTransaction(tx, id);
    // The person may have been erased while the locks were waited for.
    const parent = await readParent(tx);
    await queueBadNews(tx, messaging, await closeExpiredChild(tx, id, source));
    const open = await readOpenChild(tx, id);
    if (open) return { ...open, created: false };
    await requireRoom(tx, principal, subject);
    const created = await insertTransaction(tx, childOf(parent.transaction, principal, languages), source);
    await recordByStaff(tx, principal, 'transaction.created', created.transaction.id);
    return { ...created, created: true };
  });
  if (child.created) wake();
  return child;
}

function childOf(parent: Transaction, principal: Principal, languages: string[]): NewTransaction {
  const { author: _author, language, origin, ...rest } = parent.context;
  // This instance shows the form of the child, even if a peer showed the parent's.
  const context = { ...rest, origin: origin === 'PEER' ? ('WEBFORM' as const) : origin };
  return {
    id: randomId(),
    context: { ...context, ...(languages.length === 0 && language ? { language } : {}) },
    layout: parent.layout,
    author: authorOf(principal, { ...parent, context }),
    parent: parent.id,
    createdBy: parent.createdBy,
    isAddressKnown: parent.isAddressKnown,
  };
}

/**
 * Cancels an open transaction. Callers without privileges may only cancel one that is `cancellable`.
 * @throws Failure `not-found`, `forbidden` if not cancellable, `wrong-state` in a final state.
 */
export async function cancelTransaction(
  { db, instance, wake }: Omit<CreateDependencies, 'forms'>,
  { id, principal }: { id: string; principal: Principal },
): Promise<ReadTransaction> {
  const { baseUrl } = instance;
  const read = requireAccess(principal, await readTransaction(db, id));
  if (!isPrivileged(principal) && !read.transaction.context.cancellable)
    throw fail('forbidden', 'The transaction is not cancellable.');
  const isCancelled = await db.withTransaction(async (tx) => {
    // The lock waits for a submission that is being stored: a single statement would not see its parts.
    await lockTransaction(tx, id);
    const isDone = await cancelLocked(tx, id, baseUrl);
    if (isDone && isPrivileged(principal))
      await recordAction(tx, { action: 'transaction.cancelled', target: `transaction/${id}` });
    return isDone;
  });
  const after = await readTransaction(db, id);
  if (!after) throw noSuchTransaction();
  if (!isCancelled) {
    requireOpen(after, baseUrl, 'wrong-state');
    throw transactionBusy();
  }
  wake();
  return after;
}
