import { expect, it, onTestFinished } from 'vitest';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import {
  draftCampaign,
  makeAskedElement,
  readCampaign,
  setCampaign,
} from '../support/instances/live-campaigns.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { startMailServer } from '../support/network/mail-server.ts';
import { until } from '../support/run/until.ts';

/** People of the campaign; `CAMPAIGN_KILLED=100000` is the longer run, with a kill every ten seconds. */
const people = Number(process.env.CAMPAIGN_KILLED ?? 300);
const isLong = people > 1_000;
const kills = isLong ? Number.POSITIVE_INFINITY : 4;

/**
 * People who have answered an element, as their transactions would have stored them.
 * @param key of the element, whose first version they have answered.
 * @param count how many there are.
 */
async function addPeople(databaseUrl: string, key: string, count: number): Promise<void> {
  await runInDatabase(
    { databaseUrl },
    `WITH person AS (
       INSERT INTO transactions.subjects (id, name, email_address, created_at, modified_at, position)
       SELECT gen_random_uuid(), 'p' || n || '@example.org', 'p' || n || '@example.org', now(), now(), n
         FROM generate_series(1, $2::int) AS n RETURNING name, position
     ), t AS (
       INSERT INTO transactions.transactions
         (id, subject, state, version, context, layout, author, created_at, changed_at, expires_at, notice_at)
       SELECT lpad(p.position::text, 22, 'k'), p.name, 'COMMITTED', 2, '{"origin": "WEBFORM"}', '{"elements": []}', 'x', now(), now(), now(), 'infinity'
         FROM person AS p RETURNING id, subject
     )
     INSERT INTO transactions.records
       (id, transaction, subject, key, type, serial, info_key, info_serial, value, positions, state, origin, author,
        created_at, committed_at, position, from_position, from_at)
     SELECT gen_random_uuid(), t.id, t.subject, $1, 'processing', '1.0', 'information.001', '1.0', '{accepted}', '{0}',
            'COMMITTED', 'WEBFORM', 'x', now(), now(), 1, 1, now() FROM t`,
    [key, count],
  );
}

/** The counts of a campaign that is worked on; waits while the instance is away. */
const countsOf = (caller: () => Promise<Caller>, id: string) =>
  until(async () => (await readCampaign(await caller(), id)).counts);

it(
  'kill -9 again and again writes to nobody twice a step, and the counts add up',
  async () => {
    const server = await startMailServer();
    onTestFinished(() => server.close());
    const { database, instance, kill, startAgain } = await startKillableInstance({
      MAIL_URL: server.url,
      MAIL_HOURLY_LIMIT: '1000000',
      RATE_LIMITS: 'off',
    });
    const admin = () => signIn(instance, 'admin');
    const element = await makeAskedElement(await admin());
    await addPeople(database, element.key, people);
    await element.change();
    const id = await draftCampaign(await admin(), element, { perMinute: 30_000 });
    await setCampaign(await admin(), id, 'RUNNING');

    let sent = 0;
    for (let killed = 0; killed < kills; killed += 1) {
      const goal = isLong ? people : Math.ceil(((killed + 1) * people) / (kills + 2));
      const end = performance.now() + 10_000;
      // Between two kills: ten seconds of a long run, else so many mails.
      await until(() =>
        expect(server.received.length >= goal || (isLong && performance.now() > end)).toBe(true),
      );
      const { isPicking, counts: now } = await until(async () => readCampaign(await admin(), id));
      if (isLong && !isPicking && now.PICKED === 0) break;
      await kill();
      expect(server.received.length).toBeGreaterThan(sent);
      sent = server.received.length;
      // PostgreSQL of the tests has no autovacuum.
      if (isLong) await runInDatabase({ databaseUrl: database }, 'VACUUM ANALYZE');
      await startAgain();
    }
    await until(async () => {
      const { PICKED, SENDING } = await countsOf(admin, id);
      expect({ PICKED, SENDING }).toEqual({ PICKED: 0, SENDING: 0 });
    });

    const counts = await countsOf(admin, id);
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(people);
    const addresses = server.received.map(({ to }) => to);
    expect(new Set(addresses).size).toBe(addresses.length);
    // Who is SENT has got the mail; only of who is UNSURE it is not known.
    expect(counts.SENT).toBeLessThanOrEqual(addresses.length);
    expect(addresses.length).toBeLessThanOrEqual(counts.SENT + counts.UNSURE);
    expect(counts.SENT + counts.UNSURE).toBe(people);
    if (isLong) process.stdout.write(`${JSON.stringify({ people, mails: addresses.length, counts })}\n`);
  },
  isLong ? 7_200_000 : 240_000,
);

it('a pause begins no further message, and what goes on afterwards writes to nobody twice', async () => {
  const server = await startMailServer();
  onTestFinished(() => server.close());
  const { database, instance } = await startKillableInstance({ MAIL_URL: server.url, RATE_LIMITS: 'off' });
  const admin = await signIn(instance, 'admin');
  const element = await makeAskedElement(admin);
  await addPeople(database, element.key, 300);
  await element.change();
  const id = await draftCampaign(admin, element, { perMinute: 3_000 });
  await setCampaign(admin, id, 'RUNNING');
  await until(() => expect(server.received.length).toBeGreaterThan(30));
  await setCampaign(admin, id, 'PAUSED');
  // Five seconds are promised. Counts say more, and on a busy machine too: nothing begins after the response,
  // and what was under way ends, at most the messages of four workers.
  await until(async () => expect((await readCampaign(admin, id)).counts.SENDING).toBe(0));
  const paused = server.received.length;
  const { counts } = await readCampaign(admin, id);
  expect(counts.SENT + counts.UNSURE).toBe(paused);
  expect(counts.PICKED).toBe(300 - paused);
  await setCampaign(admin, id, 'RUNNING');
  await until(() => expect(server.received.length).toBeGreaterThan(paused));
  expect(new Set(server.received.map(({ to }) => to)).size).toBe(server.received.length);
}, 240_000);
