import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createMetrics } from '#lib/observability/metrics.ts';
import { createHttpClient } from '../../bench/http-client.ts';
import { runFlow } from '../../bench/run-flow.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { patience } from '../support/run/patience.ts';

let instance: TestInstance;
let database: pg.Client;
beforeAll(async () => {
  instance = await startTestInstance();
  database = new pg.Client({ connectionString: instance.databaseUrl });
  await database.connect();
  // Sent events leave the outbox within milliseconds; this keeps what they were.
  await database.query(`
    CREATE TABLE seen (event jsonb);
    CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO public.seen VALUES (NEW.event); RETURN NULL; END $$;
    CREATE TRIGGER keep AFTER INSERT ON transactions.outbox FOR EACH ROW EXECUTE FUNCTION keep();
    CREATE TRIGGER keep AFTER INSERT ON auth.outbox FOR EACH ROW EXECUTE FUNCTION keep()`);
});
afterAll(async () => {
  await database?.end();
  await instance?.stop();
});

const linesOf = (requestId: string) =>
  instance
    .logs()
    .split('\n')
    .filter((line) => line.includes(`"${requestId}"`));

describe('a request id', () => {
  it('that a caller sends comes back, and is in the log and in the events of its request', async () => {
    const operator = await signIn(instance, 'operator');
    const requestId = 'checkout-4711-a';
    const created = await operator.send(
      'POST',
      '/consents',
      { subject: 'alice', layout: 'layout.001' },
      { 'X-Request-Id': requestId },
    );
    expect(created.status).toBe(201);
    expect(created.headers.get('x-request-id')).toBe(requestId);
    expect(linesOf(requestId)[0]).toContain('"operation":"createTransaction"');
    const { rows } = await database.query(
      `SELECT s.event->>'type' AS type FROM seen AS s WHERE s.event->>'requestid' = $1`,
      [requestId],
    );
    expect(rows).toEqual([{ type: 'io.accord.consent.created.v1' }]);
  });

  it.each(['short', 'x'.repeat(65), 'has space', '{"a":1}{"b":2}', 'ünïcödé-id'])(
    'that is not well-formed (%s) is replaced by a new one',
    async (given) => {
      const response = await instance.fetch('/models', {
        headers: { 'X-Request-Id': Buffer.from(given).toString('latin1') },
      });
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('is drawn for a request without one, and the next request has another', async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => (await instance.fetch('/models')).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).toBe(2);
  });
});

describe('the metrics', () => {
  it('tell how long operations and submits took, what waits in outboxes, and of pools and the event loop', async () => {
    const { key } = await createKey(instance, 'metrics');
    const client = createHttpClient({ port: Number(new URL(instance.url).port), connections: 1 });
    await runFlow({ client, key }, { subject: 'subject-canary', order: 1 }, () => {});
    client.close();
    const text = await instance.metrics();
    for (const line of [
      /^accord_http_request_duration_seconds_count\{service="transactions",operation="getForm",status="2xx"\} 1$/m,
      /^accord_http_request_duration_seconds_count\{service="auth",operation="createKey",status="2xx"\} 1$/m,
      /^accord_submit_duration_seconds_count\{status="3xx"\} 1$/m,
      /^accord_outbox_rows\{service="transactions"\} \d+$/m,
      /^accord_outbox_age_seconds\{service="auth"\} [\d.e-]+$/m,
      /^accord_db_connections\{service="forms",state="allowed"\} 10$/m,
      /^accord_db_waiting\{service="transactions"\} 0$/m,
      /^accord_http_in_flight 0$/m,
      /^accord_event_loop_delay_seconds [\d.e-]+$/m,
    ])
      expect(text).toMatch(line);
    const { rows } = await database.query('SELECT id FROM transactions.transactions');
    for (const canary of ['subject-canary', 'alice', key, ...rows.map(({ id }) => id)])
      expect(text).not.toContain(canary);
  });

  it('show an outbox that nobody empties', async () => {
    await database.query(`
      INSERT INTO forms.outbox (event_id, topic, key, event, not_before)
      SELECT gen_random_uuid(), 'accord.models', 'k', jsonb_build_object('time', to_json(now() - interval '90 seconds')), now() + interval '1 day'
        FROM generate_series(1, 3)`);
    const text = await instance.metrics();
    expect(text).toMatch(/^accord_outbox_rows\{service="forms"\} 3$/m);
    const age = Number(/^accord_outbox_age_seconds\{service="forms"\} (.*)$/m.exec(text)?.[1]);
    expect(age).toBeGreaterThanOrEqual(90);
    await database.query('DELETE FROM forms.outbox');
  });

  it('show events that were put aside', async () => {
    await database.query(
      `INSERT INTO transactions.dead_letters (consumer, topic, place, reason) VALUES ('c', 'accord.keys', '0:1', 'r')`,
    );
    expect(await instance.metrics()).toMatch(
      /^accord_dead_letters\{service="transactions",topic="accord.keys"\} 1$/m,
    );
    await database.query('DELETE FROM transactions.dead_letters');
    expect(await instance.metrics()).not.toMatch(/^accord_dead_letters\{/m);
  });

  it('tell how long work waited for a database connection', async () => {
    const metrics = createMetrics();
    const log = createLogger({ level: 'silent' });
    const pool = createPool({ url: instance.databaseUrl, schema: 'auth', log, max: 1 });
    metrics.watchPool('auth', pool);
    const sleeps = [1, 2, 3].map(() => pool.query('SELECT pg_sleep(0.05)'));
    expect((await metrics.read()).body).toMatch(/^accord_db_waiting\{service="auth"\} 2$/m);
    await Promise.all(sleeps);
    const { body } = await metrics.read();
    expect(body).toMatch(/^accord_db_wait_seconds_count\{service="auth"\} 2$/m);
    expect(body).toMatch(/^accord_db_connections\{service="auth",state="idle"\} 1$/m);
    await pool.end();
  });

  it('leave out what the database does not tell, and count that', async () => {
    await database.query('ALTER TABLE auth.outbox RENAME TO hidden');
    const text = await instance.metrics();
    await database.query('ALTER TABLE auth.hidden RENAME TO outbox');
    expect(text).not.toMatch(/^accord_outbox_rows\{service="auth"\}/m);
    expect(text).toMatch(/^accord_metrics_unread_total\{service="auth"\} 1$/m);
    expect(text).toMatch(/^accord_outbox_rows\{service="forms"\} 0$/m);
  });
});

describe('with more to do than it can', () => {
  it('an instance refuses at once, as a document or a page, and says when to come again', async () => {
    const busy = await startTestInstance({ MAX_IN_FLIGHT: '1', MAX_QUEUE_WAIT: '0' });
    const caller = await signIn(busy, 'operator');
    const ask = (path: string, accept: string) =>
      busy.fetch(path, { headers: { ...caller.headers, Accept: accept, 'Accept-Language': 'fr' } });
    const askForToken = () =>
      fetch(`${busy.url}/auth`, {
        method: 'POST',
        body: new URLSearchParams({
          client_id: 'accord',
          grant_type: 'password',
          username: 'nobody',
          password: 'wrong',
        }),
      });
    // One request is held up in the database; it is all that this instance takes on.
    const lock = new pg.Client({ connectionString: busy.databaseUrl });
    await lock.connect();
    await lock.query('BEGIN; LOCK TABLE forms.models IN ACCESS EXCLUSIVE MODE');
    const held = ask('/models', 'application/json');
    await vi.waitFor(
      async () => expect(await busy.metrics()).toMatch(/^accord_http_in_flight 1$/m),
      patience,
    );

    const refused = [await ask('/models', 'application/json'), await ask('/docs', 'text/html')];
    for (const reply of refused) {
      expect(reply.status).toBe(503);
      expect(reply.headers.get('retry-after')).toMatch(/^[123]$/);
    }
    expect(await refused[0]?.json()).toMatchObject({
      status: 503,
      type: `${busy.url}/docs/problems/unavailable`,
    });
    expect(await refused[1]?.text()).toContain('<html lang="fr"');
    expect((await askForToken()).status).toBe(503);
    expect(await busy.metrics()).toMatch(
      /^accord_http_refused_total\{service="forms",priority="normal",reason="in-flight"\} 2$/m,
    );

    await lock.query('ROLLBACK');
    expect((await held).status).toBe(200);
    await vi.waitFor(
      async () => expect(await busy.metrics()).toMatch(/^accord_http_in_flight 0$/m),
      patience,
    );
    expect((await askForToken()).status).toBe(400);
    await lock.end();
    await busy.stop();
  });
});
