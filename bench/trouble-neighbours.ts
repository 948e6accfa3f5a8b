import { setTimeout as wait } from 'node:timers/promises';
import { at, type Organisation } from './peers-world.ts';
import { cpuSeconds } from './process-usage.ts';
import { FlowEnded, fillIn, type Questions, runFlow } from './run-flow.ts';
import type { BenchPostgres } from './start-postgres.ts';

/** A leader, a peer that is well, and one that is not. */
export interface Square {
  postgres: BenchPostgres;
  leader: Organisation;
  well: Organisation;
  ill: Organisation;
}

/** How everybody fares but the peer in trouble. Milliseconds. */
export interface Neighbours {
  /**
   * Submits of forms with the leader's questions alone, and of those with a question of the peer that is
   * well.
   */
  own: number[];
  shared: number[];
  /** From the click to the COMMIT at the peer that is well. */
  delays: number[];
  /**
   * Flows that were not answered as they should be, and parts that were not there a minute after the last
   * click.
   */
  failed: number;
  missing: number;
  /** CPU milliseconds of the leader for each flow begun. */
  cpuMs: number;
  /**
   * What the leader holds for the peer in trouble in the end, and how much of it has been taken to be sent.
   */
  queued: number;
}

const patienceMs = 60_000;

/**
 * Begins flows at an even rate, of three kinds in turn: the leader's own questions, one of the peer that is
 * well, and one of the peer in trouble. @param isAsked if not, the third kind is like the first: then nobody
 * has to do with the peer in trouble.
 */
export async function measureNeighbours(
  square: Square,
  { name, isAsked, rate, seconds }: { name: string; isAsked: boolean; rate: number; seconds: number },
): Promise<Neighbours> {
  const { postgres, leader, well, ill } = square;
  await forgetTrouble(square);
  const own = ask(leader.questions.slice(0, 2));
  const shared = ask([leader.questions[0] as string, at(well, well.questions[1])]);
  const troubled = isAsked ? ask([leader.questions[0] as string, at(ill, ill.questions[1])]) : own;
  const kinds = [own, shared, troubled] as const;
  const took = { own: [] as number[], shared: [] as number[] };
  const clicks = new Map<string, number>();
  let failed = 0;
  const begin = async (order: number) => {
    const questions = kinds[order % kinds.length] as Questions;
    const subject = `${name}-${order}`;
    await runFlow({ client: leader.client, key: leader.key, questions }, { subject, order }, (step, ms) => {
      if (step !== 'submit') return;
      if (order % kinds.length === 0) took.own.push(ms);
      if (order % kinds.length !== 1) return;
      took.shared.push(ms);
      clicks.set(subject, Date.now() - ms);
    }).catch((error: unknown) => {
      if (!(error instanceof FlowEnded)) throw error;
      process.stderr.write(`${name}: ${error.message.slice(0, 120)}\n`);
      failed += 1;
    });
  };
  const cpuBefore = cpuSeconds(leader.pid());
  const started = performance.now();
  const walks: Promise<void>[] = [];
  for (let order = 0; order < rate * seconds; order += 1) {
    await wait(Math.max(0, started + (order / rate) * 1000 - performance.now()));
    walks.push(begin(order));
  }
  await Promise.all(walks);
  const cpuMs = ((cpuSeconds(leader.pid()) - cpuBefore) * 1000) / walks.length;
  const [held] = await postgres.run<{ queued: number }>(
    leader.name,
    `SELECT count(*)::int AS queued FROM peers.deliveries WHERE peer_url = $1`,
    [ill.url],
  );
  const delays = await readDelays(square, clicks);
  return {
    ...took,
    delays,
    failed,
    cpuMs,
    missing: clicks.size - delays.length,
    queued: held?.queued ?? 0,
  };
}

/** What waits for the peer in trouble is gone, and how it fared is forgotten: each phase begins alike. */
async function forgetTrouble({ postgres, leader, ill }: Square): Promise<void> {
  await postgres.run(leader.name, 'DELETE FROM peers.deliveries WHERE peer_url = $1', [ill.url]);
  await until(async () => {
    const busy = await postgres.run(
      leader.name,
      'SELECT FROM peers.queues WHERE peer_url = $1 AND lease_until > now()',
      [ill.url],
    );
    return busy.length === 0;
  });
  await postgres.run(
    leader.name,
    'UPDATE peers.queues SET failures = 0, next_at = now() WHERE peer_url = $1',
    [ill.url],
  );
}

/** PostgreSQL says when it has committed each part at the peer that is well. */
async function readDelays(
  { postgres, well }: Square,
  clicks: ReadonlyMap<string, number>,
): Promise<number[]> {
  const subjects = [...clicks.keys()];
  const commits = () =>
    postgres.run<{ subject: string; at: number }>(
      well.name,
      `SELECT t.subject, (extract(epoch FROM pg_xact_commit_timestamp(s.xmin)) * 1000)::float8 AS at
         FROM transactions.received_parts AS s JOIN transactions.transactions AS t ON t.id = s.transaction WHERE t.subject = ANY($1)`,
      [subjects],
    );
  await until(async () => (await commits()).length === subjects.length);
  return (await commits()).map(
    ({ subject, at: committed }) => committed - (clicks.get(subject) ?? Number.NaN),
  );
}

function ask(elements: readonly string[]): Questions {
  return {
    layout: { layoutData: { info: 'information.001', elements } },
    filledIn: fillIn(
      Object.fromEntries(elements.map((element) => [`element/processing/${element}/1.0`, 'accepted'])),
    ),
  };
}

/** Waits, but not for ever: what is missing then is told. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await isSo()) && performance.now() - started < patienceMs) await wait(100);
}
