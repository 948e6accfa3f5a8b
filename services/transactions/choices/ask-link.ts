import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import { recordAction, thisInstance } from '#lib/audit/record-action.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Messaging } from '../messages/queue.ts';
import { readPeopleOf } from '../person/contacts-sql.ts';
import { parseEmailAddress } from '../transaction/contact.ts';
import { mailDestination } from '../transaction/destination.ts';
import { isFault } from '../transaction/values.ts';

/** How many people of one address get a link. */
export const maxPeople = 5;

interface AskedLink {
  address: string;
  /** Of the page, BCP 47. */
  language: string;
}

/**
 * Stores the request for a link to the choices of those who have an address. It looks up nothing, so that
 * what it does, and how long that takes, is the same for every address; {@link createLinkSender} does the
 * rest.
 * @param allowed false above the limits: then nothing is stored.
 * @throws Failure `invalid`; `not-available` without mail.
 */
export async function askForLink(
  { db, messaging }: { db: Queries; messaging: Messaging },
  { address: text, language }: AskedLink,
  allowed: boolean,
): Promise<void> {
  if (!messaging.channels.mail)
    throw fail('not-available', 'Links need mail, which is not configured on this instance (MAIL_URL).');
  const address = parseEmailAddress({ value: text, pointer: '/address' });
  if (isFault(address)) throw fail('invalid', 'The e-mail address is not valid.', { errors: [address] });
  if (!allowed) return;
  const id = newUuid();
  const sealed = messaging.box.seal(id, JSON.stringify({ address, language } satisfies AskedLink));
  await db.query(sql`
    INSERT INTO choices_requests (id, sealed, created_at) VALUES (${id}, ${sealed}, accord_now())`);
}

const batch = 50;

/** People wait for the mail. */
const everyMs = 1_000;

interface SenderDependencies {
  db: Database;
  messaging: Messaging;
  box: SecretBox;
  log: Logger;
}

/**
 * Queues the mails for requests whose address is known, within the limits of the address. It runs at
 * intervals, never because of a request: nothing that can be measured follows from a known address.
 */
export function createLinkSender({ db, log, ...dependencies }: SenderDependencies): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      let taken: number;
      do taken = await db.withTransaction((tx) => answerRequests(tx, dependencies));
      while (taken === batch && !isStopped());
    },
    onError: (error) => log.warn('failed to send links to choices; retried at the next interval', { error }),
  });
}

/** @returns how many requests were taken. */
async function answerRequests(
  tx: Queries,
  { messaging, box }: Pick<SenderDependencies, 'messaging' | 'box'>,
): Promise<number> {
  const taken = await tx.query<{ id: string; sealed: Buffer }>(sql`
    DELETE FROM choices_requests AS r
     WHERE r.id = ANY (ARRAY(SELECT q.id FROM choices_requests AS q ORDER BY q.created_at, q.id
                              LIMIT ${batch} FOR UPDATE SKIP LOCKED))
    RETURNING r.id, r.sealed`);
  const asked = taken.map(({ id, sealed }) => JSON.parse(box.open(id, sealed)) as AskedLink);
  const mails = asked.flatMap(({ address, language }) => {
    const destination = mailDestination(address);
    return destination ? [{ destination, language, place: messaging.addressOf(destination) }] : [];
  });
  // Addresses are locked one after the other, in the same order by every process.
  for (const mail of mails.toSorted((a, b) => Buffer.compare(a.place, b.place)))
    await sendLink(tx, messaging, mail);
  return taken.length;
}

async function sendLink(
  tx: Queries,
  messaging: Messaging,
  {
    destination,
    language,
  }: { destination: NonNullable<ReturnType<typeof mailDestination>>; language: string },
): Promise<void> {
  const people = await readPeopleOf(tx, destination.to, maxPeople);
  if (people.length === 0) return;
  // The stored message has no name and no domain, which an erasure would have to find.
  const about = { transaction: null, kind: 'choices', causedBy: null, language } as const;
  const to = { ...destination, masked: '' };
  const queued = await messaging.queue(tx, { ...about, destination: to }, 'drop');
  if (!queued) return;
  for (const { id } of people)
    await recordAction(tx, { action: 'choices.link-sent', target: `subject/${id}` }, thisInstance);
}
