import pg from 'pg';
import { scramVerifier } from '#lib/db/scram-verifier.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';

interface Options {
  /** Connected as the owner of the schema. */
  client: pg.Client;
  schema: string;
  password: string | undefined;
  log: Logger;
}

/** The database role that a service signs in as. */
export function roleOf(schema: string): string {
  return `accord_${schema}`;
}

/**
 * Makes the role of a schema if it is not there, and gives it what a service needs: rows of its own tables. It creates,
 * alters, empties and drops nothing, and sees no other schema (security.md, "Deployment"). Repeating it changes nothing.
 * @throws StartupError if the role has more rights than a service may have, or has to be made by somebody else.
 */
export async function createServiceRole({ client, schema, password, log }: Options): Promise<void> {
  const role = roleOf(schema);
  await ensureRole(client, role);
  if (password !== undefined)
    await client.query(
      `ALTER ROLE ${pg.escapeIdentifier(role)} PASSWORD ${pg.escapeLiteral(scramVerifier(password))}`,
    );
  await client.query(grantsOf(schema, role));
  await revokeTemporary(client);
  log.info(
    password === undefined ? 'rights of a role written; its password was left alone' : 'role written',
    { service: schema, id: role },
  );
}

async function ensureRole(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query(readRole, [role]);
  if (rows[0]?.excessive)
    throw new StartupError(
      `The role ${role} may do more than a service must (superuser, other roles' rights, or making databases or roles): take that from it.`,
    );
  if (rows.length > 0) return;
  try {
    await client.query(`CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN`);
  } catch (cause) {
    const { code } = cause as { code?: string };
    // Roles belong to the whole server: a run on another of its databases may have been quicker.
    if (code === '42710' || code === '23505') return;
    if (code !== '42501') throw cause;
    throw new StartupError(
      `The user of DATABASE_URL may not make the role ${role}: let somebody who may run CREATE ROLE ${role} LOGIN, or give this user CREATEROLE.`,
      { cause },
    );
  }
}

const readRole = `
  SELECT r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
         OR EXISTS (SELECT 1 FROM pg_auth_members AS m WHERE m.member = r.oid) AS excessive
    FROM pg_roles AS r
   WHERE r.rolname = $1`;

/** Several statements in one message are one transaction: no service ever sees half of them. */
function grantsOf(schema: string, role: string): string {
  const [to, of] = [pg.escapeIdentifier(role), pg.escapeIdentifier(schema)];
  return `
    REVOKE ALL ON SCHEMA ${of} FROM PUBLIC;
    GRANT USAGE ON SCHEMA ${of} TO ${to};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${of} TO ${to};
    REVOKE INSERT, UPDATE, DELETE ON ${of}.migrations FROM ${to};
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${of} TO ${to};
    REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ${of} FROM PUBLIC;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${of} TO ${to};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${of} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${to};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${of} GRANT USAGE, SELECT ON SEQUENCES TO ${to};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${of} GRANT EXECUTE ON FUNCTIONS TO ${to};`;
}

/** Temporary tables are everybody's right until the owner of the database takes it away. */
async function revokeTemporary(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`
    SELECT d.datname AS name FROM pg_database AS d
     WHERE d.datname = current_database() AND pg_has_role(d.datdba, 'USAGE')`);
  if (rows[0])
    await client.query(`REVOKE TEMPORARY ON DATABASE ${pg.escapeIdentifier(rows[0].name)} FROM PUBLIC`);
}
