import type { GivenRole } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** A registered client of the built-in issuer. */
export interface ClientRow {
  id: string;
  /** Role with client credentials; null if only people sign in. */
  role: GivenRole | null;
  secretHash: Buffer | null;
  redirectUris: string[];
}

const columns = sql`c.id, c.role, c.secret_hash AS "secretHash", c.redirect_uris AS "redirectUris"`;

export function findClient(db: Queries, id: string): Promise<ClientRow | undefined> {
  return db.maybeOne(sql`
    SELECT ${columns} FROM clients AS c WHERE c.id = ${id}`);
}

/** @returns false if a client with this id exists. */
export async function insertClient(
  db: Queries,
  { id, role, secretHash, redirectUris }: ClientRow,
): Promise<boolean> {
  const row = await db.maybeOne(sql`
    INSERT INTO clients (id, role, secret_hash, redirect_uris, created_at)
    VALUES (${id}, ${role}, ${secretHash}, ${redirectUris}, accord_now())
    ON CONFLICT (id) DO NOTHING RETURNING id`);
  return row !== undefined;
}

export function listClients(db: Queries): Promise<ClientRow[]> {
  return db.query(sql`SELECT ${columns} FROM clients AS c ORDER BY c.id`);
}

/** @returns false if the client does not exist. */
export async function deleteClient(db: Queries, id: string): Promise<boolean> {
  const row = await db.maybeOne(sql`DELETE FROM clients AS c WHERE c.id = ${id} RETURNING c.id`);
  return row !== undefined;
}
