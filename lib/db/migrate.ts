import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { backoffMs } from '#lib/async/timing.ts';
import { connectAtStart } from '#lib/db/connect-at-start.ts';
import {
  type AppliedVersions,
  checkApplied,
  readVersions,
  type SchemaVersion,
  type ServiceSchema,
} from '#lib/db/schema-versions.ts';
import { createServiceRole } from '#lib/db/service-role.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';

interface Options {
  /** Of the role that owns the schemas. */
  url: string;
  schemas: readonly ServiceSchema[];
  log: Logger;
  /** The folder of an embedded database, for messages. */
  dataDir?: string;
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
 * start at once, one migrates and the others wait. Each version is one transaction with its row in
 * `migrations`. A newer database is left alone, because migrations only add.
 *
 * Written by hand: postgrator needs other file names, takes no lock and does not record a migration in its
 * transaction.
 *
 * @throws StartupError if the database cannot be reached or was made by an unreleased commit, or a migration
 * fails, was edited after it ran, or is misnamed.
 */
export async function migrate({ url, schemas, log, dataDir, roles }: Options): Promise<void> {
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
    const plans: Plan[] = [];
    for (const schema of schemas) plans.push(await planFor(client, schema, dataDir));
    for (const { name, missing } of plans) {
      for (const version of missing) {
        await apply(client, name, version);
        log.info('migration applied', { service: name, id: version.file });
      }
      if (roles) await createServiceRole({ client, schema: name, password: roles.passwordOf(name), log });
    }
  } finally {
    await client.end();
  }
}

/** What a schema lacks. */
interface Plan {
  name: string;
  missing: readonly SchemaVersion[];
}

/** Changes nothing, so that a database that is refused stays as it is. */
async function planFor(client: pg.Client, schema: ServiceSchema, dataDir?: string): Promise<Plan> {
  const { name } = schema;
  const versions = await readVersions(schema);
  const table = `${pg.escapeIdentifier(name)}.migrations`;
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS found', [table]);
  const applied: AppliedVersions = rows[0].found ? await readApplied(client, table) : new Map();
  checkApplied({ name, versions, applied, dataDir });
  return { name, missing: versions.filter(({ version }) => !applied.has(version)) };
}

async function readApplied(client: pg.Client | pg.Pool, table: string): Promise<AppliedVersions> {
  const { rows } = await client.query(`SELECT m.version, m.checksum FROM ${table} AS m`);
  return new Map(rows.map(({ version, checksum }) => [version, checksum]));
}

async function apply(client: pg.Client, schema: string, { version, file, text, checksum }: SchemaVersion) {
  const name = pg.escapeIdentifier(schema);
  try {
    await client.query('BEGIN');
    if (version === 1) await client.query(createRecord(name));
    await client.query(`SET LOCAL search_path = ${name}`);
    await client.query(text);
    await client.query(`INSERT INTO ${name}.migrations (version, file, checksum) VALUES ($1, $2, $3)`, [
      version,
      file,
      checksum,
    ]);
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => {});
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StartupError(`The migration ${file} of ${schema} failed: ${reason}`, { cause });
  }
}

function createRecord(name: string): string {
  return `
    CREATE SCHEMA IF NOT EXISTS ${name};
    CREATE TABLE ${name}.migrations (
      version integer PRIMARY KEY,
      file text NOT NULL,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`;
}

interface WaitOptions {
  /** Signed in as the service. */
  pool: pg.Pool;
  schema: ServiceSchema;
  log: Logger;
  /** Long by default, because migrating a large table takes time. */
  timeoutMs?: number;
  /** Ends the wait when the process is told to stop. */
  signal?: AbortSignal;
}

const pause = { minMs: 100, maxMs: 2_000 };

/**
 * Waits until `npm run migrate` has brought the schema to the version that this code needs, its last one. A
 * newer schema is accepted: migrations only add, so an older release works on it.
 * @throws StartupError that says what is needed and what was found, or that the database was made by an
 * unreleased commit.
 */
export async function waitForSchema(options: WaitOptions): Promise<void> {
  const { pool, schema, log, timeoutMs = 120_000, signal } = options;
  const { name } = schema;
  const versions = await readVersions(schema);
  const needed = versions.length;
  const deadline = performance.now() + timeoutMs;
  let logged = '';
  for (let attempts = 1; ; attempts += 1) {
    const found = await tryToReadApplied(pool);
    if ('applied' in found) {
      checkApplied({ name, versions, applied: found.applied });
      if (found.applied.has(needed)) return;
    }
    const state = 'applied' in found ? `it is at ${found.applied.size}` : found.reason;
    if (state !== logged)
      log.warn(`waiting for npm run migrate to bring the schema to version ${needed}: ${state}`, {
        service: name,
      });
    logged = state;
    const pauseMs = backoffMs(attempts, pause);
    if (performance.now() + pauseMs > deadline || signal?.aborted)
      throw new StartupError(
        `The schema ${name} needs version ${needed}, and ${state}. Run npm run migrate of this release as the owner of the database.`,
      );
    await wait(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/**
 * Reads the versions, or why they cannot be read. The role and its password come with `npm run migrate`, so a
 * refusal may pass.
 */
async function tryToReadApplied(pool: pg.Pool): Promise<{ applied: AppliedVersions } | { reason: string }> {
  try {
    return { applied: await readApplied(pool, 'migrations') };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    // Undefined table, undefined schema, no privilege: not migrated yet.
    if (code === '42P01' || code === '3F000' || code === '42501') return { reason: 'it does not exist yet' };
    return { reason: `the database cannot be used (${code ?? message})` };
  }
}
