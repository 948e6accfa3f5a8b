import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { callerWith, type Reachable, signIn } from '../../support/instances/callers.ts';
import { rowsOf, runInDatabase } from '../../support/instances/live-database.ts';
import { tablesWith } from '../../support/instances/tables-with.ts';
import { createTestDatabase } from '../../support/stores/postgres.ts';
import { findFault } from '../faults/fault.ts';
import { createRandom } from '../random.ts';
import { strike } from '../run-chaos.ts';
import { waitUntil } from '../wait-until.ts';
import { type FederatedWorld, startFederatedWorld } from './federated-world.ts';
import { hurry } from './stored-parts.ts';

/** People whose consents are withdrawn or erased; `RIGHTS_KILLED=1000` is a longer run. */
const people = Number(process.env.RIGHTS_KILLED ?? 12);
const atOnce = 6;
const seed = Number(process.env.CHAOS_SEED ?? 11);
const blows = ['kill -9 of leader', 'kill -9 of owner'];

interface Person {
  subject: string;
  id: string;
  token: string;
}

const reach = (url: string): Reachable => ({ url, fetch: (path, init) => fetch(`${url}${path}`, init) });

/** Sends a request until it has one of these statuses; a process that is killed answers nothing. */
async function insist(send: () => Promise<Response>, expected: readonly number[]): Promise<unknown> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const response = await send().catch(() => undefined);
    const body = await response?.json().catch(() => undefined);
    if (response && expected.includes(response.status) && body) return body;
    if (response && response.status < 500)
      throw new Error(`${response.url} was answered ${response.status} ${JSON.stringify(body)}`);
    if (Date.now() > deadline) throw new Error('nobody answers');
  }
}

/** The owner shares a question that can be withdrawn, and follows the leader's erasures. */
async function prepareOwner({ leader, owner }: FederatedWorld): Promise<string> {
  const admin = await signIn(reach(owner.baseUrl), 'admin');
  const { id, name } = (await (await admin.get('/models/serials/processing.002')).json()) as {
    id: string;
    name: string;
  };
  expect((await admin.send('PUT', `/models/${id}`, { name, shared: true })).status).toBe(200);
  const [peer] = (await (await admin.get('/peers')).json()) as { id: string }[];
  expect((await admin.send('PUT', `/peers/${peer?.id}`, { erasure: 'FOLLOW' })).status).toBe(200);
  const theirs = `processing.002@${new URL(owner.baseUrl).host}`;
  const operator = await signIn(reach(leader.baseUrl), 'operator');
  await waitUntil('the leader knows the question', async () => {
    const layoutData = { elements: ['processing.001', theirs] };
    return (await operator.send('POST', '/consents', { subject: 'nobody', layoutData })).status === 201;
  });
  return theirs;
}

it('kill -9 of two peers loses no withdrawal and no erasure, carries none out twice, and leaves none half done', async () => {
  const random = createRandom(seed);
  const databases = [await createTestDatabase(), await createTestDatabase()] as const;
  onTestFinished(async () => {
    for (const database of databases) await database.drop();
  });
  const world = await startFederatedWorld({ random, databaseUrls: [databases[0].url, databases[1].url] });
  onTestFinished(world.stop);
  const { leader, owner } = world;
  const theirs = await prepareOwner(world);
  const shop = callerWith(reach(leader.baseUrl), world.headers);
  const admin = await signIn(reach(leader.baseUrl), 'admin');
  const prefix = `rights-${randomUUID()}`;

  const consent = async (number: number): Promise<Person> => {
    const subject = `${prefix}-${number}x`;
    const context = {
      subject,
      peerCommit: random.pick(['independent', 'together']),
      layoutData: { elements: ['processing.001', theirs] },
    };
    const made = (await insist(() => shop.send('POST', '/consents', context), [200, 201])) as Person;
    const answers = {
      'element/processing/processing.001/1.0': ['accepted'],
      [`element/processing/${theirs}/1.0`]: ['accepted'],
    };
    const path = `/consents/${made.id}/submit?t=${made.token}`;
    await insist(() => shop.send('POST', path, answers), [200]);
    return { ...made, subject };
  };
  /** Of `together` answers it ends nothing before they are in force. */
  const inForce = ({ id }: Person) =>
    waitUntil(
      'the answers are in force',
      async () => {
        const read = (await insist(() => shop.get(`/consents/${id}`), [200])) as { state: string };
        return read.state === 'COMMITTED';
      },
      { everyMs: 200 },
    );
  const withdraw = ({ id }: Person) =>
    insist(() => shop.send('POST', `/consents/${id}/withdraw`), [200, 201]);
  const erase = ({ subject }: Person) =>
    insist(() => admin.send('POST', `/subjects/${subject}/erasure`), [202, 404]);

  const withdrawn: Person[] = [];
  const erased: Person[] = [];
  const numbers = Array.from({ length: people }, (_, index) => index);
  const live = async (number: number) => {
    const person = await consent(number);
    await inForce(person);
    const [act, those] = number % 2 === 0 ? [withdraw, withdrawn] : [erase, erased];
    await act(person);
    those.push(person);
  };
  const working = Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = numbers.shift(); next !== undefined; next = numbers.shift()) await live(next);
    }),
  );
  for (const [index, name] of blows.entries()) {
    const reached = ((index + 1) * people) / (blows.length + 1);
    await waitUntil('enough people have acted', () => withdrawn.length + erased.length >= reached);
    await strike([findFault(world.faults, name)], random);
    await hurry(world, true);
  }
  await working;

  const at = (side: FederatedWorld['leader']) => ({ databaseUrl: side.databaseUrl });
  await vi.waitFor(
    async () => {
      await hurry(world, false);
      // The owner is asked again whether it has finished.
      await runInDatabase(
        at(leader),
        "UPDATE transactions.notices SET due_at = due_at - interval '25 hours' WHERE state = 'DELIVERED'",
      );
      const told = await rowsOf(at(leader), `SELECT state FROM transactions.notices WHERE kind = 'PEER'`);
      expect(told).toEqual(Array.from({ length: people }, () => ({ state: 'ACKNOWLEDGED' })));
    },
    { timeout: 120_000, interval: 500 },
  );
  const newest = await rowsOf<{ subject: string; values: string[] }>(
    at(owner),
    `SELECT r.subject, array_agg(r.value[1] ORDER BY r.committed_at) AS values FROM transactions.records AS r
      WHERE r.state = 'COMMITTED' AND starts_with(r.subject, $1) GROUP BY r.subject`,
    [prefix],
  );
  expect(new Map(newest.map(({ subject, values }) => [subject, values]))).toEqual(
    new Map(withdrawn.map(({ subject }) => [subject, ['accepted', 'refused']])),
  );
  for (const side of [leader, owner])
    for (const { subject } of erased)
      expect(await tablesWith(at(side), subject), 'a trace of an erased person').toEqual([]);
  const withdrawals = await rowsOf(
    at(leader),
    "SELECT t.id FROM transactions.transactions AS t WHERE t.kind = 'WITHDRAWAL' AND starts_with(t.subject, $1)",
    [prefix],
  );
  expect(withdrawals).toHaveLength(withdrawn.length);
  expect(world.leader.process.misconduct().concat(world.owner.process.misconduct())).toEqual([]);
}, 400_000);
