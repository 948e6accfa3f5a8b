import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { connectAtStart } from '#lib/db/connect-at-start.ts';
import { StartupError } from '#lib/errors/fail.ts';

interface Options {
  url: string;
  /** Called when another process has taken the lock; this one must end. */
  onLost: () => void;
}

/** An arbitrary constant; migrations use another. */
const lockKey = 7_205_759_404;
/** The session of a killed process may still exist for a moment. */
const acquireMs = 2_000;
const retryMs = 250;
/** TCP keepalive, because the connection is otherwise silent and a dropped one would not be noticed. */
const keepAliveMs = 10_000;

/**
 * Holds the database for this process with an advisory lock of PostgreSQL, which ends with the session:
 * events inside one process do not reach other processes (docs/architecture.md). A broken connection is
 * replaced.
 * @throws StartupError that names the process holding the lock, or if the database cannot be reached.
 */
export async function acquireAdvisoryLock(options: Options): Promise<{ release(): Promise<void> }> {
  const deadline = Date.now() + acquireMs;
  let attempt = await tryToHold(options.url);
  while ('holder' in attempt && Date.now() < deadline) {
    await wait(retryMs);
    attempt = await tryToHold(options.url);
  }
  if ('holder' in attempt)
    throw new StartupError(
      `The database (DATABASE_URL) is in use by ${attempt.holder}: without KAFKA_BROKERS exactly one process may use it.`,
    );
  let held = attempt;
  let released = false;
  const keep = async () => {
    while (!released) {
      await ended(held.client);
      const next = released ? undefined : await holdAgain(options.url, held.session, () => released);
      if (next === 'lost') return options.onLost();
      if (next) held = next;
    }
  };
  const keeping = keep();
  return {
    async release() {
      released = true;
      await held.client.end();
      await keeping;
      await held.client.end(); // A replacement may have been made meanwhile.
    },
  };
}

/** The session that holds the lock, or the name of the process that does. */
type Attempt = { client: pg.Client; session: number } | { holder: string };
type Held = Extract<Attempt, { client: pg.Client }>;

async function holdAgain(
  url: string,
  former: number,
  cancelled: () => boolean,
): Promise<Held | 'lost' | undefined> {
  while (!cancelled()) {
    const attempt = await tryToHold(url, former).catch(() => undefined);
    if (attempt) return 'holder' in attempt ? 'lost' : attempt;
    await wait(retryMs);
  }
  return undefined;
}

/**
 * @param former this process's previous session. PostgreSQL may not have noticed that its connection is
 * broken, so it is terminated instead of taken for another process's.
 * @returns undefined if that was done.
 */
async function tryToHold(url: string): Promise<Attempt>;
async function tryToHold(url: string, former: number): Promise<Attempt | undefined>;
async function tryToHold(url: string, former?: number): Promise<Attempt | undefined> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `process ${process.pid} on ${hostname()}`.slice(0, 63),
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  client.on('error', () => {}); // `end` follows.
  try {
    await connectAtStart(client);
    const { rows } = await client.query(attemptLock, [lockKey]);
    const { held, session, holder, holderSession } = rows[0];
    if (held) {
      await client.query(keepAlive);
      return { client, session };
    }
    const isOurs = holderSession !== null && holderSession === former;
    if (isOurs) await client.query('SELECT pg_terminate_backend($1)', [former]);
    await client.end();
    return isOurs ? undefined : { holder: holder ?? 'another process' };
  } catch (error) {
    await client.end();
    throw error;
  }
}

const attemptLock = `
  SELECT pg_try_advisory_lock($1) AS held, pg_backend_pid() AS session,
         h.application_name AS holder, h.pid AS "holderSession"
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (
         SELECT a.application_name, a.pid
           FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
          WHERE l.locktype = 'advisory' AND l.granted AND l.pid <> pg_backend_pid()
            AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            AND (l.classid::bigint << 32) + l.objid::bigint = $1
          LIMIT 1) AS h ON true`;

/**
 * By default PostgreSQL notices a lost client machine after two hours, during which no other process could
 * start.
 */
const keepAlive =
  'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3';

function ended(client: pg.Client): Promise<void> {
  return new Promise((done) => client.once('end', done));
}
