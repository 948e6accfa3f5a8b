import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { GaveUpError } from '../load/client.ts';
import type { Crowd, Load } from '../load/load.ts';
import type { Random } from '../random.ts';
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
type Way = (client: FederatedClient, random: Random) => Promise<unknown>;

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

const ways: readonly Way[] = [
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
export function startFederatedLoad(client: FederatedClient, random: Random, { people, restMs }: Crowd): Load {
  let ending = false;
  const work = async () => {
    while (!ending) {
      await random
        .pick(ways)(client, random)
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
