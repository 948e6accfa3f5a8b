import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createSessionStore, type SessionStore, type Tokens } from '../../services/console/sessions/store.ts';
import { openGate } from '../support/run/gate.ts';
import { until } from '../support/run/until.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

let pool: ReturnType<typeof createPool>;
let store: SessionStore;
let stop: () => Promise<void>;
beforeAll(async () => {
  const database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: 'console', log: createLogger({ level: 'error' }) });
  const db = createDatabase({ pool });
  store = createSessionStore({ db, keys: [new Uint8Array(32)], idleSeconds: 1_800, maxSeconds: 43_200 });
  stop = async () => {
    await pool.end();
    await database.drop();
  };
});
afterAll(() => stop?.());

const tokensUntil = (renewAt: Date): Tokens => ({
  renewAt,
  signedIn: { accessToken: 'a', refreshToken: 'r', idToken: 'i', name: 'Alice', roles: ['operator'] },
});

it('four sessions at a time are renewed at the issuer, so that an issuer that is slow leaves connections to others', async () => {
  const due = tokensUntil(new Date(0));
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, number) => store.create(`person ${number}`, due)),
  );
  const issuer = openGate();
  let [asking, most] = [0, 0];
  const renew = async () => {
    asking += 1;
    most = Math.max(most, asking);
    await issuer.passed;
    asking -= 1;
    return tokensUntil(new Date(Date.now() + 300_000));
  };
  // Tabs of one browser wait for the same renewal.
  const renewals = ids.flatMap((id) => [store.renew(id, renew), store.renew(id, renew)]);
  await until(() => expect(asking).toBe(4));
  // Others are served by the connections that are left.
  expect(await store.find(ids[11] as string)).toMatchObject({ ended: false, person: 'person 11' });
  expect(asking).toBe(4);
  expect(pool.totalCount - pool.idleCount).toBe(4);
  issuer.open();
  const renewed = await Promise.all(renewals);
  expect(renewed).toHaveLength(24);
  for (const found of renewed) expect(found).toMatchObject({ ended: false });
  expect(most).toBe(4);
});

it('a renewal that fails makes room for the next one', async () => {
  const ids = await Promise.all(
    Array.from({ length: 8 }, (_, number) => store.create(`other ${number}`, tokensUntil(new Date(0)))),
  );
  const failing = ids.map((id) => store.renew(id, () => Promise.reject(new Error('the issuer is away'))));
  for (const { status } of await Promise.allSettled(failing)) expect(status).toBe('rejected');
  const next = await store.renew(ids[0] as string, async () => tokensUntil(new Date(Date.now() + 300_000)));
  expect(next).toMatchObject({ ended: false, person: 'other 0' });
});
