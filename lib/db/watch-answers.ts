import type pg from 'pg';

/** An answer that is younger than this shows that PostgreSQL answers. */
const freshMs = 1_000;

/**
 * Tells whether PostgreSQL answers, for probes: it is asked only when nobody else has had an answer lately. A pool that is busy to the last
 * connection is no reason to take the process away from its clients, whose requests the others would have to bear.
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
