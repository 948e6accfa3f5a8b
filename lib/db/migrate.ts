import pg from 'pg';
import { connectAtStart } from '#lib/db/connect-at-start.ts';
import { type Migration, readMigrations } from '#lib/db/read-migrations.ts';
import { createServiceRole } from '#lib/db/service-role.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** A service's schema and the folder of its migrations: `NNNN_what.sql`, numbered from 0001 without gaps. */
export interface SchemaMigrations {
  schema: string;
  folder: string;
}

interface Options {
  /** Of the role that owns the schemas. */
  url: string;
  schemas: readonly SchemaMigrations[];
  log: Logger;
  /**
   * Gives every schema a role of its own that may work in it and change nothing about it. Absent where one process does
   * everything as the owner.
   */
  roles?: {
    /** What the role of a schema signs in with; undefined leaves what it has. */
    passwordOf(schema: string): string | undefined;
  };
}

/** Any number, the same in every process: it is the name of the lock. */
const lockKey = 7_205_759_403;

/**
 * Brings every schema up to date, in the order given, on one connection under one advisory lock: of several processes that
 * start at once, one migrates and the others wait. Each migration is one transaction with its row in `migrations`.
 * A database that is ahead of this code is left alone, because migrations only add (style.md, 8).
 *
 * Not postgrator: it wants names like `0001.do.what.sql`, takes no lock and does not join a migration and its record.
 *
 * @throws StartupError if the database cannot be reached, or a migration fails, was edited after it ran, or is misnamed.
 */
export async function migrate({ url, schemas, log, roles }: Options): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'accord-migrate',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  client.on('error', () => {}); // The statement in hand rejects with it.
  try {
    await connectAtStart(client);
    await client.query('SELECT pg_advisory_lock($1)', [lockKey]);
    for (const { schema, folder } of schemas) {
      await migrateSchema(client, schema, folder, log);
      if (roles) await createServiceRole({ client, schema, password: roles.passwordOf(schema), log });
    }
  } finally {
    await client.end();
  }
}

async function migrateSchema(client: pg.Client, schema: string, folder: string, log: Logger): Promise<void> {
  const migrations = await readMigrations(folder);
  const done = await readRecord(client, schema);
  for (const migration of migrations) {
    const checksum = done.get(migration.version);
    if (checksum === undefined) {
      await apply(client, schema, migration);
      log.info('migrated', { service: schema, id: migration.file });
    } else if (checksum !== migration.checksum) {
      throw new StartupError(
        `The migration ${migration.file} of ${schema} was changed after it had been applied: restore it and add a new one.`,
      );
    }
  }
}

/** Checksums of what has been applied, by version. */
async function readRecord(client: pg.Client, schema: string): Promise<Map<number, string>> {
  const name = pg.escapeIdentifier(schema);
  const { rows: existing } = await client.query(`SELECT to_regclass($1) IS NOT NULL AS found`, [
    `${name}.migrations`,
  ]);
  if (!existing[0].found)
    await client.query(`
      CREATE SCHEMA IF NOT EXISTS ${name};
      CREATE TABLE ${name}.migrations (
        version integer PRIMARY KEY,
        file text NOT NULL,
        checksum text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
      )`);
  const { rows } = await client.query(`SELECT m.version, m.checksum FROM ${name}.migrations AS m`);
  return new Map(rows.map((row) => [row.version, row.checksum]));
}

async function apply(client: pg.Client, schema: string, migration: Migration): Promise<void> {
  const name = pg.escapeIdentifier(schema);
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL search_path = ${name}`);
    await client.query(migration.text);
    await client.query(`INSERT INTO ${name}.migrations (version, file, checksum) VALUES ($1, $2, $3)`, [
      migration.version,
      migration.file,
      migration.checksum,
    ]);
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => {});
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new StartupError(`The migration ${migration.file} of ${schema} failed: ${said}`, { cause });
  }
}
