import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { deleteExcessItems } from '../../services/auth/queries/issuer-items.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';

const instance = useInstance();
const services = ['auth', 'console', 'forms', 'peers', 'transactions', 'webhooks'];

/** What the service does every five minutes. */
async function sweep(): Promise<void> {
  const pool = createPool({ url: instance.databaseUrl, schema: 'auth', log: createLogger(), max: 1 });
  await deleteExcessItems(createDatabase({ pool }));
  await pool.end();
}

/** The rows of the table "Storage": names of tables, who fills them, their bound, their end. */
function documented() {
  const text = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
  const section = text.split('### Storage')[1]?.split('\n### ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, -1))
    .map(([names = '', ...facts]) => ({
      names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      facts: facts.map((fact) => fact.trim()),
    }));
}

describe('every table of the database', () => {
  it('is in docs/security.md, with who can fill it, its bound and its end', async () => {
    const tables = await rowsOf<{ name: string }>(
      instance,
      `SELECT schemaname || '.' || tablename AS name FROM pg_tables
        WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename <> 'migrations'
        ORDER BY name`,
    );
    const rows = documented();
    const listed = new Set(rows.flatMap(({ names }) => names));
    const isListed = (name: string) => listed.has(name) || listed.has(name.replace(/^\w+/, '*'));
    expect(tables.length).toBeGreaterThan(60);
    expect(tables.map(({ name }) => name).filter((name) => !isListed(name))).toEqual([]);
    const exists = new Set(tables.flatMap(({ name }) => [name, name.replace(/^\w+/, '*')]));
    expect([...listed].filter((name) => !exists.has(name))).toEqual([]);
    for (const { names, facts } of rows) {
      expect(facts, names.join()).toHaveLength(3);
      for (const fact of facts) expect(fact, names.join()).not.toBe('');
    }
    expect(services.every((service) => tables.some(({ name }) => name.startsWith(`${service}.`)))).toBe(true);
  });
});

describe('what people without rights store', () => {
  it('is bounded for each person and day', async () => {
    const user = await signIn(instance, 'user');
    const created = await user.send('POST', '/consents', { subject: 'user', layout: 'layout.001' });
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { id: string };
    await rowsOf(
      instance,
      `INSERT INTO transactions.transactions
       SELECT (jsonb_populate_record(t, jsonb_build_object(
                'id', translate(lpad(n::text, 22, 'x'), '0', 'A'), 'state', 'CANCELLED'))).*
         FROM transactions.transactions AS t, generate_series(1, 499) AS n WHERE t.id = '${id}'`,
    );
    const refused = await user.send('POST', '/consents', {
      subject: 'user',
      layout: 'layout.001',
      object: 'another',
    });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('3600');
    const operator = await signIn(instance, 'operator');
    const allowed = await operator.send('POST', '/consents', { layout: 'layout.001', subject: 'someone' });
    expect(allowed.status).toBe(201);
  });

  it('of sign-ins that are not finished is bounded in length and number', async () => {
    const query = new URLSearchParams({
      client_id: 'accord',
      response_type: 'code',
      redirect_uri: 'http://127.0.0.1/callback',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      state: 'x'.repeat(4_000),
    });
    const refused = await fetch(`${instance.url}/auth/authorize?${query}`, { redirect: 'manual' });
    expect(refused.status).toBe(400);
    query.set('state', 'short');
    const begun = await fetch(`${instance.url}/auth/authorize?${query}`, { redirect: 'manual' });
    expect(begun.status).toBe(303);
    await rowsOf(
      instance,
      `INSERT INTO auth.issuer_items (model, id, payload, expires_at)
       SELECT 'Interaction', 'x' || n, '{}', now() + interval '1 minute' FROM generate_series(1, 20005) AS n;
       INSERT INTO auth.issuer_items (model, id, payload, expires_at)
       SELECT 'Grant', 'g' || n, '{"accountId": "one"}', now() + n * interval '1 second' FROM generate_series(1, 105) AS n;
       INSERT INTO auth.issuer_items (model, id, payload, grant_id, expires_at)
       SELECT 'RefreshToken', 'r' || n, '{"accountId": "one"}', 'g' || n, now() + interval '1 hour'
         FROM generate_series(1, 105) AS n`,
    );
    await sweep();
    const left = await rowsOf<{ model: string; n: number }>(
      instance,
      `SELECT model, count(*)::int AS n FROM auth.issuer_items
        WHERE model = 'Interaction' OR payload ->> 'accountId' = 'one' GROUP BY model ORDER BY model`,
    );
    expect(left).toEqual([
      { model: 'Grant', n: 100 },
      { model: 'Interaction', n: 20_000 },
      { model: 'RefreshToken', n: 100 },
    ]);
  });
});
