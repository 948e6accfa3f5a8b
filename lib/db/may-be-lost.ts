import { sql } from '#lib/db/sql.ts';

/**
 * A condition, always true, of a statement whose effect may be lost when PostgreSQL dies the next moment, because whoever finds it undone does
 * the same again: its COMMIT does not wait for the disk. Only for what is its own database transaction; what is told to anybody outside, or
 * acknowledged, is none of it (PostgreSQL, `synchronous_commit`).
 */
export const mayBeLost = sql`(SELECT set_config('synchronous_commit', 'off', true)) = 'off'`;
