import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { inTurn } from './peers-forms.ts';
import type { Pair } from './peers-latency.ts';
import { at, type Organisation, watchParts } from './peers-world.ts';
import { cpuSeconds, residentMegabytes, watchStolen } from './process-usage.ts';
import { rest } from './rest.ts';

/** What became of parts that waited for a peer that was away. */
export interface Backlog {
  parts: number;
  /** How long the peer was away. */
  awaySeconds: number;
  /**
   * From the moment in which the peer is ready to the first part that is done, and to the last; the last is
   * undefined if it took too long.
   */
  firstSeconds: number;
  lastSeconds: number | undefined;
  /** Under way at the same moment, at most. */
  most: number;
  /** Of the leader, in MB: before there was a backlog, when it was whole, and at most while it drained. */
  memory: { before: number; whole: number; most: number };
  /** CPU milliseconds of each process for a part, while it drained. */
  cpuMs: { leader: number; owner: number };
  /** Stored at the owner in the end. */
  stored: number;
  /** While it drained, see {@link watchStolen}. */
  stolen: number | undefined;
}

const sampleMs = 200;
const patienceMs = 300_000;

/**
 * Lets parts queue up while their owner is away, then lets it come back behind something that counts what is
 * under way.
 */
export async function measureBacklog(
  pair: Pair,
  { parts, concurrency }: { parts: number; concurrency: number },
): Promise<Backlog> {
  const { leader, owner } = pair;
  const before = residentMegabytes(leader.pid());
  const storedBefore = await countStored(pair);
  await owner.stop();
  const left = performance.now();
  await answerAll(leader, owner, { parts, concurrency });
  await until(async () => (await countQueued(pair)) === parts);
  const whole = residentMegabytes(leader.pid());
  await rest();
  const target = await freePort();
  const watch = await watchParts({ port: owner.port, target });
  await owner.start(target);
  try {
    const awaySeconds = (performance.now() - left) / 1000;
    const stolen = watchStolen();
    const drain = await watchDrain(pair, parts);
    const stored = (await countStored(pair)) - storedBefore;
    const { mostMemory, ...times } = drain;
    return {
      parts,
      awaySeconds,
      ...times,
      most: watch.most(),
      stolen: stolen(),
      memory: { before, whole, most: mostMemory },
      stored,
    };
  } finally {
    await watch.stop();
  }
}

/**
 * One question of the leader's and one of its peer's, recorded in one step: that is the quickest way to
 * parts.
 */
async function answerAll(
  { client, key, questions }: Organisation,
  owner: Organisation,
  { parts, concurrency }: { parts: number; concurrency: number },
): Promise<void> {
  const [own, theirs] = [questions[0] as string, at(owner, owner.questions[1])];
  const values = Object.fromEntries(
    [own, theirs].map((question) => [`element/processing/${question}/1.0`, ['accepted']]),
  );
  const subjects = Array.from({ length: parts }, (_, index) => `backlog-${index}`);
  await inTurn(subjects, concurrency, async (subject) => {
    const context = { subject, layoutData: { info: 'information.001', elements: [own, theirs] } };
    const { status, body } = await client.post(
      '/consents/singlestep',
      { CM_KEY: key, 'Content-Type': 'application/json' },
      JSON.stringify({ context, values }),
    );
    if (status !== 201) throw new Error(`single step: ${status} ${body.slice(0, 300)}`);
  });
}

async function watchDrain(pair: Pair, parts: number) {
  const { leader, owner } = pair;
  const started = performance.now();
  const cpu = [cpuSeconds(leader.pid()), cpuSeconds(owner.pid())] as const;
  const seconds = () => (performance.now() - started) / 1000;
  let firstSeconds = Number.NaN;
  let mostMemory = 0;
  let queued = parts;
  while (queued > 0 && seconds() * 1000 < patienceMs) {
    await wait(sampleMs);
    queued = await countQueued(pair);
    if (queued < parts && Number.isNaN(firstSeconds)) firstSeconds = seconds();
    mostMemory = Math.max(mostMemory, residentMegabytes(leader.pid()));
  }
  const cost = (index: 0 | 1, { pid }: Organisation) =>
    ((cpuSeconds(pid()) - cpu[index]) * 1000) / (parts - queued);
  return {
    firstSeconds,
    lastSeconds: queued === 0 ? seconds() : undefined,
    mostMemory,
    cpuMs: { leader: cost(0, leader), owner: cost(1, owner) },
  };
}

async function countQueued({ postgres, leader }: Pair): Promise<number> {
  return count(await postgres.run(leader.name, 'SELECT count(*)::int AS rows FROM peers.deliveries'));
}

async function countStored({ postgres, owner }: Pair): Promise<number> {
  return count(
    await postgres.run(owner.name, 'SELECT count(*)::int AS rows FROM transactions.received_parts'),
  );
}

function count([row]: readonly { rows?: number }[]): number {
  return row?.rows ?? 0;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await isSo())) {
    if (performance.now() - started > patienceMs) throw new Error('The parts are not queued.');
    await wait(sampleMs);
  }
}
