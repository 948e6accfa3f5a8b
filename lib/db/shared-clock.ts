import type pg from 'pg';

/** PostgreSQL's time, in ms: the same for all services of an instance, however wrong the clock of a machine is. */
export type SharedClock = () => number;

/** In between goes the machine's steady clock, which nobody sets. */
const askEveryMs = 30_000;
/** An answer that took longer says too little about when it was given. */
const quickMs = 1_000;
/** At the start. */
const attempts = 3;

/** Asks PostgreSQL for the time, now and then again. While it has not said it the process's own clock counts. */
export async function createSharedClock(pool: Pick<pg.Pool, 'query'>): Promise<SharedClock> {
  let known: { at: number; time: number } | undefined;
  let askedAt = performance.now();

  async function ask(): Promise<void> {
    const before = performance.now();
    askedAt = before;
    const { rows } = await pool.query('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS time');
    const after = performance.now();
    if (after - before < quickMs) known = { at: (before + after) / 2, time: rows[0].time };
  }

  for (let attempt = 0; attempt < attempts && !known; attempt += 1) await ask().catch(() => {});
  return () => {
    const at = performance.now();
    if (at - askedAt > askEveryMs) ask().catch(() => {});
    return known ? known.time + (at - known.at) : Date.now();
  };
}
