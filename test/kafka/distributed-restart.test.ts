import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, signIn } from '../support/instances/callers.ts';
import {
  type DistributedInstance,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { complete, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { brokers } from '../support/stores/kafka.ts';

const workers = 4;
/**
 * Between two consents of one of them: starts, of which there are ten, take as long as the load lets them.
 */
const restMs = 1_000;

describe.runIf(brokers)('two replicas of every service', () => {
  let instance: DistributedInstance;
  let operator: Caller;
  beforeAll(async () => {
    instance = await startDistributedInstance({
      kafkaBrokers: brokers as string,
      environment: { STOP_DELAY: '1' },
    });
    operator = await signIn(instance, 'operator');
  }, 120_000);
  afterAll(() => instance?.stop());

  it('are restarted one after the other under load, and no request fails', async () => {
    const load = startLoad();
    const codes = [];
    for (const replica of instance.replicas) {
      codes.push(await replica.restart());
      await instance.router.seen(instance.replicas.length);
    }
    const { submitted, faults } = await load.end();
    expect(faults, errorsIn(instance.logs())).toEqual([]);
    expect(codes).toEqual(instance.replicas.map(() => 0));
    expect(submitted.length).toBeGreaterThan(workers);
    const rows = await rowsOf(
      instance,
      `SELECT t.id FROM transactions.transactions AS t JOIN transactions.receipts AS r ON r.transaction = t.id
        WHERE t.state = 'COMMITTED' AND t.id = ANY($1)`,
      [submitted],
    );
    expect(rows.length).toBe(submitted.length);
  }, 240_000);

  const errorsIn = (logs: string) =>
    logs
      .split('\n')
      .filter((line) => /"level":"(warn|error)"|"status":5/.test(line))
      .join('\n');

  /** Consents on their whole way, until it is told to end. */
  function startLoad() {
    let ending = false;
    const submitted: string[] = [];
    const faults: string[] = [];
    async function work(): Promise<void> {
      while (!ending) {
        const failed = (error: unknown) => faults.push(String(error));
        await takeConsent().then((id) => submitted.push(id), failed);
        await wait(restMs);
      }
    }
    const running = Array.from({ length: workers }, work);
    return {
      async end() {
        ending = true;
        await Promise.all(running);
        return { submitted, faults };
      },
    };
  }

  async function takeConsent(): Promise<string> {
    const made = await createTransaction(operator);
    const subject = subjectOf(instance, made);
    const steps = {
      page: await subject.get('/submit', 'text/html'),
      submit: await subject.submit(complete),
      final: await subject.get('', 'text/html'),
      receipt: await operator.get(`/receipts/${made.id}`),
    };
    for (const [step, response] of Object.entries(steps))
      if (response.status !== 200) throw new Error(`${step}: ${response.status} ${await response.text()}`);
    return made.id;
  }
});
