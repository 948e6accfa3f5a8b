import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** The database's time: what every rule goes by, whatever the clock of this process says. */
export async function readNow(db: Queries): Promise<Date> {
  const { now } = await db.one<{ now: Date }>(sql`SELECT accord_now() AS now`);
  return now;
}
