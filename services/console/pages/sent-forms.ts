import type { Database } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { OnceStore } from './once.ts';

/** The creating forms that were sent, in the database: any replica knows them for a day. */
export interface SentForms extends OnceStore {
  /** Deletes values of more than a day ago. @returns their number. */
  removeOld(limit: number): Promise<number>;
}

export function createSentForms(db: Database): SentForms {
  return {
    async take(value) {
      const rows = await db.query(sql`
        INSERT INTO sent_forms (once) VALUES (${value}) ON CONFLICT DO NOTHING RETURNING 1`);
      return rows.length > 0;
    },
    async free(value) {
      await db.query(sql`DELETE FROM sent_forms WHERE once = ${value}`);
    },
    async removeOld(limit) {
      const rows = await db.query(sql`
        DELETE FROM sent_forms
         WHERE once IN (SELECT once FROM sent_forms
                         WHERE created_at < clock_timestamp() - interval '1 day' LIMIT ${limit})
        RETURNING 1`);
      return rows.length;
    },
  };
}
