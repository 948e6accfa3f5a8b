import type { BenchPostgres } from './start-postgres.ts';

/** Something that is done to a whole database now and then. */
export interface Upkeep {
  what: string;
  seconds: number;
  megabytes: number;
}

const schemas =
  "SELECT oid FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'";

/**
 * An index of the largest table beside readers and writers, a column that a migration adds, and what a backup
 * reads: every row of every table, as `pg_dump` does.
 */
export async function measureUpkeep(postgres: BenchPostgres, database: string): Promise<Upkeep[]> {
  const timed = async (what: string, statements: readonly string[], size: string): Promise<Upkeep> => {
    const started = performance.now();
    for (const statement of statements) await postgres.run(database, statement);
    const seconds = (performance.now() - started) / 1000;
    const [row] = await postgres.run<{ bytes: string }>(database, `SELECT ${size} AS bytes`);
    return { what, seconds, megabytes: Number(row?.bytes) / 1e6 };
  };
  const largest = "pg_total_relation_size('transactions.records')";
  const tables = await postgres.run<{ name: string }>(
    database,
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace IN (${schemas})`,
  );
  return [
    await timed(
      'an index of `records`, made beside reads and writes (`CREATE INDEX CONCURRENTLY`)',
      ['CREATE INDEX CONCURRENTLY bench_index ON transactions.records (subject, committed_at)'],
      "pg_relation_size('transactions.bench_index')",
    ),
    await timed(
      'a column with a default for `records`, as a migration adds it',
      ["ALTER TABLE transactions.records ADD COLUMN bench_column text NOT NULL DEFAULT 'x'"],
      largest,
    ),
    await timed(
      'a column that is filled for each row of `records`',
      [
        'ALTER TABLE transactions.records ADD COLUMN bench_filled text',
        'UPDATE transactions.records SET bench_filled = key',
      ],
      largest,
    ),
    await timed(
      'every row of every table written out (`COPY`, what `pg_dump` reads)',
      tables.map(({ name }) => `COPY ${name} TO PROGRAM 'cat > /dev/null'`),
      'pg_database_size(current_database())',
    ),
  ];
}
