import type { MessageChannel } from '#lib/contracts/messages.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Replaces the configured channels for messages to subjects, and the sender of mails. */
export async function saveChannels(
  db: Queries,
  names: readonly MessageChannel[],
  mailFrom: string | null,
): Promise<void> {
  await db.query(sql`
    INSERT INTO message_channels AS c (names, mail_from) VALUES (${names}::text[], ${mailFrom})
    ON CONFLICT (single) DO UPDATE SET names = excluded.names, mail_from = excluded.mail_from
    WHERE (c.names, c.mail_from) IS DISTINCT FROM (excluded.names, excluded.mail_from)`);
}

/** @returns the configured channels; empty as long as they are unknown. */
export async function readChannels(db: Queries): Promise<MessageChannel[]> {
  const row = await db.maybeOne<{ names: MessageChannel[] }>(sql`SELECT c.names FROM message_channels AS c`);
  return row?.names ?? [];
}

/** @returns the sender of mails; null without mail, and as long as it is unknown. */
export async function readMailFrom(db: Queries): Promise<string | null> {
  const row = await db.maybeOne<{ from: string | null }>(
    sql`SELECT c.mail_from AS "from" FROM message_channels AS c`,
  );
  return row?.from ?? null;
}
