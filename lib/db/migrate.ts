import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { backoffMs } from '#lib/async/timing.ts';
import { connectAtStart } from '#lib/db/connect-at-start.ts';
import { createServiceRole } from '#lib/db/service-role.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** A service's schema and its folder of migrations: `NNNN_what.sql`, numbered from 0001 without gaps. */
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
   * Creates a role per schema that may read and write rows and change nothing else. Absent in standalone
   * mode.
   */
  roles?: {
    /** The password of a schema's role; undefined keeps the current one. */
    passwordOf(schema: string): string | undefined;
  };
}

/** An arbitrary constant: the name of the advisory lock. */
const lockKey = 7_205_759_403;

/**
 * Brings every schema up to date, in the given order, under one advisory lock: of several processes that
 * start at once, one migrates and the others wait. Each migration is one transaction with its row in
 * `migrations`. A newer database is left alone, because migrations only add.
 *
 * Written by hand: postgrator needs other file names, takes no lock and does not record a migration in its
 * transaction.
 *
 * @throws StartupError if the database cannot be reached, or a migration fails, was edited after it ran, or
 * is misnamed.
 */
export async function migrate({ url, schemas, log, roles }: Options): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'accord-migrate',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  client.on('error', () => {}); // The current statement rejects with it.
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
      log.info('migration applied', { service: schema, id: migration.file });
    } else if (checksum !== migration.checksum) {
      throw new StartupError(
        `The migration ${migration.file} of ${schema} was edited after it had been applied: restore it and add a new one.`,
      );
    }
  }
}

/** Reads the checksums of the applied migrations, by version. */
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StartupError(`The migration ${migration.file} of ${schema} failed: ${reason}`, { cause });
  }
}

/** A migration as read from its file. */
export interface Migration {
  version: number;
  file: string;
  text: string;
  checksum: string;
}

/**
 * Reads a folder of `NNNN_what.sql`, numbered from 0001 without gaps. @throws StartupError if a file is
 * misnamed.
 */
async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const version = Number(/^(\d{4})_[a-z0-9_-]+\.sql$/.exec(file)?.[1]);
      if (version !== index + 1)
        throw new StartupError(
          `The migration ${file} is misnamed: number ${String(index + 1).padStart(4, '0')} was expected.`,
        );
      const text = (await readFile(path.join(folder, file), 'utf8')).replaceAll('\r\n', '\n');
      return { version, file, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/** The schema version that this code needs: the number of its migrations. */
export async function neededVersion(folder: string): Promise<number> {
  return (await readMigrations(folder)).length;
}

interface WaitOptions {
  /** Signed in as the service. */
  pool: pg.Pool;
  schema: string;
  /** The version that this code needs (`neededVersion`). */
  version: number;
  log: Logger;
  /** Long by default, because migrating a large table takes time. */
  timeoutMs?: number;
  /** Ends the wait when the process is told to stop. */
  signal?: AbortSignal;
}

const pause = { minMs: 100, maxMs: 2_000 };

/**
 * Waits until `npm run migrate` has brought the schema to the needed version. A newer schema is accepted:
 * migrations only add, so an older release works on it.
 * @throws StartupError that says what is needed and what was found.
 */
export async function waitForSchema(options: WaitOptions): Promise<void> {
  const { pool, schema, version, log, timeoutMs = 120_000, signal } = options;
  const deadline = performance.now() + timeoutMs;
  let logged = '';
  for (let attempts = 1; ; attempts += 1) {
    const found = await readVersion(pool);
    if ('version' in found && found.version >= version) return;
    const state = 'version' in found ? `it is at ${found.version}` : found.reason;
    if (state !== logged)
      log.warn(`waiting for npm run migrate to bring the schema to version ${version}: ${state}`, {
        service: schema,
      });
    logged = state;
    const pauseMs = backoffMs(attempts, pause);
    if (performance.now() + pauseMs > deadline || signal?.aborted)
      throw new StartupError(
        `The schema ${schema} needs version ${version}, and ${state}. Run npm run migrate of this release as the owner of the database.`,
      );
    await wait(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/**
 * Reads the version, or why it cannot be read. The role and its password come with a migration, so a refusal
 * may pass.
 */
async function readVersion(pool: pg.Pool): Promise<{ version: number } | { reason: string }> {
  try {
    const { rows } = await pool.query('SELECT coalesce(max(m.version), 0) AS version FROM migrations AS m');
    return { version: rows[0].version };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    // Undefined table, undefined schema, no privilege: not migrated yet.
    if (code === '42P01' || code === '3F000' || code === '42501') return { reason: 'it does not exist yet' };
    return { reason: `the database cannot be used (${code ?? message})` };
  }
}
