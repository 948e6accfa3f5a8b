import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import { recordAction, thisInstance } from '#lib/audit/record-action.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { fail, invalidMember } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Messaging } from '../messages/queue.ts';
import { readPeopleOf } from '../person/contacts-sql.ts';
import { parseEmailAddress } from '../transaction/contact.ts';
import { type Destination, mailDestination } from '../transaction/destination.ts';
import { isFault } from '../transaction/values.ts';
import { readAddressOfPart } from './brought.ts';

/** How many people of one address get a link. */
export const maxPeople = 5;

/** For whom a link is asked: those who have an address, or those of the address that belongs to a part. */
export type AskedBy = { address: string } | { from: string };

type AskedLink = AskedBy & {
  /** Of the page, BCP 47. */
  language: string;
};

/**
 * Stores the request for a link to the choices of those who have an address. It looks up nothing, so that
 * what it does, and how long that takes, is the same for every address and every part;
 * {@link createLinkSender} does the rest.
 * @param asked.by `from`: id of a part that a peer sent.
 * @param allowed false above the limits: then nothing is stored.
 * @throws Failure `invalid`; `not-available` without mail.
 */
export async function askForLink(
  { db, messaging }: { db: Queries; messaging: Messaging },
  { by, language }: { by: AskedBy; language: string },
  allowed: boolean,
): Promise<void> {
  if (!messaging.channels.mail)
    throw fail('not-available', 'Links need mail, which is not configured on this instance (MAIL_URL).');
  const asked: AskedLink = { ...('from' in by ? readPart(by.from) : readAddress(by.address)), language };
  if (!allowed) return;
  const id = newUuid();
  const sealed = messaging.box.seal(id, JSON.stringify(asked));
  await db.query(sql`
    INSERT INTO choices_requests (id, sealed, created_at) VALUES (${id}, ${sealed}, accord_now())`);
}

function readAddress(text: string): AskedBy {
  const pointer = '/address';
  const missing = { pointer, code: 'required', detail: 'is required' };
  const address = text === '' ? missing : parseEmailAddress({ value: text, pointer });
  if (isFault(address)) throw fail('invalid', 'The e-mail address is not valid.', { errors: [address] });
  return { address };
}

function readPart(from: string): AskedBy {
  if (/^[1-9A-HJ-NP-Za-km-z]{22}$/.test(from)) return { from };
  throw invalidMember('The link is not valid.', '/from', 'must be the id of a part: 22 letters and digits');
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

interface AddressedMail {
  destination: Destination;
  language: string;
  /** Digest of the address. */
  place: Buffer;
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
  const mails: AddressedMail[] = [];
  for (const each of asked) {
    const address = 'from' in each ? await readAddressOfPart(tx, each.from) : each.address;
    const destination = mailDestination(address ?? '');
    if (destination)
      mails.push({ destination, language: each.language, place: messaging.addressOf(destination) });
  }
  // Addresses are locked one after the other, in the same order by every process.
  for (const mail of mails.toSorted((a, b) => Buffer.compare(a.place, b.place)))
    await sendLink(tx, messaging, mail);
  return taken.length;
}

async function sendLink(
  tx: Queries,
  messaging: Messaging,
  { destination, language }: AddressedMail,
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
