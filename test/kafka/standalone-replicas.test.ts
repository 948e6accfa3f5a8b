import { describe, expect, it, onTestFinished } from 'vitest';
import { loadSecrets } from '#lib/config/secrets.ts';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { seedInstance } from '../support/instances/distributed-instance.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { brokers } from '../support/stores/kafka.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

describe.runIf(brokers)('everything in one process, with KAFKA_BROKERS', () => {
  async function settingsFor(): Promise<Record<string, string>> {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    return {
      DATABASE_URL: database.url,
      KAFKA_BROKERS: brokers as string,
      BASE_URL: 'http://localhost:1',
      SECRETS_DIR: await temporaryFolder(),
      MAX_EVENT_LOOP_DELAY: '0',
    };
  }
  const start = (settings: Record<string, string>) => {
    const running = startStandalone(settings);
    onTestFinished(async () => void (await running.kill()));
    return running;
  };

  it('may run several times on one database, and a revoked key is refused by all', async () => {
    const settings = await settingsFor();
    const secrets = await loadSecrets({ folder: settings.SECRETS_DIR as string, generate: true });
    await seedInstance({
      url: settings.BASE_URL as string,
      databaseUrl: settings.DATABASE_URL as string,
      secrets,
    });
    const ports = [await freePort(), await freePort()];
    await Promise.all(ports.map((port) => start({ ...settings, PORT: String(port) }).ready));
    const [first, second] = ports.map((port) => `http://localhost:${port}`) as [string, string];
    const key = await createKey({ url: first, fetch: (where, init) => fetch(first + where, init) });
    const ask = () =>
      Promise.all(
        [first, second].map(
          async (url) => (await fetch(`${url}/transactions`, { headers: key.headers })).status,
        ),
      );
    expect(await ask()).toEqual([200, 200]);
    const admin = await signIn({ url: second, fetch: (where, init) => fetch(second + where, init) }, 'admin');
    await admin.send('DELETE', `/keys/${key.id}`);
    await expect.poll(ask, { timeout: 4_500, interval: 100 }).toEqual([401, 401]);
  });

  it('makes no secrets of its own, which each process would do', async () => {
    const { code, errors } = await start(await settingsFor()).ended;
    expect(code).toBe(1);
    expect(errors).toContain('key-pepper: is missing');
    expect(errors).toContain('npm run secrets -- ');
  });

  it('is no demonstration', async () => {
    const { code, errors } = await start({ ...(await settingsFor()), DEMO: 'true' }).ended;
    expect([code, errors]).toEqual([
      1,
      expect.stringContaining('DEMO: DEMO=true cannot be combined with KAFKA_BROKERS'),
    ]);
  });
});
