import { createHistory } from '../load/history.ts';
import type { Crowd } from '../load/load.ts';
import { createMeter, createSend, type Meter } from '../load/send.ts';
import type { Blow, Random } from '../random.ts';
import { nameOf, type Struck, strike } from '../run-chaos.ts';
import { waitUntil } from '../wait-until.ts';
import { createFederatedClient, type PeerLine } from './federated-client.ts';
import { startFederatedLoad } from './federated-load.ts';
import type { FederatedWorld } from './federated-world.ts';
import { findPeerBreaches } from './find-peer-breaches.ts';
import {
  countFinal,
  countHeld,
  countOpen,
  endCodes,
  hurry,
  hurryQuestions,
  readLeader,
  readOwner,
  type StoredAtLeader,
} from './stored-parts.ts';

export interface PeersOutcome {
  history: readonly PeerLine[];
  meter: Meter;
  struck: Struck[];
  parts: StoredAtLeader['parts'];
  /** None if all is well. */
  breaches: string[];
}

export interface PeersOptions {
  world: FederatedWorld;
  random: Random;
  crowd: Crowd;
  blows: Iterable<Blow>;
  /** How many parts are answered between two blows, at least and at most. */
  between: readonly [least: number, most: number];
  goOn?: () => boolean;
  historyFile?: string;
  /**
   * For how long a request may go unanswered, an instance that was struck, and in the end all parts together.
   */
  patienceMs?: number;
  /** For people who watch. */
  say?: (line: string) => void;
}

/**
 * Puts two peers under load, strikes them and what is between them, and looks whether both hold what was
 * promised.
 */
export async function runPeers(options: PeersOptions): Promise<PeersOutcome> {
  const { world, random, between, patienceMs = 60_000, goOn = () => true, say = () => {} } = options;
  const history = createHistory<PeerLine>(options.historyFile);
  const meter = createMeter();
  const send = createSend({ baseUrl: world.leader.baseUrl, meter });
  const client = createFederatedClient({ send, history, random, patienceMs, ...world });
  const load = startFederatedLoad(client, random, { mailbox: world.mailbox, ...options.crowd });
  const struck: Struck[] = [];
  const breaches: string[] = [];
  /** Waits for parts, as a longer time would. */
  const answered = async (count: number) => {
    const enough = (await countFinal(world)) + count;
    await waitUntil(`${count} more parts are answered`, async () => (await countFinal(world)) >= enough, {
      timeoutMs: patienceMs,
      everyMs: 100,
    });
  };
  try {
    for (const blow of options.blows) {
      if (!goOn()) break;
      await answered(random.between(...between));
      const from = Date.now();
      await strike(blow, random);
      struck.push({ blow, from, to: Date.now() });
      say(`${nameOf(blow)}: ${((Date.now() - from) / 1000).toFixed(1)} s`);
      await hurry(world, true);
    }
    await answered(random.between(...between));
  } catch (error) {
    breaches.push(`I9: after ${struck.length} blows: ${(error as Error).message}`);
  }
  await load.end();
  await history.close();
  await settle(world, patienceMs);
  const [leader, owner] = await Promise.all([readLeader(world), readOwner(world)]);
  const keys = { own: world.asked.own, theirs: world.asked.key };
  const misconduct = [world.leader, world.owner].flatMap((side) => side.process.misconduct());
  const forgotten = { leader: world.leader.forgotten, owner: world.owner.forgotten };
  const mails = world.mailbox.delivered();
  const lines = history.lines;
  breaches.push(...findPeerBreaches({ history: lines, leader, owner, mails, keys, misconduct, forgotten }));
  return { history: history.lines, meter, struck, parts: leader.parts, breaches };
}

/**
 * Waits until nothing is on its way any more. What still is when nothing has moved for so long is a breach.
 */
async function settle(world: FederatedWorld, patienceMs: number): Promise<void> {
  await endCodes(world);
  await hurry(world, true);
  // A leader that has forgotten a part decides nothing over it: its owner has to ask, after a minute.
  const wasRestored = [world.leader, world.owner].some(({ forgotten }) => forgotten.length > 0);
  const count = async () => (await countOpen(world)) + (wasRestored ? await countHeld(world) : 0);
  let fewest = await count();
  const isNothingOpen = async () => {
    await hurry(world, false);
    if (wasRestored) await hurryQuestions(world);
    fewest = Math.min(fewest, await count());
    return fewest === 0;
  };
  await waitUntil('nothing is on its way', isNothingOpen, {
    timeoutMs: patienceMs,
    everyMs: 250,
    progress: () => fewest,
  }).catch(() => {});
}
