import type pg from 'pg';
import { toUnavailable } from '#lib/db/connection-failure.ts';
import { compile, type Statement } from '#lib/db/sql.ts';

/** Runs statements, one at a time; rows are typed by the caller, who wrote the columns. */
export interface Queries {
  query<T>(statement: Statement): Promise<T[]>;
  /** @throws Error unless there is exactly one row. */
  one<T>(statement: Statement): Promise<T>;
  /** @throws Error if there is more than one row. */
  maybeOne<T>(statement: Statement): Promise<T | undefined>;
}

/**
 * A service's database. A fault of the connection, a time-out or a lock that is not freed is thrown as the failure
 * `unavailable`; what PostgreSQL says about the statement itself comes as pg's DatabaseError.
 */
export interface Database extends Queries {
  /**
   * Runs `work` in one transaction and commits; anything thrown rolls it back. The outcome of a COMMIT whose reply is
   * lost is unknown, so the work must be safe to repeat.
   */
  withTransaction<T>(work: (tx: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

export interface TransactionOptions {
  /**
   * COMMIT does not wait for the disk (PostgreSQL, `synchronous_commit`): the newest such transactions are lost if
   * PostgreSQL crashes. Only for work that is safe to redo and has been acknowledged to nobody (ADR 15).
   */
  asyncCommit?: boolean;
  /**
   * Statements are planned once per connection and by index, even while a table is nearly empty. For queues, which are
   * empty most of the time and may fill within seconds (ADR 14).
   */
  indexPlans?: boolean;
}

/** Makes a database from a pool; the pool stays its maker's to end. */
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
    if (!open) throw new Error('A statement came after the end of its transaction.');
    return client.query(compile(statement));
  });
  try {
    await client.query(begin(options));
    const result = await work(tx);
    open = false;
    const { command } = await client.query('COMMIT');
    // After a failed statement COMMIT succeeds and rolls back: whoever caught the failure must not take that for done.
    if (command !== 'COMMIT')
      throw new Error('The transaction was rolled back: one of its statements failed.');
    client.release();
    return result;
  } catch (error) {
    open = false;
    // Never clean: after a time-out the client may still be busy, and would answer the next user with this one's rows.
    client.release(error instanceof Error ? error : true);
    return rethrow(error);
  }
}

/** One message, so that settings cost no round trip. */
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
    if (rows.length > 1) throw new Error(`One row was expected and ${rows.length} came.`);
    return rows[0];
  }
  async function one<T>(statement: Statement): Promise<T> {
    const row = await maybeOne<T>(statement);
    if (row === undefined) throw new Error('One row was expected and none came.');
    return row;
  }
  return { query, one, maybeOne };
}

function rethrow(error: unknown): never {
  throw toUnavailable(error) ?? error;
}
