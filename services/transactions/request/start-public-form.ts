import { unauthorized } from '#lib/auth/authenticate.ts';
import type { LayoutContext, PinnedLayout } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { anonymousSubject, type PublicForm } from '#lib/contracts/public-forms.ts';
import { Failure, fail } from '#lib/errors/fail.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { endOfDay } from '#lib/text/timestamp.ts';
import { parseEmailAddress } from '../transaction/contact.ts';
import { contextDefaults } from '../transaction/context.ts';
import { insertTransaction, readNow } from '../transaction/store.ts';
import {
  type NewTransaction,
  publicCreator,
  type ReadTransaction,
  strangersTime,
} from '../transaction/transaction.ts';
import { isFault, parseSubject } from '../transaction/values.ts';
import { type CreateDependencies, createTransaction } from './create.ts';
import { readContext } from './read-context.ts';

/** A form with an address of its own, as it is now. */
export interface FoundPublicForm extends Pick<PublicForm, 'identify'> {
  key: string;
  layout: PinnedLayout;
  /** What the layout gives the context: deadline and confirmation are those of strangers. */
  context: Pick<LayoutContext, 'validity' | 'callback'>;
  /** The end of the last day; null: there is none. */
  until: Date | null;
  isOver: boolean;
}

type Dependencies = CreateDependencies & { instance: { baseUrl: string; timeZone: string } };

/**
 * Finds the form of an address.
 * @throws Failure `not-found` for a form without an address of its own, `not-available` if its codes cannot
 * be mailed.
 */
export async function findPublicForm(
  { db, forms, instance, messaging }: Dependencies,
  key: string,
): Promise<FoundPublicForm> {
  const { layout, public: form, context } = await forms.resolveLayout({ layout: key }).catch(asNotFound);
  if (!form) throw noSuchForm();
  if (form.identify === 'EMAIL' && !messaging.channels.mail)
    throw fail('not-available', 'The form needs mail, which is not configured on this instance (MAIL_URL).');
  const until = form.until === undefined ? null : endOfDay(form.until, instance.timeZone);
  return {
    key,
    layout,
    context: {
      ...(context?.validity && { validity: context.validity }),
      ...(context?.callback && { callback: context.callback }),
    },
    identify: form.identify,
    until,
    isOver: until !== null && until <= (await readNow(db)),
  };
}

function asNotFound(error: unknown): never {
  const isMissing = error instanceof Failure && ['unknown-element', 'layout-conflict'].includes(error.code);
  throw isMissing ? noSuchForm() : error;
}

function noSuchForm() {
  return fail('not-found', 'There is no form at this address.');
}

/**
 * Creates the transaction of a person at the address of a form. What a stranger begins has no claim on its
 * context: nobody gets a transaction that another person has begun or finished.
 * @param given.emailAddress for a form that asks for it.
 * @throws Failure `invalid` for another text, `unauthorized` without an account where one is needed; of
 * `createTransaction`.
 */
export async function startPublicForm(
  dependencies: Dependencies,
  form: FoundPublicForm,
  { emailAddress, principal }: { emailAddress: string; principal: Principal },
): Promise<ReadTransaction> {
  const { key: layout, identify } = form;
  if (identify !== 'SIGN_IN') {
    const begun = strangersTransaction(form, emailAddress);
    const read = await insertTransaction(dependencies.db, begun, dependencies.instance.baseUrl);
    dependencies.wake();
    return read;
  }
  const { subject } = principal;
  if (subject === undefined) throw unauthorized('Sign in to answer this form.');
  // The account says who the person is: a code that the layout wants could be sent nowhere.
  const signedIn = { subject, layout, origin: 'USER', confirmation: 'NONE' };
  const context = readContext(signedIn, principal, dependencies.messaging);
  return createTransaction(dependencies, context, principal);
}

function strangersTransaction(form: FoundPublicForm, emailAddress: string): NewTransaction {
  const { key, layout, context, identify } = form;
  const common = { ...contextDefaults, ...context, layout: key, timeout: strangersTime };
  const address = identify === 'EMAIL' ? readAddress(emailAddress) : undefined;
  return {
    id: randomId(),
    context: address
      ? {
          ...common,
          subject: address,
          subjectInfos: { emailAddress: address },
          confirmation: 'EMAIL_CODE',
          // Earlier answers are those of the person who reads the mails to the address.
          silent: true,
        }
      : { ...common, subject: anonymousSubject(randomId()) },
    layout,
    author: 'anonymous',
    parent: null,
    createdBy: publicCreator(layout.id ?? key),
  };
}

/** An address that names a person: its domain in lower case. @throws Failure `invalid`. */
function readAddress(text: string): string {
  const pointer = '/emailAddress';
  const address = parseEmailAddress({ value: text, pointer });
  const at = isFault(address) ? 0 : address.lastIndexOf('@');
  const subject = isFault(address)
    ? address
    : parseSubject({ value: address.slice(0, at) + address.slice(at).toLowerCase(), pointer });
  if (isFault(subject)) throw fail('invalid', 'The e-mail address is not valid.', { errors: [subject] });
  return subject;
}
