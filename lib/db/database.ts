import type pg from 'pg';
import { compile, type Statement } from '#lib/db/sql.ts';
import { type Failure, fail } from '#lib/errors/fail.ts';

/** Runs one statement at a time. The caller types the rows, because it wrote the columns. */
export interface Queries {
  query<T>(statement: Statement): Promise<T[]>;
  /** @throws Error unless there is exactly one row. */
  one<T>(statement: Statement): Promise<T>;
  /** @throws Error if there is more than one row. */
  maybeOne<T>(statement: Statement): Promise<T | undefined>;
}

/**
 * A service's database. Transient errors (connection, time-outs, locks) are thrown as the failure
 * `unavailable`; errors of the statement as pg's DatabaseError.
 */
export interface Database extends Queries {
  /**
   * Runs `work` in a transaction and commits; any error rolls back. If the reply to COMMIT is lost the
   * outcome is unknown, so the work must be idempotent.
   */
  withTransaction<T>(work: (tx: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

export interface TransactionOptions {
  /**
   * COMMIT does not wait for the disk (PostgreSQL, `synchronous_commit`): the newest such transactions are
   * lost if PostgreSQL crashes. Only for work that is safe to redo and was not acknowledged (ADR 15).
   */
  asyncCommit?: boolean;
  /**
   * Plans statements once per connection and for index scans. For queues: they are empty most of the time,
   * and a plan made then would scan the whole table once it fills (ADR 14).
   */
  indexPlans?: boolean;
}

/** Makes a database from a pool. The caller ends the pool. */
export function createDatabase({ pool }: { pool: pg.Pool }): Database {
  return {
    ...createQueries((statement) => pool.query(compile(statement))),
    withTransaction: (work, options) => withTransaction(pool, work, options),
  };
}

async function withTransaction<T>(
  pool: pg.Pool,
  work: (tx: Queries) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect().catch(rethrow);
  let open = true;
  const tx = createQueries((statement) => {
    if (!open) throw new Error('The statement came after the end of its transaction.');
    return client.query(compile(statement));
  });
  try {
    await client.query(begin(options));
    const result = await work(tx);
    open = false;
    const { command } = await client.query('COMMIT');
    // After a failed statement COMMIT rolls back without an error, even if `work` caught the failure.
    if (command !== 'COMMIT')
      throw new Error('The transaction was rolled back: one of its statements failed.');
    client.release();
    return result;
  } catch (error) {
    open = false;
    // The client is discarded: after a time-out it may be busy, and would give this query's rows to the next
    // user.
    client.release(error instanceof Error ? error : true);
    return rethrow(error);
  }
}

/** One message, so that settings do not cost a round trip. */
function begin({ asyncCommit, indexPlans }: TransactionOptions): string {
  const settings = [
    ...(asyncCommit ? ['synchronous_commit = off'] : []),
    ...(indexPlans ? ['plan_cache_mode = force_generic_plan', 'seq_page_cost = 100'] : []),
  ];
  return ['BEGIN', ...settings.map((setting) => `SET LOCAL ${setting}`)].join('; ');
}

function createQueries(run: (statement: Statement) => Promise<pg.QueryResult>): Queries {
  async function query<T>(statement: Statement): Promise<T[]> {
    try {
      return (await run(statement)).rows as T[];
    } catch (error) {
      return rethrow(error);
    }
  }
  async function maybeOne<T>(statement: Statement): Promise<T | undefined> {
    const rows = await query<T>(statement);
    if (rows.length > 1) throw new Error(`Expected at most one row, got ${rows.length}.`);
    return rows[0];
  }
  async function one<T>(statement: Statement): Promise<T> {
    const row = await maybeOne<T>(statement);
    if (row === undefined) throw new Error('Expected one row, got none.');
    return row;
  }
  return { query, one, maybeOne };
}

function rethrow(error: unknown): never {
  throw toUnavailable(error) ?? error;
}

/** SQLSTATEs, or their classes, of transient failures that the statement did not cause. */
const transientStates = [
  '08', // connection exception
  '28', // sign-in refused: the password was changed, and this process has the old one
  '53', // insufficient resources: connections, memory, disk
  '57P', // shut down, crashed, starting up
  '57014', // statement time-out
  '55P03', // lock time-out
  '25P03', // idle-in-transaction time-out
  '40001', // serialization failure
  '40P01', // deadlock
];

const transientSystemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
]);

/** Errors of pg itself have no code. */
const transientMessages =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|timeout expired|Client has encountered a connection error)/;

/** The failure `unavailable` for transient errors of the database; undefined for errors of the statement. */
export function toUnavailable(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !isTransient(error)) return undefined;
  return fail('unavailable', 'The database does not answer at the moment. Please try again.', {
    cause: error,
    headers: { 'Retry-After': '1' },
  });
}

function isTransient(error: Error): boolean {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return transientMessages.test(error.message);
  if (transientSystemCodes.has(code)) return true;
  return code.length === 5 && transientStates.some((state) => code.startsWith(state));
}
