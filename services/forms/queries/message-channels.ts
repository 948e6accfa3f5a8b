import type { MessageChannel } from '#lib/contracts/messages.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Replaces the configured channels for messages to subjects. */
export async function saveChannels(db: Queries, names: readonly MessageChannel[]): Promise<void> {
  await db.query(sql`
    INSERT INTO message_channels AS c (names) VALUES (${names}::text[])
    ON CONFLICT (single) DO UPDATE SET names = excluded.names WHERE c.names IS DISTINCT FROM excluded.names`);
}

/** @returns the configured channels; empty as long as they are unknown. */
export async function readChannels(db: Queries): Promise<MessageChannel[]> {
  const row = await db.maybeOne<{ names: MessageChannel[] }>(sql`SELECT c.names FROM message_channels AS c`);
  return row?.names ?? [];
}
