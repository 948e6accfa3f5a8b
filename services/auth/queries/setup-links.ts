import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Puts a link, good for an hour, in the place of any earlier one. */
export async function replaceSetupLink(db: Queries, digest: Buffer): Promise<void> {
  await db.query(sql`
    WITH former AS (DELETE FROM setup_links WHERE digest <> ${digest})
    INSERT INTO setup_links (digest, expires_at) VALUES (${digest}, accord_now() + interval '1 hour')`);
}

export async function isSetupLinkOpen(db: Queries, digest: Buffer): Promise<boolean> {
  const { open } = await db.one<{ open: boolean }>(sql`
    SELECT EXISTS (SELECT FROM setup_links AS l WHERE l.digest = ${digest} AND l.expires_at > accord_now())
           AND NOT EXISTS (SELECT FROM accounts) AS open`);
  return open;
}

/** Uses the link up. @returns false if it is unknown, over, or was used: of two at once, one succeeds. */
export async function takeSetupLink(db: Queries, digest: Buffer): Promise<boolean> {
  const row = await db.maybeOne(sql`
    DELETE FROM setup_links AS l
     WHERE l.digest = ${digest} AND l.expires_at > accord_now() AND NOT EXISTS (SELECT FROM accounts)
    RETURNING l.digest`);
  return row !== undefined;
}
