import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import { listedBackoff } from '#lib/deliveries/backoff.ts';
import { createDeliveryEngine } from '#lib/deliveries/delivery-engine.ts';
import type { AttemptResult, DeliveryKind, DueRow } from '#lib/deliveries/delivery-kind.ts';
import { settleAttempts } from '#lib/deliveries/settle-attempts.ts';
import { createTargetLeases, type Lease } from '#lib/deliveries/target-leases.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { until } from '../support/run/until.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const log = createLogger({ level: 'silent' });
const limits = { perTarget: 4, total: 16, readAhead: 8, maxUnsettled: 16, slowMs: 2_000, maxAgeMs: 2_000 };

/** The smallest owner of deliveries: parcels to houses, in tables as the engine needs them. */
const tables = {
  targets: sql`houses`,
  targetKey: sql`t.name`,
  targetKeyType: sql`text`,
  ready: sql`t.takes`,
  generation: sql`t.address`,
  rows: sql`parcels`,
  rowKey: sql`d.id`,
  rowKeyType: sql`uuid`,
  rowTarget: sql`d.house`,
  due: sql`d.state = 'PENDING' AND d.not_before <= now()`,
  columns: sql`d.id, d.attempts, t.address`,
};

type Parcel = DueRow & { address: string };
type Attempt = (parcel: Parcel) => Promise<AttemptResult<string>> | AttemptResult<string>;

const done: AttemptResult<string> = { kind: 'done', facts: 'accepted' };
const retry: AttemptResult<string> = { kind: 'retry', facts: 'closed' };

function kindOf(
  attempt: Attempt,
  changes: Partial<DeliveryKind<Parcel, string>> = {},
): DeliveryKind<Parcel, string> {
  return {
    name: 'parcel',
    tables,
    backoff: listedBackoff({ waitsMs: [0, 0, 0], jitter: 0 }),
    attempt: async (parcel) => attempt(parcel),
    describeError: () => 'error',
    async settle(tx, settlements) {
      for (const { row, ending, facts } of settlements)
        await tx.query(sql`
          UPDATE parcels SET state = ${ending === 'retry' ? 'PENDING' : ending}, attempts = attempts + 1, note = ${facts}
           WHERE id = ${row.id}`);
    },
    ...changes,
  };
}

async function createStreet(houses: readonly string[]) {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, schema: 'public', log });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const db = createDatabase({ pool });
  await db.query(sql`
    CREATE TABLE houses (name text PRIMARY KEY, address text NOT NULL DEFAULT 'old', takes boolean NOT NULL DEFAULT true, lease_owner uuid,
                         lease_until timestamptz, fence bigint NOT NULL DEFAULT 0, failures integer NOT NULL DEFAULT 0,
                         next_at timestamptz NOT NULL DEFAULT now())`);
  await db.query(sql`
    CREATE TABLE parcels (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), house text NOT NULL REFERENCES houses, state text NOT NULL DEFAULT 'PENDING',
                          attempts integer NOT NULL DEFAULT 0, not_before timestamptz NOT NULL DEFAULT now(), note text)`);
  await db.query(sql`INSERT INTO houses (name) SELECT unnest(${houses}::text[])`);
  return {
    db,
    send: (house: string, count = 1) =>
      db.query(sql`INSERT INTO parcels (house) SELECT ${house} FROM generate_series(1, ${count}::int)`),
    states: async () =>
      (await db.query<{ state: string }>(sql`SELECT DISTINCT state FROM parcels ORDER BY state`)).map(
        ({ state }) => state,
      ),
  };
}

function startEngine(db: Database, kind: DeliveryKind<Parcel, string>) {
  const engine = createDeliveryEngine({ db, kind, limits, log });
  engine.start();
  onTestFinished(() => engine.stop());
  return engine;
}

describe('the delivery engine', () => {
  it('delivers everything once between several processes, within the limit of each target', async () => {
    const { db, send, states } = await createStreet(['a', 'b', 'c']);
    const attempted: string[] = [];
    const running: Record<string, number> = {};
    let most = 0;
    const attempt: Attempt = async ({ id, targetKey }) => {
      attempted.push(id);
      running[targetKey] = (running[targetKey] ?? 0) + 1;
      most = Math.max(most, running[targetKey]);
      await new Promise(setImmediate);
      running[targetKey] -= 1;
      return done;
    };
    for (const house of ['a', 'b', 'c']) await send(house, 100);
    for (let count = 0; count < 3; count += 1) startEngine(db, kindOf(attempt));
    await until(async () => expect(await states()).toEqual(['done']));
    expect(new Set(attempted).size).toBe(300);
    expect(attempted).toHaveLength(300);
    expect(most).toBeLessThanOrEqual(limits.perTarget);
  });

  it('gives each delivery the ending that its attempts lead to', async () => {
    const { db, send } = await createStreet(['done', 'refused', 'gone', 'expired', 'throws']);
    for (const house of ['done', 'refused', 'gone', 'expired', 'throws']) await send(house);
    startEngine(
      db,
      kindOf(({ targetKey }) => {
        if (targetKey === 'throws') throw new Error('our own fault');
        return targetKey === 'expired' ? retry : ({ kind: targetKey, facts: '' } as AttemptResult<string>);
      }),
    );
    await until(async () => {
      const endings = await db.query<{
        house: string;
        state: string;
        attempts: number;
        failures: number;
      }>(sql`
        SELECT d.house, d.state, d.attempts, t.failures FROM parcels AS d JOIN houses AS t ON t.name = d.house ORDER BY d.house`);
      expect(endings).toEqual([
        { house: 'done', state: 'done', attempts: 1, failures: 0 },
        { house: 'expired', state: 'expired', attempts: 4, failures: 4 },
        { house: 'gone', state: 'gone', attempts: 1, failures: 1 },
        { house: 'refused', state: 'refused', attempts: 1, failures: 0 },
        { house: 'throws', state: 'expired', attempts: 4, failures: 0 },
      ]);
    });
  });

  it('does not let a silent target delay another one', async () => {
    const { db, send } = await createStreet(['silent', 'well']);
    await send('silent', 50);
    await send('well', 50);
    startEngine(
      db,
      kindOf(({ targetKey }) => (targetKey === 'silent' ? new Promise(() => {}) : done)),
    );
    await until(async () =>
      expect(await db.one(sql`SELECT count(*)::int AS count FROM parcels WHERE state = 'done'`)).toEqual({
        count: 50,
      }),
    );
  });

  it('lets idle targets make room for others at its limit of leases', async () => {
    const houses = Array.from({ length: 36 }, (_, index) => `house ${index}`);
    const { db, send, states } = await createStreet(houses);
    for (const house of houses) await send(house);
    // Eighteen rounds: with an idle time of two seconds for each they would take longer than the test waits.
    const engine = createDeliveryEngine({
      db,
      kind: kindOf(() => done),
      limits: { ...limits, total: 2 },
      log,
    });
    engine.start();
    onTestFinished(() => engine.stop());
    await until(async () => expect(await states()).toEqual(['done']));
  });

  it('leaves a failing target alone for its back-off', async () => {
    const { db, send } = await createStreet(['a']);
    await send('a', 5);
    let attempts = 0;
    startEngine(
      db,
      kindOf(
        () => {
          attempts += 1;
          return retry;
        },
        { targetBackoff: (_failures, _random, facts) => (facts === retry.facts ? 3_600_000 : 0) },
      ),
    );
    await until(async () =>
      expect(await db.one(sql`SELECT failures > 0 AS fails, next_at > now() AS waits FROM houses`)).toEqual({
        fails: true,
        waits: true,
      }),
    );
    // Those that had begun together; nothing after the first result was recorded.
    expect(attempts).toBeLessThanOrEqual(limits.perTarget);
    await db.query(sql`UPDATE houses SET next_at = now()`);
    await until(() => expect(attempts).toBeGreaterThan(limits.perTarget - 1));
  });

  it('drops the failure of a target whose address has changed meanwhile', async () => {
    const { db, send, states } = await createStreet(['a']);
    await send('a');
    startEngine(
      db,
      kindOf(async ({ address }) => {
        if (address === 'new') return done;
        await db.query(sql`UPDATE houses SET address = 'new'`);
        return { kind: 'gone', facts: '' };
      }),
    );
    await until(async () => expect(await states()).toEqual(['done']));
    expect(await db.one(sql`SELECT failures FROM houses`)).toEqual({ failures: 0 });
  });

  it('records nothing under a lost lease, as after a long pause of the process', async () => {
    const { db, send, states } = await createStreet(['a']);
    await send('a');
    const { promise: paused, resolve: resume } = Promise.withResolvers<void>();
    let begun = false;
    const { promise: settled, resolve: afterSettle } = Promise.withResolvers<void>();
    const attempt: Attempt = async () => {
      begun = true;
      await paused;
      return { kind: 'refused', facts: 'late' };
    };
    startEngine(db, kindOf(attempt, { afterSettle }));
    await until(() => expect(begun).toBe(true));
    await db.query(sql`UPDATE houses SET lease_until = now() - interval '1 second'`);
    const other = createTargetLeases(db, { tables, owner: randomUUID() });
    expect(await other.claim(5)).toHaveLength(1);
    resume();
    await settled;
    const { failures } = await db.one<{ failures: number }>(sql`SELECT failures FROM houses`);
    expect({ failures, states: await states() }).toEqual({ failures: 0, states: ['PENDING'] });
  });

  it('counts a failure of the target in the same batch as a failure on our side', async () => {
    const { db, send } = await createStreet(['a']);
    await send('a', 2);
    const leases = createTargetLeases<Parcel>(db, { tables, owner: randomUUID() });
    const [lease] = (await leases.claim(1)) as [Lease];
    const rows = await leases.readDue([{ ...lease, room: 2 }], []);
    const own: AttemptResult<string> = { kind: 'retry', own: true, facts: 'error' };
    const attempts = [retry, own].map((result, at) => ({ row: rows[at] as Parcel, lease, result, ms: 1 }));
    const kind = kindOf(() => done, { targetBackoff: () => 1_000 });
    await settleAttempts({ db, kind, leases }, attempts);
    expect(await db.one(sql`SELECT failures FROM houses`)).toEqual({ failures: 1 });
  });

  it('records results under the current lease, whichever lease of the target was used last', async () => {
    const { db, send, states } = await createStreet(['a']);
    await send('a');
    const leases = createTargetLeases<Parcel>(db, { tables, owner: randomUUID() });
    const [former] = (await leases.claim(1)) as [Lease];
    await db.query(sql`UPDATE houses SET lease_until = now() - interval '1 second'`);
    const [lease] = (await leases.claim(1)) as [Lease];
    const [row] = (await leases.readDue([{ ...lease, room: 1 }], [])) as [Parcel];
    const attempts = [lease, former].map((each) => ({ row, lease: each, result: done, ms: 1 }));
    expect(await settleAttempts({ db, kind: kindOf(() => done), leases }, attempts)).toEqual([
      'done',
      undefined,
    ]);
    expect(await states()).toEqual(['done']);
  });

  it('gives its leases back when it stops, without recording attempts that it aborted', async () => {
    const { db, send } = await createStreet(['a']);
    await send('a');
    let begun = false;
    const kind = kindOf(() => done, {
      attempt: (_parcel, { signal }) =>
        new Promise((_resolve, reject) => {
          begun = true;
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    });
    const engine = createDeliveryEngine({ db, kind, limits, log });
    engine.start();
    await until(() => expect(begun).toBe(true));
    await engine.stop();
    expect(
      await db.one(sql`SELECT t.lease_until, d.attempts, d.state FROM houses AS t, parcels AS d`),
    ).toEqual({
      lease_until: null,
      attempts: 0,
      state: 'PENDING',
    });
  });
});
