import { setTimeout as wait } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import type { HttpClient } from './http-client.ts';
import { cpuSeconds } from './process-usage.ts';
import { runFlow, type Target } from './run-flow.ts';

/** What became of the commits of one phase. */
export interface EventLatency {
  flows: number;
  flowsPerSecond: number;
  /** Of the server's processes. */
  cpuSeconds: number;
  /**
   * Milliseconds from the answer to the submit at the client to the event at a consumer; 0 if the event was
   * first.
   */
  delays: number[];
  /** Commits whose event had not come ten seconds after the last. */
  missing: number;
}

const topic = 'accord.consents';
const patienceMs = 10_000;

/**
 * Begins flows at an even rate, whether earlier ones are done or not, while a consumer in this process reads
 * the topic; both sides go by one clock.
 */
export async function measureEventLatency(
  { client, key, pids }: Target & { pids: readonly number[] },
  { brokers, rate, seconds, firstOrder }: Load,
): Promise<EventLatency> {
  const answered = new Map<string, number>();
  const arrived = new Map<string, number>();
  const consumer = await readCommits(brokers, (id) => arrived.set(id, performance.now()));
  const watched = { key, client: watchSubmits(client, (id) => answered.set(id, performance.now())) };
  try {
    const flows = Math.floor(rate * seconds);
    const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    const [started, usedBefore] = [performance.now(), used()];
    const walks: Promise<unknown>[] = [];
    for (let flow = 0; flow < flows; flow += 1) {
      await wait(Math.max(0, started + (flow / rate) * 1000 - performance.now()));
      walks.push(
        runFlow(watched, { subject: `event-${firstOrder + flow}`, order: firstOrder + flow }, () => {}),
      );
    }
    await Promise.all(walks);
    const [took, cpu] = [(performance.now() - started) / 1000, used() - usedBefore];
    const missing = () => [...answered.keys()].filter((id) => !arrived.has(id)).length;
    for (let waited = 0; missing() > 0 && waited < patienceMs; waited += 100) await wait(100);
    const delays = [...answered].flatMap(([id, at]) => {
      const came = arrived.get(id);
      return came === undefined ? [] : [Math.max(0, came - at)];
    });
    return { flows, flowsPerSecond: flows / took, cpuSeconds: cpu, delays, missing: missing() };
  } finally {
    await consumer.stop();
  }
}

interface Load {
  brokers: readonly string[];
  /** Flows that begin each second. */
  rate: number;
  seconds: number;
  firstOrder: number;
}

/** Resolves when it has joined: from then on nothing is missed. */
async function readCommits(brokers: readonly string[], tell: (id: string) => void) {
  const kafka = new Kafka({ brokers: [...brokers], clientId: 'bench', logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `bench-${crypto.randomUUID()}`, maxWaitTimeInMs: 500 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: false });
  const joined = Promise.withResolvers<void>();
  const off = consumer.on(consumer.events.FETCH, () => joined.resolve());
  await consumer.run({
    eachMessage: async ({ message: { headers = {} } }) => {
      if (headers.ce_type?.toString() === 'io.accord.consent.committed.v1')
        tell(headers.ce_subject?.toString() ?? '');
    },
  });
  await joined.promise;
  off();
  return { stop: () => consumer.disconnect() };
}

/** Tells the transaction of each submit as soon as it is answered. */
function watchSubmits(client: HttpClient, tell: (id: string) => void): HttpClient {
  return {
    ...client,
    async post(path, headers, body) {
      const reply = await client.post(path, headers, body);
      const id = /^\/consents\/([^/?]+)\/submit/.exec(path)?.[1];
      if (id && reply.status === 303) tell(id);
      return reply;
    },
  };
}
