import { setTimeout as wait } from 'node:timers/promises';
import { brokenPromises, findBreaches } from './check/find-breaches.ts';
import { createClient } from './load/client.ts';
import { createHistory, type History } from './load/history.ts';
import { type Crowd, startLoad } from './load/load.ts';
import { createMeter, createSend, type Meter } from './load/send.ts';
import type { Blow, Random } from './random.ts';
import { waitUntil } from './wait-until.ts';
import type { World } from './world/world.ts';

/** A blow that has been struck, from the strike until all was whole again (Date.now()). */
export interface Struck {
  blow: Blow;
  from: number;
  to: number;
}

export interface Outcome {
  history: History;
  meter: Meter;
  struck: Struck[];
  /** Replies of PostgreSQL that were swallowed. */
  lostReplies: number;
  /** None if all is well. */
  breaches: string[];
}

export interface ChaosOptions {
  world: World;
  random: Random;
  crowd: Crowd;
  blows: Iterable<Blow>;
  /** How many requests are answered between two blows, at least and at most. */
  between: readonly [least: number, most: number];
  /** Whether there is a next blow, by what has been done. */
  goOn?: (done: Pick<Outcome, 'struck' | 'history'>) => boolean;
  historyFile?: string;
  /** For how long a request may go unanswered, and an instance that was struck. */
  patienceMs?: number;
  /** For people who watch. */
  say?: (line: string) => void;
}

/** After a blow this many requests are answered before the next: the instance has recovered. */
const recoveredAfter = 5;

/** Puts a world under load, strikes it, and looks whether all that it promised is true. */
export async function runChaos(options: ChaosOptions): Promise<Outcome> {
  const {
    world,
    random,
    crowd,
    between,
    blows,
    patienceMs = 60_000,
    goOn = () => true,
    say = () => {},
  } = options;
  const history = createHistory(options.historyFile);
  const meter = createMeter();
  const send = createSend({ baseUrl: world.baseUrl, meter });
  const client = createClient({ send, history, random, headers: world.headers, patienceMs });
  const load = startLoad(client, random, { ...crowd, mailbox: world.mailbox });
  const struck: Struck[] = [];
  const breaches: string[] = [];
  const answered = (count: number) => {
    const before = meter.answered();
    return waitUntil(`${count} more requests are answered`, () => meter.answered() >= before + count, {
      timeoutMs: patienceMs,
      // On a slow machine it takes longer; what hangs answers nothing.
      progress: meter.answered,
    });
  };
  try {
    for (const blow of blows) {
      if (!goOn({ struck, history: history.lines })) break;
      await answered(random.between(...between));
      const from = Date.now();
      await strike(blow, random);
      struck.push({ blow, from, to: Date.now() });
      say(`${nameOf(blow)}: ${((Date.now() - from) / 1000).toFixed(1)} s`);
      await answered(recoveredAfter);
    }
    await answered(random.between(...between));
  } catch (error) {
    breaches.push(`I9: after ${struck.length} blows: ${describe(error)}`);
  }
  await load.end();
  await history.close();
  const gathered = await world.gather();
  const evidence = { history: history.lines, mails: world.mailbox.delivered(), ...gathered };
  breaches.push(...findBreaches(evidence), ...brokenPromises(struck, meter));
  return { history: history.lines, meter, struck, lostReplies: world.lostReplies(), breaches };
}

export const nameOf = (blow: Blow) => blow.map(({ name }) => name).join(' with ');

/** All at once; each lasts as long as it lasts. */
export async function strike(blow: Blow, random: Random): Promise<void> {
  await Promise.all(
    blow.map(async (fault) => {
      const heal = await fault.strike();
      await wait(random.between(...fault.lasts));
      await heal();
    }),
  );
}

function describe(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
