import { recordAction, thisInstance } from '#lib/audit/record-action.ts';
import type { ChoicesFrame, ChoicesSession, Principal } from '#lib/contracts/principal.ts';
import { isPrivileged } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { ensureSubject } from '../person/store.ts';
import { isFault, parseHttpUrl, parseLanguage, parseOrigin, parseSubject } from '../transaction/values.ts';
import { readTakenLink, takeChoicesLink } from './links-store.ts';
import { endSessions, readNewSession } from './sessions-store.ts';

/** The failure of a link that cannot be opened, whatever the reason. */
export function linkIsOver() {
  return fail('expired', 'This link has been used, or has ended.');
}

/**
 * Begins the session of a link, or the same one again for a click that is repeated within a minute.
 * @throws Failure `expired`.
 */
export async function openLink(db: Database, id: string): Promise<ChoicesSession> {
  const opened = await db.withTransaction(async (tx) => {
    const taken = await takeChoicesLink(tx, id);
    if (taken)
      await recordAction(tx, { action: 'choices.opened', target: `subject/${taken.person}` }, thisInstance);
    return taken ?? (await readTakenLink(tx, id));
  });
  if (!opened) throw linkIsOver();
  const { person, epoch, openedAt, address } = opened;
  const session = { person, epoch, startedAt: openedAt };
  return address === null ? session : { ...session, address: address.toString('base64url') };
}

/**
 * Begins a session for a page of the organisation, or for an account of its own.
 * @throws Failure `invalid`, `forbidden`; `not-found` for an unknown person.
 */
export async function openSession(
  db: Database,
  principal: Principal,
  body: { subject?: string; language?: string; returnUrl?: string; iframeOrigin?: string },
): Promise<ChoicesSession> {
  const { name, frame } = readInput(principal, body);
  if (!isPrivileged(principal)) await ensureSubject(db, name);
  const begun = await readNewSession(db, name);
  if (!begun) throw fail('not-found', 'Subject not found.');
  if (isPrivileged(principal))
    await recordAction(db, { action: 'choices.opened', target: `subject/${begun.person}` });
  return { ...begun, frame };
}

/** Ends all sessions of a person, and all links to its choices. */
export async function endAll(db: Database, { person }: ChoicesSession): Promise<void> {
  await endSessions(db, person);
}

type Input = Parameters<typeof openSession>[2];

function readInput(principal: Principal, body: Input): { name: string; frame: ChoicesFrame } {
  const faults: Fault[] = [];
  const take = (
    member: keyof Input,
    parse: typeof parseSubject,
    value = body[member],
  ): string | undefined => {
    if (value === undefined || value === '') return undefined;
    const read = parse({ value, pointer: `/${member}` });
    if (!isFault(read)) return read;
    faults.push(read);
    return undefined;
  };
  const subject = take('subject', parseSubject);
  if (!isPrivileged(principal) && subject !== undefined && subject !== principal.subject)
    throw fail('forbidden', 'You may only open your own choices.');
  const name = subject ?? (isPrivileged(principal) ? undefined : principal.subject);
  const [language, returnUrl, iframeOrigin] = [
    take('language', parseLanguage),
    take('returnUrl', parseHttpUrl),
    take('iframeOrigin', parseOrigin),
  ];
  if (name === undefined && faults.length === 0)
    faults.push({ pointer: '/subject', code: 'required', detail: 'is required' });
  if (name === undefined || faults.length > 0)
    throw fail('invalid', 'The body is not valid.', { errors: faults });
  const frame = {
    ...(language && { language }),
    ...(returnUrl && { returnUrl }),
    ...(iframeOrigin && { iframeOrigin }),
  };
  return { name, frame };
}
