import pg from 'pg';
import { createPasswordRotation } from '#lib/db/rotated-password.ts';
import { type Logger, runOutsideRequests } from '#lib/observability/logger.ts';

/** Where a pool connects, and as whom. */
export interface PoolOptions {
  /** A `postgresql://` URL. */
  url: string;
  /** Passwords of the role beside the one of the URL, while it is rotated (docs/operations.md, "Secrets"). */
  otherPasswords?: readonly string[];
  /** The service's schema: the only one on the search path. */
  schema: string;
  log: Logger;
  /** Limit of connections; a request that gets none within 4 s fails as unavailable. */
  max?: number;
}

/** pg has no constants for array types. */
const int8Array = 1016;

/** Connections that stay open while no request needs them. */
const keptConnections = 4;

/** Types that pg would parse with a loss of information, or depending on the machine's time zone. */
const parsers: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.INT8]: parseInt8,
  [int8Array]: (text) =>
    pg.types
      .getTypeParser(
        int8Array as number,
        'text',
      )(text)
      .map(parseInt8),
  [pg.types.builtins.DATE]: (text) => text,
  [pg.types.builtins.TIMESTAMP]: (text) => text,
};

/** Parsers for one pool: pg's own setter would change every pool of the process. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format as 'text');
  },
} as pg.CustomTypesConfig;

/**
 * Makes a pool that bounds every wait, which pg does not do by default (docs/reliability.md). timestamptz is
 * returned as Date, int8 as number (bigint beyond 2^53), numeric, date and timestamp as text, jsonb parsed.
 */
export function createPool({ url, otherPasswords = [], schema, log, max = 10 }: PoolOptions): pg.Pool {
  const own = decodeURIComponent(new URL(url).password);
  const rotation = otherPasswords.length > 0 ? createPasswordRotation([own, ...otherPasswords]) : undefined;
  const pool = new pg.Pool({
    ...(rotation && { Client: rotation.Client }),
    connectionString: withSettings(url, schema),
    application_name: `accord-${schema}`,
    max,
    min: Math.min(keptConnections, max),
    // While a node starts its pods, a TLS connection to PostgreSQL takes 2 s (docs/kubernetes-verified.md).
    connectionTimeoutMillis: 4_000,
    statement_timeout: 5_000,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 30_000,
    query_timeout: 7_000,
    keepAlive: true,
    idleTimeoutMillis: 60_000,
    types,
  });
  rotation?.watch(pool);
  const warn = (message: string) => (error: Error) => {
    // The pool ends before its connections are closed, and PostgreSQL may be stopped in between.
    if (!pool.ending) runOutsideRequests(() => log.warn(message, { error }));
  };
  pool.on('error', warn('an idle database connection was lost'));
  // The pool only listens on idle clients; without a listener, a broken client in use would end the process.
  pool.on('connect', (client) => {
    client.on('error', warn('a database connection broke'));
  });
  return pool;
}

/** Options in the URL override others, so ours are appended to the URL's `options`. */
function withSettings(url: string, schema: string): string {
  const target = new URL(url);
  const given = target.searchParams.get('options');
  target.searchParams.set('options', `${given ? `${given} ` : ''}-c search_path=${schema} -c TimeZone=UTC`);
  return target.href;
}

function parseInt8(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/**
 * Opens connections in advance, because a new replica gets its share of all requests at once. What fails
 * three times is left to the statements that need a connection.
 */
export async function openConnections(pool: pg.Pool): Promise<void> {
  const count = Math.min(keptConnections, pool.options.max);
  for (let attempt = 0; attempt < 3 && pool.totalCount < count; attempt += 1) {
    const opened = await Promise.allSettled(Array.from({ length: count }, () => pool.connect()));
    for (const connection of opened) if (connection.status === 'fulfilled') connection.value.release();
  }
}

/** A recent answer shows that PostgreSQL answers. */
const freshMs = 1_000;

/**
 * Makes the check of readiness probes: PostgreSQL is only asked if no query succeeded recently. A fully used
 * pool does not make a process unready, because its requests would only move to other replicas.
 */
export function watchAnswers(pool: pg.Pool): () => Promise<boolean> {
  let answeredAt = Number.NEGATIVE_INFINITY;
  pool.on('release', (error: unknown) => {
    if (!error) answeredAt = performance.now();
  });
  return async () => {
    if (performance.now() - answeredAt < freshMs) return true;
    return pool.query('SELECT 1').then(
      () => true,
      () => false,
    );
  };
}

/** PostgreSQL's time in ms, the same for all services of an instance, whatever their machines' clocks say. */
export type SharedClock = () => number;

/** Between readings the machine's monotonic clock is used. */
const askEveryMs = 30_000;
/** A reading that took longer is too inexact. */
const maxReadingMs = 1_000;
/** At start. */
const attempts = 3;

/**
 * Reads PostgreSQL's time now and periodically. Until the first reading succeeds, the process's own clock is
 * used.
 */
export async function createSharedClock(pool: Pick<pg.Pool, 'query'>): Promise<SharedClock> {
  let known: { at: number; time: number } | undefined;
  let askedAt = performance.now();

  async function ask(): Promise<void> {
    const before = performance.now();
    askedAt = before;
    const { rows } = await pool.query('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS time');
    const after = performance.now();
    if (after - before < maxReadingMs) known = { at: (before + after) / 2, time: rows[0].time };
  }

  for (let attempt = 0; attempt < attempts && !known; attempt += 1) await ask().catch(() => {});
  return () => {
    const at = performance.now();
    if (at - askedAt > askEveryMs) ask().catch(() => {});
    return known ? known.time + (at - known.at) : Date.now();
  };
}
