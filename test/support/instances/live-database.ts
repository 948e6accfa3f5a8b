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
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<Row>(text, values).finally(() => client.end());
  return rows;
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
