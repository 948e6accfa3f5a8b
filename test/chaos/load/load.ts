import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { type Client, GaveUpError } from './client.ts';
import { ways } from './ways.ts';

/** Callers and subjects at work. */
export interface Load {
  /** Lets everybody finish what they have begun, and begin nothing more. */
  end(): Promise<void>;
}

/** How many people there are, and how long each of them rests between two transactions, at most, in ms. */
export interface Crowd {
  people: number;
  restMs: number;
}

/** Starts people who go through transactions, one after the other, in all ways that there are. */
export function startLoad(client: Client, random: Random, { people, restMs }: Crowd): Load {
  let ending = false;
  const work = async () => {
    while (!ending) {
      await random.pick(ways)(client, random).catch(onlyIfGivenUp);
      if (restMs > 0) await wait(random.between(0, restMs));
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

/** The history tells why; the next transaction is another one. */
function onlyIfGivenUp(error: unknown): void {
  if (!(error instanceof GaveUpError)) throw error;
}
