import pg from 'pg';
import { type Logger, runOutsideRequests } from '#lib/observability/logger.ts';

/** Where a pool connects, and as whom. */
export interface PoolOptions {
  /** A `postgresql://` URL. */
  url: string;
  /** The service's schema: the only one on the search path. */
  schema: string;
  log: Logger;
  /** Connections at most; a request that finds none free within 2 s fails as unavailable. */
  max?: number;
}

/** pg names no oids of array types. */
const int8Array = 1016;

/** Oids whose text pg would turn into something that loses information or depends on the machine's time zone. */
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

/** pg's parsers, with ours first: per pool, because pg's own setter would change every pool of the process. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format as 'text');
  },
} as pg.CustomTypesConfig;

/**
 * Makes a pool with every wait bounded (reliability.md, "pg"): by default pg waits for a connection for ever.
 * timestamptz comes as Date, int8 as number (bigint beyond 2^53), numeric, date and timestamp as text, jsonb parsed.
 */
export function createPool({ url, schema, log, max = 10 }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: withSettings(url, schema),
    application_name: `accord-${schema}`,
    max,
    connectionTimeoutMillis: 2_000,
    statement_timeout: 5_000,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 30_000,
    query_timeout: 7_000,
    keepAlive: true,
    idleTimeoutMillis: 60_000,
    types,
  });
  const warn = (message: string) => (error: Error) => {
    // A pool has ended before its connections are closed, and PostgreSQL may be told to stop in between.
    if (!pool.ending) runOutsideRequests(() => log.warn(message, { error }));
  };
  pool.on('error', warn('an idle database connection was lost'));
  // The pool listens on idle clients only; without a listener of its own a client that breaks in use ends the process.
  pool.on('connect', (client) => {
    client.on('error', warn('a database connection broke'));
  });
  return pool;
}

/** Options in the URL win over those beside it, so ours go into the URL's own `options`. */
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
