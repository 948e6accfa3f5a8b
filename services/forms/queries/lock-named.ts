import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { NamedEntry } from '../domain/resolve-layout.ts';

/** Entries that a layout names, kept from being deleted until the layout is ACTIVE and protects them. */
export function lockNamed(tx: Queries, keys: readonly string[]): Promise<NamedEntry[]> {
  return tx.query<NamedEntry>(sql`
    SELECT m.id, m.key, m.type, m.status, m.is_default AS "isDefault" FROM models AS m
     WHERE m.key = ANY(${keys}) ORDER BY m.id FOR SHARE`);
}
