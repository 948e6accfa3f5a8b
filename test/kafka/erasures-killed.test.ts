import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { exportFolder } from '#lib/moving/export-folder.ts';
import { createInstanceClient } from '#lib/moving/instance-client.ts';
import { startLocalRedis } from '../infrastructure/redis.ts';
import { filesWith } from '../security/peers-canary/files-with.ts';
import { readAnswersAbout } from '../support/instances/answers-about.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { type LiveTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { tablesWith } from '../support/instances/tables-with.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { brokers, readAll } from '../support/stores/kafka.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';
import { readRedis } from '../support/stores/redis.ts';

/**
 * Canaries, one in each transaction; more than one COMMIT of the job erases. `CANARIES=10000` is a longer
 * run.
 */
const transactions = Number(process.env.CANARIES ?? 120);
const subject = 'canary-person';

/** What erased transactions have in place of the name. */
async function erasedNames(databaseUrl: string): Promise<string[]> {
  const rows = await rowsOf<{ subject: string }>(
    { databaseUrl },
    'SELECT subject FROM transactions.transactions WHERE erased_at IS NOT NULL ORDER BY id LIMIT 3',
  );
  return rows.map((row) => row.subject);
}

/** The files of `npm run export` that contain a text. */
async function exportedWith({ url }: { url: string }, { headers }: Caller, text: string): Promise<string[]> {
  const source = createInstanceClient({ url, headers: async () => headers });
  const folder = await vi.waitFor(
    async () => {
      const place = await temporaryFolder();
      await exportFolder({ source, folder: place });
      expect(await filesWith(place, 'receipt.signed')).toEqual(['audit-consents.ndjson']);
      return place;
    },
    // The first checkpoint, or one that covers a receipt, may be a moment away.
    { timeout: 60_000, interval: 500 },
  );
  return filesWith(folder, text);
}

it.runIf(brokers)(
  'an erasure is completed after kill -9, and repeated on a backup that is older',
  {
    timeout: 240_000 + transactions * 100,
  },
  async () => {
    const redis = await startLocalRedis();
    onTestFinished(() => redis.stop());
    const settings = {
      KAFKA_BROKERS: brokers as string,
      REDIS_URL: redis.address,
      // Redis holds the counters of these limits.
      RATE_LIMITS: 'key=1000000,user=1000000,transaction=6000,address=1000000',
    };
    const { database, program, shop, instance, kill, startAgain } = await startKillableInstance(settings);
    const answer = (name: string, object: string) =>
      recordAnswers(shop, name, { [letter]: ['accepted'] }, { object: `canary-${object}` });
    const made: LiveTransaction[] = [];
    for (let from = 0; from < transactions; from += 20)
      made.push(
        ...(await Promise.all(Array.from({ length: 20 }, (_, index) => answer(subject, `${from + index}`)))),
      );
    const statistics = async (url: string) =>
      rowsOf(
        { databaseUrl: url },
        `SELECT key, value, count(*)::int FROM transactions.records
        WHERE committed_at IS NOT NULL GROUP BY key, value ORDER BY key, value`,
      );
    await recordAnswers(shop, 'somebody else', { [letter]: ['accepted'] });
    const before = await statistics(database);
    await kill();
    const backup = await vi.waitFor(() => createTestDatabase(database), { timeout: 20_000 });
    onTestFinished(() => backup.drop());

    await startAgain();
    const admin = await signIn(instance, 'admin');
    const first = { transactions: made.slice(0, 1), parameters: { name: [subject] } };
    const shown = await readAnswersAbout(instance, admin, first);
    expect(shown.filter(({ body }) => body.includes('canary')).length, 'the search').toBeGreaterThan(10);
    const started = await admin.send('POST', `/subjects/${subject}/erasure`);
    expect(started.status).toBe(202);
    const { id } = (await started.json()) as { id: string };
    await kill();
    await startAgain();
    const states = (url: string) =>
      rowsOf<{ state: string; transactions: number }>(
        { databaseUrl: url },
        `SELECT state, (counts->>'transactions')::int AS transactions FROM transactions.erasures WHERE id = $1`,
        [id],
      );
    const isDone = (url: string) =>
      vi.waitFor(async () => expect(await states(url)).toEqual([{ state: 'DONE', transactions }]), {
        timeout: 60_000 + transactions * 50,
        interval: 100,
      });
    await isDone(database);
    const commits = await rowsOf<{ erased: number }>(
      { databaseUrl: database },
      `SELECT count(*)::int AS erased FROM transactions.transactions
      WHERE erased_at IS NOT NULL GROUP BY erased_at`,
    );
    expect(Math.max(...commits.map(({ erased }) => erased))).toBe(50);
    expect(await statistics(database)).toEqual(before);

    // Of many transactions every fiftieth.
    const about = made.filter((_, index) => index % Math.max(50, transactions / 200) === 0);
    const placesWith = async (caller: Caller, databaseUrl: string) => {
      const names = ['somebody else', ...(await erasedNames(databaseUrl))];
      const asked = { transactions: about, parameters: { name: names, erasure: [id] } };
      const told = await readAnswersAbout(instance, caller, asked);
      expect(told.length).toBeGreaterThan(80);
      return {
        answers: told.flatMap(({ request, body }) => (/canary/i.test(body) ? request : [])),
        tables: await tablesWith({ databaseUrl }, 'canary'),
        export: await exportedWith(instance, caller, 'canary'),
        topics: (await readAll()).filter((bytes) => bytes.includes('canary')).map(String),
        redis: (await readRedis(redis.address)).filter((bytes) => bytes.includes('canary')).map(String),
      };
    };
    const nowhere = { answers: [], tables: [], export: [], topics: [], redis: [] };
    const again = await signIn(instance, 'admin');
    expect(await placesWith(again, database)).toEqual(nowhere);
    const list = await again.get('/erasures', { Accept: 'application/x-ndjson' });
    const file = path.join(await temporaryFolder(), 'erasures.ndjson');
    await writeFile(file, await list.text());
    await kill();

    expect(await tablesWith({ databaseUrl: backup.url }, 'canary')).not.toEqual([]);
    const env = { DATABASE_URL: backup.url, DATA_DIR: program.DATA_DIR, SECRETS_DIR: program.SECRETS_DIR };
    const broken = path.join(path.dirname(file), 'broken');
    await writeFile(broken, '{"id":"x"}\n');
    const refused = await runCommand('services/transactions/erasures.ts', ['reapply', broken], { env });
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('Line 1') });
    for (let run = 0; run < 2; run += 1) {
      const done = await runCommand('services/transactions/erasures.ts', ['reapply', file], { env });
      expect(done.output).toContain('1 erasures read; 1 are repeated');
    }
    const restored = startStandalone({ ...program, ...settings, ...env });
    onTestFinished(async () => void (await restored.kill()));
    await restored.ready;
    await isDone(backup.url);
    expect(await statistics(backup.url)).toEqual(before);
    expect(await placesWith(await signIn(instance, 'admin'), backup.url)).toEqual(nowhere);
    expect(restored.said(), 'a log').not.toContain('canary');
    const others = await rowsOf(
      { databaseUrl: backup.url },
      `SELECT FROM transactions.records WHERE subject = 'somebody else' AND state = 'COMMITTED'`,
    );
    expect(others).toHaveLength(1);
  },
);
