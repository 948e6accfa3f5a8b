import { join, sql } from '#lib/db/sql.ts';
import { afterDeadline } from '../domain/states.ts';

const ended = join(
  afterDeadline.map(([open, next]) => sql`WHEN t.state = ${open} THEN ${next}`),
  ' ',
);

/** The state of a transaction `t` as readers see it (`stateAt`): a deadline that has passed counts before the sweeper writes it. */
export const stateNow = sql`CASE WHEN t.expires_at > accord_now() OR t.leader IS NOT NULL THEN t.state ${ended} ELSE t.state END`;
