import type { LayoutContext } from '#lib/contracts/forms.ts';
import type { MessageChannel } from '#lib/contracts/messages.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { isPrivileged, maySayWhoAnswered } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Messaging } from '../messages/queue.ts';
import type { ContextField, ReadContext } from '../transaction/context.ts';
import { origins } from '../transaction/context.ts';
import { codeDestination, isKnownAddress, notificationAddress } from '../transaction/destination.ts';
import { normaliseText } from '../transaction/values.ts';
import { collectFields, parseContext } from './parse-context.ts';

/**
 * Reads the ConsentContext of a caller. Fields that the caller may not set are refused before other faults,
 * and so are messages to addresses that the account is not known to have.
 * @throws Failure `forbidden`, `layout-conflict`, `not-available`, `invalid`; with a pointer for each fault.
 */
export function readContext(
  body: Record<string, unknown>,
  principal: Principal,
  { channels }: Pick<Messaging, 'channels'>,
): ReadContext {
  if (!isPrivileged(principal)) requireOwnContext(body, principal);
  else if (!maySayWhoAnswered(principal) && collectFields(body).fields.has('author')) throw authorForbidden();
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

/**
 * Reads a context once more with what its layout gives where it has left a member out.
 * @throws Failure as {@link readContext}.
 */
export function withLayoutContext(
  read: ReadContext,
  given: LayoutContext | undefined,
  principal: Principal,
  messaging: Pick<Messaging, 'channels'>,
): ReadContext {
  if (!given) return read;
  const { fields } = collectFields(read.sent);
  const missing = Object.entries(given).filter(([name]) => !fields.has(name as ContextField));
  if (missing.length === 0) return read;
  return readContext({ ...read.sent, ...Object.fromEntries(missing) }, principal, messaging);
}

/** Origins that plain users may not set. */
const operatorOrigins: readonly unknown[] = origins.filter(
  (origin) => origin !== 'USER' && origin !== 'WEBFORM',
);

const authorForbidden = () => fail('forbidden', 'Only an operator may set the author.');

function requireOwnContext(body: Record<string, unknown>, principal: Principal): void {
  const { fields } = collectFields(body);
  const subject = fields.get('subject')?.value;
  if (subject !== undefined && normaliseText(String(subject)) !== principal.subject)
    throw fail('forbidden', 'You may only create transactions for yourself.');
  if (fields.has('author')) throw authorForbidden();
  if (operatorOrigins.includes(fields.get('origin')?.value))
    throw fail('forbidden', 'You may only use the origins USER and WEBFORM.');
  if (fields.has('collection'))
    throw fail('forbidden', 'Only an operator may record answers on behalf of somebody.');
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

/** Mails and text messages go only to people who asked for them. */
export function unknownAddress(channel: MessageChannel) {
  const [what, claims] =
    channel === 'mail'
      ? ['the e-mail address', 'email, email_verified']
      : ['the telephone number', 'phone_number, phone_number_verified'];
  return fail(
    'forbidden',
    `You may only have messages sent to ${what} of your account that its issuer has verified (${claims}).`,
  );
}
