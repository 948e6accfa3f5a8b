import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpClient } from '../../bench/http-client.ts';
import { runFlow } from '../../bench/run-flow.ts';
import { createKey } from '../support/instances/callers.ts';
import { takePreviousRelease } from '../support/instances/previous-release.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

test('the previous release works on the current schema', { timeout: 30_000 }, async ({ skip }) => {
  const folder = await temporaryFolder();
  const release = await takePreviousRelease(path.join(folder, 'release'));
  if ('missing' in release) {
    process.stderr.write(
      `NOT TESTED: the previous release on the schema of today, because ${release.missing}.\n`,
    );
    return skip(release.missing);
  }
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const accord = startStandalone(
    { DATABASE_URL: database.url, DATA_DIR: path.join(folder, 'data') },
    path.join(release.folder, 'services', 'standalone.ts'),
  );
  onTestFinished(async () => void (await accord.kill()));
  const url = await accord.ready;
  const { key, get } = await createKey({ url, fetch: (to, init) => fetch(new URL(to, url), init) });
  const client = createHttpClient({ port: Number(new URL(url).port), connections: 1 });
  onTestFinished(() => client.close());

  for (const order of [1, 2]) await runFlow({ client, key }, { subject: 'alice', order }, () => {});
  const records = await (await get('/records?subject=alice')).text();
  expect(records, release.name).toContain('"processing.001"');
  expect(accord.said()).not.toMatch(/"level":"error"/);
  expect((await accord.stop()).code).toBe(0);
});
