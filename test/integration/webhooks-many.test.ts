import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createWebhookCommands } from '../../services/webhooks/commands/webhooks.ts';
import { markDelivered } from '../../services/webhooks/queries/attempts.ts';
import { deleteDeliveries, restartDeliveries } from '../../services/webhooks/queries/deliveries.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const ends: (() => Promise<unknown>)[] = [];
let db: Database;
beforeAll(async () => {
  const database = await createTestDatabase();
  const log = createLogger({ level: 'silent' });
  const pool = createPool({ url: database.url, schema: 'webhooks', log });
  ends.push(database.drop, () => pool.end());
  db = createDatabase({ pool });
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** A paused webhook with more pending deliveries than one statement changes; half of them were attempted. */
async function pausedWith(count: number): Promise<string> {
  const id = randomUUID();
  await db.query(sql`
    INSERT INTO webhooks (id, name, target_url, subscribed_actions, secret, state, state_since, failing_since, created_at, modified_at)
    VALUES (${id}, 'hook', 'https://hooks.example.org/', ARRAY['key.created'], '\\x00', 'PAUSED', now(), now(), now(), now())`);
  for (let begun = 0; begun < count; begun += 500)
    await db.query(sql`
      INSERT INTO deliveries (id, webhook, message_id, event_id, action, source_id, event, redelivery, status, attempts, not_before, created_at)
      SELECT gen_random_uuid(), ${id}, gen_random_uuid(), gen_random_uuid(), 'key.created', 'key', '{}', false, 'PENDING',
             n.n % 2, now() + (n.n % 2) * interval '3 hours', now()
        FROM generate_series(1, 500) AS n`);
  return id;
}

describe('a webhook with more pending deliveries than one statement changes', () => {
  it('makes every delivery due with all its attempts when it is resumed', async () => {
    const id = await pausedWith(11_000);
    const commands = createWebhookCommands({ db, wake: () => {} } as never);
    expect(await commands.resume(id)).toMatchObject({ state: 'ACTIVE', failingSince: null });
    const waiting = sql`
      SELECT count(*)::int AS count FROM deliveries AS d
       WHERE d.webhook = ${id} AND (d.attempts > 0 OR d.not_before > now())`;
    expect(await db.one(waiting)).toEqual({ count: 0 });
  });

  it('is processed in batches, each of which reports whether there are more', async () => {
    const id = await pausedWith(10_500);
    expect(await restartDeliveries(db, id)).toBe(true);
    expect(await restartDeliveries(db, id)).toBe(false);
    for (const isMore of [true, true, false]) expect(await deleteDeliveries(db, id)).toBe(isMore);
  });
});

describe('a success after failures', () => {
  it('updates the delivery and the webhook in one transaction', async () => {
    const webhook = await pausedWith(500);
    const { id } = await db.one<{ id: string }>(
      sql`SELECT d.id FROM deliveries AS d WHERE d.webhook = ${webhook} LIMIT 1`,
    );
    const stored = () =>
      db.one(sql`
        SELECT d.status, w.failing_since IS NOT NULL AS fails
          FROM deliveries AS d JOIN webhooks AS w ON w.id = d.webhook WHERE d.id = ${id}`);
    const record = () => markDelivered(db, [{ row: { id, webhook }, facts: { statusCode: 204 }, ms: 5 }]);
    await db.query(sql`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'cut off'; END $$`);
    await db.query(
      sql`CREATE TRIGGER refuse BEFORE UPDATE ON webhooks FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    await expect(record()).rejects.toThrow('cut off');
    expect(await stored()).toEqual({ status: 'PENDING', fails: true });
    await db.query(sql`DROP TRIGGER refuse ON webhooks`);
    await record();
    expect(await stored()).toEqual({ status: 'DELIVERED', fails: false });
  });
});
