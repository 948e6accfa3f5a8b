import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createExpiryNotifier } from '../../services/transactions/jobs.ts';
import { actionNames } from '../../services/webhooks/domain/actions.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { letTimePass, runInDatabase } from '../support/instances/live-database.ts';
import { eventsOf, keepEvents } from '../support/instances/live-events.ts';
import { makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { startEndpoint, subscribe, verify } from '../support/instances/webhook-endpoint.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const log = createLogger({ level: 'silent' });
let instance: TestInstance;
let shop: Caller;
let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  instance = await startTestInstance();
  await keepEvents(instance);
  shop = await createKey(instance);
  const pool = createPool({ url: instance.databaseUrl, schema: 'transactions', log });
  db = createDatabase({ pool });
  close = () => pool.end();
});
afterAll(async () => {
  await close?.();
  await instance?.stop();
});

/** Another replica of the job, which works when it is told to, beside the instance's own. */
function replica(activeVersions: (input: { keys: string[] }) => Promise<ActiveVersions>) {
  const source = instance.url;
  const options = { leadMs: 30 * 86_400_000, everyMs: 60_000, wake() {}, log };
  return createExpiryNotifier({ db, forms: { activeVersions }, source, ...options });
}

/** All questions are asked as they were. */
const unchanged = async ({ keys }: { keys: string[] }): Promise<ActiveVersions> =>
  Object.fromEntries(keys.map((key) => [key, { major: 1, serial: '1.0', deleted: false }]));

async function lookNow(): Promise<void> {
  await Promise.all([replica(unchanged).runOnce(), replica(unchanged).runOnce()]);
}

const answer = (subject: string, validity: string) =>
  recordAnswers(shop, subject, { [letter]: ['accepted'] }, { validity });

async function noticesOf(transaction: { id: string }): Promise<string[]> {
  const events = await eventsOf(instance, transaction);
  return events.flatMap(({ event }) => /consent\.(expir\w+)\.v1$/.exec(event.type)?.[1] ?? []);
}

describe('answers that expire', () => {
  it('are announced once before and once after they expire, over all replicas', async () => {
    const [endpoint, long, short] = [
      await startEndpoint(),
      await answer('long', 'P2Y'),
      await answer('short', 'P100D'),
    ];
    const webhook = await subscribe(shop, endpoint.url, ['consent.expiring', 'consent.expired']);
    await letTimePass(instance, '89 days');
    await lookNow();
    expect(await noticesOf(short), 'more than a tenth of 100 days before').toEqual([]);
    await letTimePass(instance, '91 days');
    await lookNow();
    expect(await noticesOf(short)).toEqual(['expiring']);
    expect(await noticesOf(long)).toEqual([]);
    await letTimePass(instance, '101 days');
    await lookNow();
    await lookNow();
    expect(await noticesOf(short)).toEqual(['expiring', 'expired']);
    await endpoint.called(2, 20_000);
    const told = endpoint.calls.map((call) => verify(webhook, call) as { type: string; data: object });
    expect(told.map(({ type }) => type).sort()).toEqual([
      'io.accord.consent.expired.v1',
      'io.accord.consent.expiring.v1',
    ]);
    expect(told[0]?.data).toEqual({ transaction: short.id, state: 'COMMITTED', version: 2 });
    await letTimePass(instance, '702 days');
    await lookNow();
    expect(await noticesOf(long), '28 days before the end of two years').toEqual(['expiring']);
    await letTimePass(instance, '3 years');
    await lookNow();
    expect(await noticesOf(long)).toEqual(['expiring', 'expired']);
    await letTimePass(instance, '0');
  });

  it('are not announced if they were replaced or their element was withdrawn', async () => {
    const admin = await signIn(instance, 'admin');
    const element = await makeLiveModel(admin, 'processing', { en: sampleContent.processing });
    const [replaced, withdrawn] = [
      await answer('twice', 'P100D'),
      await recordAnswers(
        shop,
        'asked',
        { [`element/processing/${element.key}/1.0`]: ['accepted'] },
        { validity: 'P100D' },
      ),
    ];
    const later = await answer('twice', 'P99D');
    await withdrawModel(admin, element);
    await letTimePass(instance, '101 days');
    // The instance's own job, which asks the forms service.
    await until(async () => expect(await noticesOf(later)).toEqual(['expired']));
    await lookNow();
    expect(await noticesOf(replaced)).toEqual([]);
    expect(await noticesOf(withdrawn)).toEqual([]);
    await letTimePass(instance, '0');
  });

  it('are planned later for answers that waited for a code', async () => {
    const made = await answer('unplanned', 'P100D');
    const over = await answer('long ago', 'P1D');
    await letTimePass(instance, '95 days');
    await runInDatabase(
      instance,
      'UPDATE transactions.transactions SET notice_at = NULL WHERE id = ANY($1)',
      [[made.id, over.id]],
    );
    await lookNow();
    expect(await noticesOf(made)).toEqual(['expiring']);
    expect(await noticesOf(over), 'what expired long before is no news').toEqual([]);
    await letTimePass(instance, '0');
  });
});

it('answers that expire while the forms service is unavailable are announced after the outage', async () => {
  const alone = await startTestInstance();
  const [before, keptDb] = [instance, db];
  const pool = createPool({ url: alone.databaseUrl, schema: 'transactions', log });
  try {
    [instance, db, shop] = [alone, createDatabase({ pool }), await createKey(alone)];
    await keepEvents(alone);
    const made = await answer('patient', 'P100D');
    const away = replica(async () => {
      throw new Error('The forms service is away.');
    });
    await runInDatabase(
      alone,
      "UPDATE transactions.transactions SET notice_at = notice_at - interval '91 days' WHERE id = $1",
      [made.id],
    );
    await away.runOnce();
    await lookNow();
    expect(await noticesOf(made)).toEqual(['expiring']);
  } finally {
    await pool.end();
    [instance, db] = [before, keptDb];
    await alone.stop();
  }
});

it('every action that a webhook can subscribe to is an event of asyncapi.yaml', () => {
  const events = readFileSync(new URL('../../asyncapi.yaml', import.meta.url), 'utf8');
  for (const action of actionNames.filter((name) => name !== 'CONSENT_COMMIT'))
    expect(events).toContain(`name: io.accord.${action}.v1\n`);
});
