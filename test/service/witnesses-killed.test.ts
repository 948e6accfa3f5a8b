import { expect, it, onTestFinished } from 'vitest';
import { type Caller, createKey, type Reachable, signIn } from '../support/instances/callers.ts';
import { startTestInstance } from '../support/instances/instance.ts';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { disputesOf, listCheckpoints, setWitness } from '../support/peers/live-witnesses.ts';
import { pairInstances } from '../support/peers/pair-instances.ts';
import { playLogs } from '../support/peers/played-logs.ts';
import { until } from '../support/run/until.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

/** Kills of a witness while updates of five logs are on their way; `WITNESS_KILLED=300` is a longer run. */
const kills = Number(process.env.WITNESS_KILLED ?? 20);

/** Keeps each head stored and unanswered for a while, so that kills find it so. */
const linger = `
  CREATE FUNCTION peers.linger() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.05); RETURN NULL; END $$;
  CREATE TRIGGER linger AFTER INSERT OR UPDATE ON peers.witnessed_heads
    FOR EACH ROW EXECUTE FUNCTION peers.linger()`;
const lingering = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;

it('a witness that is killed between storing and answering has lost no head, and goes on from it', {
  timeout: 60_000 + kills * 10_000,
}, async () => {
  const { instance, database: databaseUrl, kill, startAgain } = await startKillableInstance();
  const { peer, logs: played } = await playLogs(instance, kills * 60);
  onTestFinished(() => peer.close());
  await runInDatabase({ databaseUrl }, linger);
  const logs = played.map((log) => ({ ...log, cosigned: 0, sent: 0 }));
  let unanswered = 0;
  for (let round = 0; round < kills; round += 1) {
    let answers = Math.ceil(Math.random() * 8);
    const answered = Promise.withResolvers<void>();
    const running = logs.map(async (log) => {
      for (;;) {
        log.sent = log.cosigned + 1;
        const answer = await log.send(log.sent, log.cosigned).catch(() => undefined);
        if (!answer) return;
        expect(answer).toEqual({ status: 200, text: expect.stringMatching(/^— \S+\/witness \S+\n$/) });
        log.cosigned = log.sent;
        answers -= 1;
        if (answers === 0) answered.resolve();
      }
    });
    // Every other time the kill follows an answer, else it comes before one.
    if (round % 2 === 0) await answered.promise;
    else await until(async () => expect(await rowsOf({ databaseUrl }, lingering)).not.toHaveLength(0));
    await kill();
    await Promise.all(running);
    await startAgain();
    for (const log of logs) {
      const { status, text } = await log.send(log.sent, 0);
      const known = status === 409 ? Number(text) : log.sent;
      expect(known).toBeGreaterThanOrEqual(log.cosigned);
      expect(known).toBeLessThanOrEqual(log.sent);
      if (known > log.cosigned) unanswered += 1;
      expect((await log.send(known, known)).status).toBe(200);
      log.cosigned = known;
    }
  }
  expect(unanswered).toBeGreaterThan(0);
  const known = await rowsOf<{ origin: string }>(
    { databaseUrl },
    `SELECT h.origin, h.size::int AS size, encode(h.root, 'hex') AS root, h.disputed FROM peers.witnessed_heads AS h`,
  );
  const byOrigin = (one: { origin: string }, other: { origin: string }) =>
    one.origin < other.origin ? -1 : 1;
  expect(known.toSorted(byOrigin)).toEqual(
    logs
      .map(({ origin, cosigned, rootAt }) => ({
        origin,
        size: cosigned,
        root: rootAt(cosigned),
        disputed: null,
      }))
      .toSorted(byOrigin),
  );
  const [log] = logs;
  expect((await log?.send(log.cosigned, log.cosigned, Buffer.alloc(32, 7)))?.status).toBe(422);
});

/** A log whose clock a test moves. */
function timeAt(databaseUrl: string) {
  let minutes = 0;
  return {
    databaseUrl,
    async pass(more: number) {
      minutes += more;
      await letTimePass(this, `${minutes} minutes`, 'peers');
    },
    /** Tries again, two minutes later each time, until it is so. */
    later<T>(check: () => Promise<T>): Promise<T> {
      return until(async () => {
        await this.pass(2);
        return check();
      });
    },
  };
}

const noteOf = async (admin: Caller) => (await admin.get('/audit/checkpoints/auth')).text();
const sizeIn = (note: string) => Number(note.split('\n')[1]);
const isCosigned = (note: string) => note.includes('/witness ');

/** Pairs two instances, each of which witnesses the other. */
async function pairWitnesses(clinic: Reachable, lab: Reachable) {
  const peers = await pairInstances(clinic, lab);
  const [atClinic, atLab] = await Promise.all([signIn(clinic, 'admin'), signIn(lab, 'admin')]);
  await setWitness(atLab, peers.here, true);
  await setWitness(atClinic, peers.there, true);
  return { peers, atClinic, atLab };
}

it('a witness that is away for three days holds up nothing, and signs the newest head when it is back', {
  timeout: 180_000,
}, async () => {
  const [clinic, lab] = await Promise.all([startTestInstance(), startKillableInstance()]);
  onTestFinished(() => clinic.stop());
  const { atClinic } = await pairWitnesses(clinic, lab.instance);
  const time = timeAt(clinic.databaseUrl);
  const shop = await createKey(clinic);
  await time.later(async () => expect(await noteOf(atClinic)).toSatisfy(isCosigned));
  await lab.kill();

  const missed: number[] = [];
  for (let day = 1; day <= 3; day += 1) {
    const before = sizeIn(await noteOf(atClinic));
    await time.pass(24 * 60);
    await createKey(clinic, `key of day ${day}`);
    await recordAnswers(shop, `person of day ${day}`, { [letter]: ['accepted'] });
    await time.later(async () => {
      const note = await noteOf(atClinic);
      expect(sizeIn(note)).toBeGreaterThan(before);
      expect(note).not.toSatisfy(isCosigned);
      missed.push(sizeIn(note));
      const { witnesses } = await listCheckpoints(atClinic);
      expect(witnesses).toEqual([
        { name: lab.instance.url, isDisputing: false, lastError: expect.any(String) },
      ]);
    });
  }

  await lab.startAgain();
  await createKey(clinic, 'when it is back');
  const newest = await time.later(async () => {
    const note = await noteOf(atClinic);
    expect(note).toSatisfy(isCosigned);
    expect(sizeIn(note)).toBeGreaterThan(missed.at(-1) ?? 0);
    return sizeIn(note);
  });
  const cosigned = await rowsOf<{ size: number }>(
    clinic,
    `SELECT c.size::int AS size FROM peers.cosignatures AS c WHERE c.area = 'auth' ORDER BY c.size`,
  );
  const sizes = cosigned.map(({ size }) => size);
  expect(sizes.at(-1)).toBe(newest);
  expect(sizes.filter((size) => missed.slice(0, -1).includes(size))).toEqual([]);
  const { witnesses } = await listCheckpoints(atClinic);
  expect(witnesses).toEqual([{ name: lab.instance.url, isDisputing: false }]);
});

it('a log that goes back, as after a restore, is refused; both logs and both alerts tell of it', {
  timeout: 180_000,
}, async () => {
  const [clinic, lab] = await Promise.all([startKillableInstance(), startTestInstance()]);
  onTestFinished(() => lab.stop());
  const { peers, atLab } = await pairWitnesses(clinic.instance, lab);
  let time = timeAt(clinic.database);
  const cosignedFrom = (size: number) =>
    time.later(async () => {
      const note = await noteOf(await signIn(clinic.instance, 'admin'));
      expect(note).toSatisfy(isCosigned);
      expect(sizeIn(note)).toBeGreaterThanOrEqual(size);
      return sizeIn(note);
    });
  const dumped = await cosignedFrom(1);
  await clinic.kill();
  const dump = await until(() => createTestDatabase(clinic.database));
  onTestFinished(() => dump.drop());
  await clinic.startAgain();
  for (let key = 0; key < 10; key += 1) await createKey(clinic.instance, `lost key ${key}`);
  const known = await cosignedFrom(dumped + 10);
  await clinic.kill();
  await clinic.startAgain(dump.url);
  time = timeAt(dump.url);
  const admin = await signIn(clinic.instance, 'admin');
  await createKey(clinic.instance, 'after the restore');
  await time.later(async () => expect((await listCheckpoints(admin)).witnesses?.[0]?.isDisputing).toBe(true));

  const lines = await until(async () => {
    const found = [await disputesOf(admin), await disputesOf(atLab)].map((all) =>
      all.find(({ outcome }) => outcome?.includes('/auth"')),
    );
    for (const line of found) expect(line).toBeDefined();
    return found;
  });
  expect(lines.map((line) => line?.target)).toEqual([`peer/${peers.there.id}`, `peer/${peers.here.id}`]);
  const [here, there] = lines.map((line) => JSON.parse(line?.outcome ?? '{}'));
  const root = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(there).toEqual({
    origin: `${new URL(clinic.instance.url).host}/auth`,
    known: { size: expect.any(Number), root },
    stated: { size: expect.any(Number), root },
  });
  expect(there.known.size).toBeGreaterThanOrEqual(known);
  expect(there.stated.size).toBeLessThan(known);
  // Of what the restored log has lost, the witness tells the size alone.
  expect(here).toEqual({ ...there, known: { size: there.known.size } });
  await until(async () => expect(await lab.metrics()).toMatch(/^accord_witness_disputes\{.*\} [1-9]/m));
  const [disputed] = await rowsOf<{ count: number }>(
    { databaseUrl: dump.url },
    'SELECT count(*)::int AS count FROM peers.witness_states AS s WHERE s.disputed IS NOT NULL',
  );
  expect(disputed?.count).toBeGreaterThan(0);
});
