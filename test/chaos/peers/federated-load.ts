import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { GaveUpError } from '../load/client.ts';
import type { Crowd, Load } from '../load/load.ts';
import type { Random } from '../random.ts';
import type { Mailbox } from '../world/mailbox.ts';
import type { FederatedClient, Given } from './federated-client.ts';

/** What the names of all subjects begin with. */
export const subjectPrefix = 'peers-chaos-';
/** What every answer to the owner begins with: it is never in anything that the leader keeps. */
export const mark = 'for-the-owner-alone-';

const newSubject = () => `${subjectPrefix}${randomUUID()}`;
const draw = ({ pick }: Random): Given => ({
  own: pick(['accepted', 'refused']),
  theirs: `${mark}${randomUUID()}`,
});

/** A way through a transaction. */
type Way = (client: FederatedClient, random: Random, mailbox: Mailbox) => Promise<unknown>;

const independently: Way = async (client, random) => {
  await client.submit(await client.create(newSubject(), 'independent'), draw(random));
};

const together: Way = async (client, random) => {
  await client.submit(await client.create(newSubject(), 'together'), draw(random));
};

/** The same answers twice at once: they are one submission. */
const twice: Way = async (client, random) => {
  const known = await client.create(newSubject(), random.pick(['independent', 'together']));
  const given = draw(random);
  await Promise.all([client.submit(known, given), client.submit(known, given)]);
};

/** Somebody takes it back, while the owner may have it, or not yet, or not know what to do with it. */
const regret: Way = async (client, random) => {
  const known = await client.create(newSubject(), 'together');
  await client.submit(known, draw(random));
  await wait(random.pick([0, 0, 5, 20]));
  await client.cancel(known);
};

const compete: Way = async (client, random) => {
  const known = await client.create(newSubject(), 'together');
  await Promise.all([client.submit(known, draw(random)), client.cancel(known)]);
};

/** How long a person waits for a mail; its server may be away. */
const mailPatienceMs = 5_000;

/** Answers with a code. A person who gets none, or loses interest, leaves: the time for the code runs out. */
const withCode: Way = async (client, random, mailbox) => {
  const subject = newSubject();
  const confirmation = random.pick(['FORM_CODE', 'EMAIL_CODE'] as const);
  const emailAddress = `${subject}@example.org`;
  const isNotified = random.pick([true, false]);
  const mode = random.pick(['independent', 'together'] as const);
  const known = await client.create(subject, mode, { confirmation, emailAddress, isNotified });
  const given = draw(random);
  if ((await client.submitForCode(known, given)) !== 'acknowledged') return;
  const code =
    confirmation === 'FORM_CODE'
      ? await client.shownCode(known)
      : await mailbox.waitForCode(emailAddress, mailPatienceMs);
  if (code === undefined || random.pick([true, false, false, false])) return;
  await client.confirm(known, code, given);
};

const ways: readonly Way[] = [
  withCode,
  withCode,
  withCode,
  independently,
  independently,
  together,
  together,
  twice,
  regret,
  regret,
  compete,
];

/** Starts people who go through transactions, one after the other, in all ways that there are. */
export function startFederatedLoad(
  client: FederatedClient,
  random: Random,
  { mailbox, people, restMs }: Crowd & { mailbox: Mailbox },
): Load {
  let ending = false;
  const work = async () => {
    while (!ending) {
      await random
        .pick(ways)(client, random, mailbox)
        .catch((error: unknown) => {
          // The history tells why; the next transaction is another one.
          if (!(error instanceof GaveUpError)) throw error;
        });
      await wait(random.between(0, restMs));
    }
  };
  const working = Promise.all(Array.from({ length: people }, work));
  working.catch(() => {}); // Told at the end.
  return {
    async end() {
      ending = true;
      await working;
    },
  };
}
