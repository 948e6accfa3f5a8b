import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import type { AccordEvent } from '#lib/events/event-bus.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { queueEvents } from '../../services/webhooks/consumers/queue-events.ts';
import { createTestBus } from '../support/stores/event-bus.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const log = createLogger({ level: 'silent' });
const bus = createTestBus(log);
const ends: (() => Promise<unknown>)[] = [];
let db: Database;
beforeAll(async () => {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, schema: 'webhooks', log });
  ends.push(database.drop, () => pool.end());
  db = createDatabase({ pool });
  await db.query(sql`
    INSERT INTO webhooks (id, name, target_url, subscribed_actions, secret, state, state_since, created_at, modified_at)
    VALUES (${randomUUID()}, 'hook', 'https://hooks.example.org/', ARRAY['model.activated'], '\\x00', 'ACTIVE', now(), now(), now())`);
  queueEvents({ bus, db, wake: () => {}, wakeRelay: () => {} });
});
afterAll(async () => {
  await bus.stop();
  for (const end of ends.reverse()) await end();
});

function modelActivated(changes: Partial<AccordEvent>, key = 'layout.001'): AccordEvent {
  const model = randomUUID();
  const data = { model, key, type: 'layout', version: 1 };
  const type = 'io.accord.model.activated.v1';
  return {
    id: randomUUID(),
    type,
    source: 'https://consent.example.org',
    subject: model,
    data,
    time: new Date().toISOString(),
    ...changes,
  };
}

describe('an event that the contract takes and PostgreSQL does not', () => {
  test.each([
    ['an id in a form that only URNs have', modelActivated({ id: `urn:uuid:${randomUUID()}` })],
    ['a subject with a NUL', modelActivated({ subject: 'a\0b' })],
    ['a text with a NUL', modelActivated({}, 'a\0b')],
    ['half of a character', modelActivated({}, 'a\ud800b')],
  ])('is put aside, for %s, and does not come again for ever', async (_what, event) => {
    expect(await bus.publish([{ topic: 'accord.models', key: event.subject, event }])).toEqual([]);
    const [letter] = await db.query<{ reason: string }>(
      sql`SELECT d.reason FROM dead_letters AS d WHERE d.place = ${event.id}`,
    );
    expect(letter?.reason).toMatch(/^The database cannot store a value of the event \(SQLSTATE 22/);
  });
});
