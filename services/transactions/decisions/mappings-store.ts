import { recordAction } from '#lib/audit/record-action.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { AccessMapping } from './mapping.ts';

/** The mappings of the instance. */
export interface AccessMappings {
  /** At most a second old, or those that this process has stored. */
  known(): Promise<readonly AccessMapping[]>;
  /** Replaces all, with a line of the audit log. */
  replace(mappings: readonly AccessMapping[]): Promise<void>;
}

/** How long a process may go by mappings that another one has replaced. */
const maxAgeMs = 1000;

/** Keeps the mappings for a second, because they are needed for every evaluation and seldom change. */
export function createAccessMappings(db: Database): AccessMappings {
  let kept: { read: Promise<readonly AccessMapping[]>; at: number } | undefined;
  return {
    known() {
      if (kept && performance.now() - kept.at < maxAgeMs) return kept.read;
      const reading = { read: readMappings(db), at: performance.now() };
      kept = reading;
      reading.read.catch(() => {
        if (kept === reading) kept = undefined;
      });
      return reading.read;
    },
    async replace(mappings) {
      await db.withTransaction(async (tx) => {
        await tx.query(sql`
          INSERT INTO access_mappings (mappings) VALUES (${JSON.stringify(mappings)}::jsonb)
          ON CONFLICT (single) DO UPDATE SET mappings = excluded.mappings`);
        await recordAction(tx, { action: 'mappings.updated', target: 'setting/mappings' });
      });
      kept = undefined;
    },
  };
}

async function readMappings(db: Queries): Promise<readonly AccessMapping[]> {
  const row = await db.maybeOne<{ mappings: AccessMapping[] }>(sql`
    SELECT m.mappings FROM access_mappings AS m`);
  return row?.mappings ?? [];
}
