import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { StartupError } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';

interface Options {
  /** The service's own, signed in as the service. */
  pool: pg.Pool;
  schema: string;
  /** What this code needs at least: `neededVersion` of its migrations. */
  version: number;
  log: Logger;
  /** How long at most; a migration of a large table takes its time. */
  timeoutMs?: number;
  /** Ends the wait, for a process that is told to stop meanwhile. */
  signal?: AbortSignal;
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/**
 * Waits until `npm run migrate` has brought the service's schema to what this code needs. A newer schema is fine: migrations
 * only add, so the release before works on it (style.md, 8).
 * @throws StartupError that says what was waited for and what was found.
 */
export async function waitForSchema(options: Options): Promise<void> {
  const { pool, schema, version, log, timeoutMs = 120_000, signal } = options;
  const deadline = performance.now() + timeoutMs;
  let pauseMs = firstPauseMs;
  let told = '';
  for (;;) {
    const found = await readVersion(pool);
    if ('version' in found && found.version >= version) return;
    const state = 'version' in found ? `it is at ${found.version}` : found.reason;
    if (state !== told)
      log.warn(`waiting for version ${version} of the schema, which npm run migrate makes: ${state}`, {
        service: schema,
      });
    told = state;
    if (performance.now() + pauseMs > deadline || signal?.aborted)
      throw new StartupError(
        `The schema ${schema} needs version ${version}, and ${state}. Run npm run migrate with this release as the owner of the database.`,
      );
    await wait(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

/** What is there, or why nobody can say. A role and its password come with the migration, so being refused may pass, too. */
async function readVersion(pool: pg.Pool): Promise<{ version: number } | { reason: string }> {
  try {
    const { rows } = await pool.query('SELECT coalesce(max(m.version), 0) AS version FROM migrations AS m');
    return { version: rows[0].version };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    // Undefined table, undefined schema, no right to it yet: the migration has not got there.
    if (code === '42P01' || code === '3F000' || code === '42501') return { reason: 'it is not there yet' };
    return { reason: `the database cannot be used (${code ?? message})` };
  }
}
