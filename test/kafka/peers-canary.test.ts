import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startLocalRedis } from '../infrastructure/redis.ts';
import { holds } from '../security/peers-canary/files-with.ts';
import {
  answerBoth,
  type Partner,
  readEverything,
  type Shown,
  shareQuestion,
  startPartner,
} from '../security/peers-canary/partners.ts';
import { readAnswersAbout } from '../support/instances/answers-about.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import {
  type DistributedInstance,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { startTestInstance } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { letter, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordsOf,
} from '../support/instances/live-transactions.ts';
import { pairInstances } from '../support/peers/pair-instances.ts';
import { until } from '../support/run/until.ts';
import { brokers, readAll } from '../support/stores/kafka.ts';
import { readRedis } from '../support/stores/redis.ts';

const ours = 'canary-of-the-leader-c41e07';
const theirs = 'canary-of-the-owner-95b8d2';
/** Transactions of people who are erased; `CANARIES=10000` is a longer run. */
const canaries = Number(process.env.CANARIES ?? 1);
/** Subjects who answer in parallel. */
const people = Math.min(10, canaries);

describe.runIf(brokers)("answers to a peer's elements, at a leader of separate services", () => {
  let redis: Awaited<ReturnType<typeof startLocalRedis>>;
  let leader: DistributedInstance;
  let folder: string;
  let owner: Partner;
  let shown: Shown;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'accord-test-'));
    // As root, PostgreSQL runs as a user who must be able to enter.
    await chmod(folder, 0o755);
    redis = await startLocalRedis();
    [leader, owner] = await Promise.all([
      startDistributedInstance({
        replicas: 1,
        kafkaBrokers: brokers as string,
        redisUrl: redis.address,
        environment: {
          OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
          // Redis holds the counters of these limits.
          RATE_LIMITS: 'key=1000000,user=1000000,transaction=6000,address=1000000',
        },
      }),
      startPartner(folder),
    ]);
    shown = await shareQuestion(leader, owner);
  }, 120_000);
  afterAll(async () => {
    await leader?.stop();
    await owner?.stop();
    await redis?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('are in no table, topic, cache, log or answer', async () => {
    const made = await answerBoth(leader, shown, { own: ours, theirs });
    const opened = await shown.admin.send('POST', '/choices', { subject: 'alice' });
    const { url } = (await opened.json()) as { url: string };
    const choices = await (await fetch(url, { headers: { Accept: 'text/html' } })).text();
    const [, from] = /\/choices#from=(\w{22})"/.exec(choices) ?? [];
    const asked = await owner.fetch('/choices/link', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ from }),
    });
    expect(asked.status).toBe(202);
    // At once: what is cached lives for seconds.
    const cache = await readRedis(redis.address);
    const places: Record<string, Buffer[]> = {
      cache,
      told: [Buffer.from(choices), Buffer.from(await readEverything(leader, shown.admin, made))],
      tables: Object.values(await readTables(leader.databaseUrl)).flat(),
      topics: await readAll(),
      log: [Buffer.from(leader.logs())],
    };
    const placesOf = (text: string) =>
      Object.keys(places).filter((place) => places[place]?.some((bytes) => holds(bytes, text)));
    expect(placesOf(theirs)).toEqual([]);
    // The same search finds what is there.
    expect(placesOf(ours)).toEqual(['told', 'tables']);
    expect(placesOf(made.id)).toEqual(expect.arrayContaining(['told', 'tables', 'topics']));
    expect(cache.length).toBeGreaterThan(0);
  }, 120_000);

  it(
    'of erased people are in no table, topic, cache, log, export or answer',
    async () => {
      const subjects = Array.from(
        { length: people },
        (_, index) => `kanarivogel-of-somebody-erased-${index}`,
      );
      const shop = await createKey(leader);
      const made: LiveTransaction[] = [];
      const consent = async (subject: string, number: number) => {
        const context = {
          subject,
          object: `kanarivogel-object-${number}`,
          attributes: { note: 'kanarivogel-attribute' },
          subjectInfos: { emailAddress: 'kanarivogel-mail@example.org' },
          layoutData: { elements: ['processing.001', shown.own, shown.theirs] },
        };
        const transaction = await createTransaction(shop, context);
        const answers = {
          [letter]: ['accepted'],
          [`element/preference/${shown.own}/1.0`]: ['kanarivogel-answer'],
          [`element/preference/${shown.theirs}/1.0`]: ['kanarivogel-answer'],
          comment: ['kanarivogel-comment'],
        };
        expect((await subjectOf(leader, transaction).submit(answers)).status).toBe(200);
        if (number % 4 < 2)
          await shop.send('POST', `/consents/${transaction.id}/withdraw`, { comment: 'kanarivogel' });
        made.push(transaction);
      };
      await Promise.all(
        subjects.map(async (subject, index) => {
          for (let number = index; number < canaries; number += people) await consent(subject, number);
          await createTransaction(shop, { subject, object: 'kanarivogel-open' });
        }),
      );
      // Of many transactions two hundred are read.
      const about = made.filter((_, index) => index % Math.max(1, Math.floor(canaries / 200)) === 0);
      const placesWith = async (names: string[]) => {
        const parameters = { name: names };
        const admin = await signIn(leader, 'admin');
        const told = await readAnswersAbout(leader, admin, { transactions: about, parameters });
        const places: Record<string, Buffer[]> = {
          cache: await readRedis(redis.address),
          told: told.map(({ body }) => Buffer.from(body)),
          topics: await readAll(),
          log: [Buffer.from(leader.logs())],
          ...(await readTables(leader.databaseUrl)),
        };
        for (const [place, contents] of Object.entries(places))
          expect(contents.length, place).toBeGreaterThan(0);
        return Object.keys(places).filter((place) =>
          places[place]?.some((bytes) => holds(bytes, 'kanarivogel')),
        );
      };
      const before = await placesWith(subjects);
      expect(before).toEqual(
        expect.arrayContaining(['told', 'transactions.records', 'transactions.receipts']),
      );
      for (const place of ['cache', 'topics', 'log']) expect(before).not.toContain(place);

      const admin = await signIn(leader, 'admin');
      const erase = async (subject: string) => {
        const erasing = await admin.send('POST', `/subjects/${subject}/erasure`, {
          reason: 'kanarivogel-reason',
        });
        return ((await erasing.json()) as { id: string }).id;
      };
      for (const id of await Promise.all(subjects.map(erase)))
        await until(async () => {
          expect(await (await admin.get(`/erasures/${id}`)).json()).toMatchObject({ state: 'DONE' });
        });
      const { subject: erased } = await transactionIn(shop.get(`/consents/${made[0]?.id}`));
      expect(erased).toMatch(/^erased:/);
      expect(await placesWith([erased, 'alice'])).toEqual([]);
    },
    120_000 + canaries * 200,
  );

  it('of three instances take effect together, each at its owner, whichever instance shows the form', async () => {
    const council = await startTestInstance({ INSTANCE_NAME: 'City Council' });
    onTestFinished(council.stop);
    await pairInstances(leader, council);
    const admins = await Promise.all([leader, owner, council].map((each) => signIn(each, 'admin')));
    const [atLeader, atOwner, atCouncil] = admins as [Caller, Caller, Caller];
    const share = async (admin: Caller, url: string) => {
      const { id, key } = await makeLiveModel(admin, 'preference', {
        en: { label: 'Wishes', valueType: 'FREE_TEXT' },
      });
      await admin.send('PUT', `/models/${id}`, { name: 'Wishes', shared: true });
      return { own: key, shared: `${key}@${new URL(url).host}` };
    };
    const [leaders, owners, councils] = [
      await share(atLeader, leader.url),
      await share(atOwner, owner.url),
      await share(atCouncil, council.url),
    ];
    const ask = (instance: typeof leader | typeof council, admin: Caller, elements: string[]) =>
      until(async () => {
        const made = await createTransaction(admin, { layoutData: { elements }, peerCommit: 'together' });
        const answers = elements.map((name): [string, string[]] => [
          `element/preference/${name}/1.0`,
          [`of ${name}`],
        ]);
        expect((await subjectOf(instance, made).submit(Object.fromEntries(answers))).status).toBe(200);
        return made;
      });
    const inForce = (admin: Caller, { id }: { id: string }, states: string[]) =>
      until(async () => {
        const { state, followers } = await transactionIn(admin.get(`/consents/${id}`));
        expect([state, ...(followers ?? []).map((each) => each.state)]).toEqual(['COMMITTED', ...states]);
      });
    const shownByLeader = await ask(leader, atLeader, [leaders.own, owners.shared, councils.shared]);
    const shownByCouncil = await ask(council, atCouncil, [councils.own, leaders.shared]);
    await inForce(atLeader, shownByLeader, ['ACCEPTED', 'ACCEPTED']);
    await inForce(atCouncil, shownByCouncil, ['ACCEPTED']);
    for (const [admin, { subject }, expected] of [
      [atLeader, shownByLeader, { [leaders.own]: `of ${leaders.own}` }],
      [atOwner, shownByLeader, { [owners.own]: `of ${owners.shared}` }],
      [atCouncil, shownByLeader, { [councils.own]: `of ${councils.shared}` }],
      [atCouncil, shownByCouncil, { [councils.own]: `of ${councils.own}` }],
      [atLeader, shownByCouncil, { [leaders.own]: `of ${leaders.shared}` }],
    ] as const) {
      const records = Object.entries(await recordsOf(admin, subject));
      expect(Object.fromEntries(records.map(([key, [record]]) => [key, record?.value]))).toEqual(expected);
      expect(records.every(([, all]) => all.length === 1)).toBe(true);
    }
  }, 120_000);
});

/**
 * Every row of every table that has any, as text, by table; the files below them are searched in
 * test/security/peers-canary.test.ts.
 */
async function readTables(connectionString: string): Promise<Record<string, Buffer[]>> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname !~ '^(pg_|information_schema)'`,
  );
  const contents: Record<string, Buffer[]> = {};
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`);
    if (rows.length > 0) contents[name] = rows.map(({ row }) => Buffer.from(row));
  }
  await client.end();
  return contents;
}
