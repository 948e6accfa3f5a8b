import { setTimeout as wait } from 'node:timers/promises';
import type { HttpClient } from './http-client.ts';
import type { Organisation } from './peers-world.ts';
import { cpuSeconds } from './process-usage.ts';
import { type Questions, runFlow } from './run-flow.ts';
import { runPhase } from './run-phase.ts';
import type { BenchPostgres } from './start-postgres.ts';

/** Who shows the form, and who owns a question in it. */
export interface Pair {
  postgres: BenchPostgres;
  leader: Organisation;
  owner: Organisation;
}

/** How long parts took. */
export interface PartLatency {
  flows: number;
  /** Flows that were begun each second. */
  rate: number;
  /** Flows that were done each second. */
  reached: number;
  /**
   * Milliseconds from the click at the leader to the COMMIT of its owner, and to the answer of the leader.
   */
  delays: number[];
  answers: number[];
  /** Parts that were not there a minute after the last click. */
  missing: number;
}

const patienceMs = 60_000;

/** Begins flows at an even rate, whether earlier ones are done or not. */
export async function measureLatency(
  { postgres, leader, owner }: Pair,
  { questions, rate, seconds }: { questions: Questions; rate: number; seconds: number },
): Promise<PartLatency> {
  const sent = new Map<string, number>();
  const answers: number[] = [];
  const client = watchClicks(leader.client, {
    clicked: (id) => sent.set(id, Date.now()),
    answered: (id) => answers.push(Date.now() - (sent.get(id) ?? Number.NaN)),
  });
  const flows = Math.floor(rate * seconds);
  const started = performance.now();
  const walks: Promise<unknown>[] = [];
  for (let order = 0; order < flows; order += 1) {
    await wait(Math.max(0, started + (order / rate) * 1000 - performance.now()));
    const walk = runFlow(
      { client, key: leader.key, questions },
      { subject: `latency-${rate}-${order}`, order },
      () => {},
    );
    // One that fails before the last has begun is told of below.
    walk.catch(() => {});
    walks.push(walk);
  }
  await Promise.all(walks);
  const reached = flows / ((performance.now() - started) / 1000);
  await drained(postgres, leader, patienceMs);
  const commits = await readCommits(postgres, owner);
  const delays = [...sent].flatMap(([id, at]) => {
    const committed = commits.get(id);
    return committed === undefined ? [] : [committed - at];
  });
  return { flows, rate, reached, delays, answers, missing: sent.size - delays.length };
}

/**
 * CPU seconds of both processes for flows and all that follows from them, until nothing is queued any more.
 */
export async function measureCpu(
  { postgres, leader, owner }: Pair,
  load: { questions: Questions; flows: number; concurrency: number; firstOrder: number },
): Promise<{ leader: number; owner: number; flowsPerSecond: number }> {
  const before = [cpuSeconds(leader.pid()), cpuSeconds(owner.pid())] as const;
  const { key, client } = leader;
  const phase = await runPhase(
    { key, client, questions: load.questions, pids: [] },
    {
      ...load,
      subjectOf: (flow) => ({ subject: `cpu-${load.firstOrder + flow}`, order: load.firstOrder + flow }),
    },
  );
  await drained(postgres, leader, patienceMs);
  return {
    leader: cpuSeconds(leader.pid()) - before[0],
    owner: cpuSeconds(owner.pid()) - before[1],
    flowsPerSecond: phase.flows / phase.seconds,
  };
}

/**
 * Waits until the leader has nothing to send. @returns how long that took in milliseconds; undefined if it
 * took too long.
 */
export async function drained(
  postgres: BenchPostgres,
  leader: Organisation,
  mostMs: number,
): Promise<number | undefined> {
  const started = performance.now();
  for (;;) {
    const [row] = await postgres.run<{ rows: number }>(leader.name, countWaiting);
    const took = performance.now() - started;
    if (row?.rows === 0) return took;
    if (took > mostMs) return undefined;
    await wait(100);
  }
}

/**
 * Followers on their way: a part that was released and is not queued yet, or whose answer is not known yet,
 * counts.
 */
const countWaiting = `SELECT count(*)::int AS rows FROM transactions.sent_parts AS f WHERE f.state = 'SENDING'`;

/**
 * When PostgreSQL has committed each part, by the leader's transaction: `committed_at` says when that COMMIT
 * began.
 */
async function readCommits(postgres: BenchPostgres, owner: Organisation): Promise<Map<string, number>> {
  const rows = await postgres.run<{ id: string; at: number }>(
    owner.name,
    `SELECT t.leader->>'id' AS id, (extract(epoch FROM pg_xact_commit_timestamp(s.xmin)) * 1000)::float8 AS at
       FROM transactions.received_parts AS s JOIN transactions.transactions AS t ON t.id = s.transaction`,
  );
  return new Map(rows.map(({ id, at }) => [id, at]));
}

function watchClicks(
  client: HttpClient,
  tell: { clicked: (id: string) => void; answered: (id: string) => void },
): HttpClient {
  return {
    ...client,
    async post(path, headers, body) {
      const id = /^\/consents\/([^/?]+)\/submit/.exec(path)?.[1];
      if (!id) return client.post(path, headers, body);
      tell.clicked(id);
      const reply = await client.post(path, headers, body);
      tell.answered(id);
      return reply;
    },
  };
}
