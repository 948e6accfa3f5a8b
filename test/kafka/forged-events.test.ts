import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readTopics } from '#lib/events/kafka/topics.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import {
  type DistributedInstance,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { complete, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import {
  type EndpointCall,
  startEndpoint,
  subscribe,
  type WebhookEndpoint,
} from '../support/instances/webhook-endpoint.ts';
import { type LoopbackServer, startLoopbackServer } from '../support/network/loopback-server.ts';
import { until } from '../support/run/until.ts';
import { brokers, writeRaw } from '../support/stores/kafka.ts';

const topics = readTopics(new URL('../../asyncapi.yaml', import.meta.url)).map(({ topic }) => topic);
type Raw = Parameters<typeof writeRaw>[1][number];

describe.runIf(brokers)('services whose topics an attacker writes to', () => {
  let instance: DistributedInstance;
  let shop: Caller;
  let endpoint: WebhookEndpoint;
  let trap: LoopbackServer;
  beforeAll(async () => {
    const environment = { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' };
    instance = await startDistributedInstance({
      kafkaBrokers: brokers as string,
      replicas: 1,
      environmentOf: { webhooks: environment, peers: environment },
    });
    shop = await createKey(instance);
    trap = await startLoopbackServer((_, response) => response.end());
  }, 120_000);
  beforeEach(async () => {
    endpoint = await startEndpoint();
    await subscribe(shop, endpoint.url, ['consent.created', 'consent.committed']);
  });
  afterAll(async () => {
    await instance?.stop();
    await trap?.close();
  });

  /** A message of the right form, of which parts may be replaced. */
  function message(type: string, data: unknown, headers: Record<string, string> = {}): Raw {
    const subject = randomId();
    return {
      key: subject,
      value: JSON.stringify(data),
      headers: {
        ce_specversion: '1.0',
        ce_id: randomUUID(),
        ce_type: type,
        ce_source: instance.url,
        ce_subject: subject,
        ce_time: new Date().toISOString(),
        'content-type': 'application/json',
        ...headers,
      },
    };
  }

  const consent = (transaction: string) => ({ transaction, state: 'COMMITTED', version: 2 });
  const committed = 'io.accord.consent.committed.v1';
  const toldOf = (id: string) => endpoint.calls.filter((call) => subjectIn(call) === id).length;
  const subjectIn = ({ body }: EndpointCall) => (JSON.parse(body) as { subject: string }).subject;

  /** All that was written before has been read when what is written now has had its effect. */
  async function commitOne(): Promise<string> {
    const made = await createTransaction(shop);
    expect((await transactionIn(subjectOf(instance, made).submit(complete))).state).toBe('COMMITTED');
    await until(() => expect(toldOf(made.id)).toBe(2));
    return made.id;
  }

  it('store invalid events as dead letters and continue', async () => {
    const fine = consent(randomId());
    const broken: Raw[] = [
      { key: 'x', value: null },
      { key: 'x', value: '' },
      { key: 'x', value: '{"__proto__":{"state":"COMMITTED"}}' },
      { key: 'x', value: 'x'.repeat(900_000), headers: { ce_specversion: '1.0', ce_type: committed } },
      { ...message(committed, fine), value: '{' },
      { ...message(committed, fine), value: `${'['.repeat(20_000)}${']'.repeat(20_000)}` },
      message(committed, null),
      message(committed, []),
      message(committed, { ...fine, version: 'two' }),
      message(committed, { ...fine, version: Number.MAX_VALUE }),
      message(committed, fine, { ce_specversion: '2.0' }),
      message(committed, fine, { ce_id: 'not-a-uuid' }),
      message(committed, fine, { ce_time: 'yesterday' }),
      message(committed, fine, { ce_source: 'not an address' }),
      message(committed, fine, { ce_subject: 'x'.repeat(5_000) }),
      message('io.accord.consent.committed.v9', fine),
      message('io.accord.__proto__.constructor.v1', fine),
      message("io.accord.consent.committed.v1'; DROP TABLE x; --", fine),
    ];
    for (const topic of topics) await writeRaw(topic, broken);
    await commitOne();
    const schemas = ['transactions', 'peers', 'webhooks'];
    for (const schema of schemas) {
      const kept = () =>
        rowsOf<{ letter: string }>(instance, `SELECT d::text AS letter FROM ${schema}.dead_letters AS d`);
      await until(async () => expect((await kept()).length).toBeGreaterThanOrEqual(broken.length));
      // Ids and a reason, never content.
      for (const { letter } of await kept()) expect(letter).not.toMatch(/DROP TABLE|xxxx|\[\[/);
    }
    for (const { internalUrl } of instance.replicas)
      expect((await fetch(`${internalUrl}/livez`)).status).toBe(200);
  });

  it('change no transaction and no record by what an event says of them: PostgreSQL decides', async () => {
    const open = await createTransaction(shop);
    const unknown = randomId();
    await writeRaw('accord.consents', [
      message(committed, consent(open.id)),
      message(committed, consent(unknown)),
    ]);
    const answer = {
      submission: randomId(),
      peer: `http://127.0.0.1:${trap.port}`,
      about: 'part',
      verdict: 'done',
      id: randomId(),
    };
    await writeRaw('accord.peer-outcomes', [
      message('io.accord.submission.answered.v1', answer),
      message('io.accord.submission.answered.v1', { ...answer, submission: open.id, verdict: 'refused' }),
    ]);
    await commitOne();
    expect((await transactionIn(shop.get(`/consents/${open.id}`))).state).toBe('CREATED');
    expect((await shop.get(`/consents/${unknown}`)).status).toBe(404);
    await until(async () => {
      const noted = await rowsOf(
        instance,
        "SELECT 1 FROM transactions.inbox WHERE consumer = 'transactions'",
      );
      expect(noted.length).toBeGreaterThanOrEqual(2);
    });
  });

  it('send nothing to an address that an event names, unless it is that of a peer', async () => {
    const peer = `http://127.0.0.1:${trap.port}`;
    const sids = [randomId(), randomId(), randomId()];
    await writeRaw('accord.peer-submissions', [
      message('io.accord.submission.released.v1', { submission: sids[0], peer }),
      message('io.accord.submission.decided.v1', { submission: sids[1], peer, decision: 'commit' }),
      message(
        'io.accord.submission.held.v1',
        { submission: sids[2], peer },
        { ce_time: '2020-01-01T00:00:00Z' },
      ),
    ]);
    await until(async () => {
      const noted = await rowsOf(instance, "SELECT 1 FROM peers.inbox WHERE consumer = 'peers'");
      expect(noted.length).toBeGreaterThanOrEqual(3);
    });
    await commitOne();
    expect(trap.connections()).toBe(0);
  });

  it('forget no key and trust no key by what an event says of it', async () => {
    const key = { key: randomUUID(), name: 'shop', scope: 'OWNER', version: 2 };
    await writeRaw('accord.keys', [
      message('io.accord.key.revoked.v1', key),
      message('io.accord.key.created.v1', { ...key, key: 'x' }),
    ]);
    await commitOne();
    expect((await shop.get('/transactions')).status).toBe(200);
    const wrong = await instance.fetch('/transactions', { headers: { CM_KEY: `acc_${key.key}_x` } });
    expect(wrong.status).toBe(401);
  });

  it('tell webhooks of no event twice and of none that is old, and say whose each is', async () => {
    const [repeated, old, foreign] = [randomId(), randomId(), randomId()];
    const again = message(committed, consent(repeated), { ce_subject: repeated });
    await writeRaw('accord.consents', [again, again, again]);
    await writeRaw('accord.consents', [
      message(committed, consent(old), { ce_subject: old, ce_time: '2020-01-01T00:00:00Z' }),
      message(committed, consent(foreign), { ce_subject: foreign, ce_source: 'https://other.example' }),
    ]);
    await until(() => expect([toldOf(repeated), toldOf(foreign)]).toEqual([1, 1]));
    await commitOne();
    expect([toldOf(repeated), toldOf(old), toldOf(foreign)]).toEqual([1, 0, 1]);
    const operator = await signIn(instance, 'operator');
    expect((await operator.get(`/consents/${foreign}`)).status, 'what a receiver finds when it reads').toBe(
      404,
    );
  });
});
