import pg from 'pg';
import type { TestInstance } from './instance.ts';

/** Runs a statement in an instance's database, for what no caller brings about. */
export async function runInDatabase(
  { databaseUrl }: Pick<TestInstance, 'databaseUrl'>,
  text: string,
  values: unknown[] = [],
): Promise<void> {
  await rowsOf({ databaseUrl }, text, values);
}

/** What a statement returns, for what no caller is told. */
export async function rowsOf<Row extends object>(
  { databaseUrl }: Pick<TestInstance, 'databaseUrl'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const { rows } = await poolOf(databaseUrl).query<Row>(text, values);
  return rows;
}

const pools = new Map<string, pg.Pool>();

/** Tests that wait for something ask again and again. A connection that is not used ends after a second. */
function poolOf(connectionString: string): pg.Pool {
  const known = pools.get(connectionString);
  if (known) return known;
  const pool = new pg.Pool({ connectionString, idleTimeoutMillis: 1_000, allowExitOnIdle: true });
  // Its connections end with the database.
  pool.on('error', () => {});
  pools.set(connectionString, pool);
  return pool;
}

/**
 * Lets time pass for transactions and records, or for another service, as far as the database's clock
 * decides.
 * @param interval from the machine's time on, e.g. `7 months`; it replaces the one before.
 */
export async function letTimePass(
  instance: Pick<TestInstance, 'databaseUrl'>,
  interval: string,
  schema: 'transactions' | 'webhooks' | 'peers' | 'forms' = 'transactions',
): Promise<void> {
  const literal = `'${interval.replaceAll("'", "''")}'`;
  await runInDatabase(
    instance,
    `CREATE OR REPLACE FUNCTION ${schema}.accord_now() RETURNS timestamptz LANGUAGE sql STABLE AS
       $$ SELECT now() + ${literal}::interval $$`,
  );
}
