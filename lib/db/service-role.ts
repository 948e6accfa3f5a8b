import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { StartupError } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';

interface Options {
  /** Connected as the owner of the schema. */
  client: pg.Client;
  schema: string;
  password: string | undefined;
  log: Logger;
}

/** The database role of a service. */
export function roleOf(schema: string): string {
  return `accord_${schema}`;
}

/**
 * Creates the role of a schema if needed, and grants it access to the rows of its own tables. The role cannot
 * create, alter, truncate or drop anything, and sees no other schema (docs/security.md). Idempotent.
 * @throws StartupError if the role has more rights than that, or if this user may not create it.
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
  log.info(password === undefined ? 'role granted its rights; password unchanged' : 'role written', {
    service: schema,
    id: role,
  });
}

async function ensureRole(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query(readRole, [role]);
  if (rows[0]?.excessive)
    throw new StartupError(
      `The role ${role} has more rights than a service may have (superuser, membership in roles, or creating databases or roles): revoke them.`,
    );
  if (rows.length > 0) return;
  try {
    await client.query(`CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN`);
  } catch (cause) {
    const { code } = cause as { code?: string };
    // Roles belong to the whole server, so a run on another database may have created it.
    if (code === '42710' || code === '23505') return;
    if (code !== '42501') throw cause;
    throw new StartupError(
      `The user of DATABASE_URL may not create the role ${role}: run CREATE ROLE ${role} LOGIN as another user, or give this user CREATEROLE.`,
      { cause },
    );
  }
}

const readRole = `
  SELECT r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
         OR EXISTS (SELECT 1 FROM pg_auth_members AS m WHERE m.member = r.oid) AS excessive
    FROM pg_roles AS r
   WHERE r.rolname = $1`;

/** One message with several statements is one transaction, so no service sees an intermediate state. */
function grantsOf(schema: string, role: string): string {
  const [to, of] = [pg.escapeIdentifier(role), pg.escapeIdentifier(schema)];
  return `
    REVOKE ALL ON SCHEMA ${of} FROM PUBLIC;
    GRANT USAGE ON SCHEMA ${of} TO ${to};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${of} TO ${to};
    REVOKE INSERT, UPDATE, DELETE ON ${of}.migrations FROM ${to};
    ${auditGrants(schema, role)}
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${of} TO ${to};
    REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ${of} FROM PUBLIC;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${of} TO ${to};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${of} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${to};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${of} GRANT USAGE, SELECT ON SEQUENCES TO ${to};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${of} GRANT EXECUTE ON FUNCTIONS TO ${to};`;
}

/**
 * Lines of the audit log are not deleted, and keep their id and time. A trigger keeps the rest of a line once
 * it is sealed (docs/audit.md, "Append-only").
 */
function auditGrants(schema: string, role: string): string {
  const [to, of] = [pg.escapeIdentifier(role), pg.escapeIdentifier(schema)];
  return `
    DO $$ BEGIN IF to_regclass(${pg.escapeLiteral(`${of}.audit_log`)}) IS NOT NULL THEN
      REVOKE UPDATE, DELETE ON ${of}.audit_log FROM ${to};
      GRANT UPDATE (seq, leaf, actor, actor_kind, action, target, outcome, digest, request)
         ON ${of}.audit_log TO ${to};
      REVOKE INSERT, DELETE ON ${of}.audit_tree FROM ${to};
    END IF; END $$;`;
}

/** By default everybody may create temporary tables; only the owner of the database can revoke that. */
async function revokeTemporary(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`
    SELECT d.datname AS name FROM pg_database AS d
     WHERE d.datname = current_database() AND pg_has_role(d.datdba, 'USAGE')`);
  if (rows[0])
    await client.query(`REVOKE TEMPORARY ON DATABASE ${pg.escapeIdentifier(rows[0].name)} FROM PUBLIC`);
}

const iterations = 4096;

/**
 * The SCRAM verifier that PostgreSQL stores for a password (RFC 5803). It keeps the password out of
 * statements and logs.
 * @param password of printable ASCII, which SASLprep (RFC 4013) does not change.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const sign = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(sign('Client Key')).digest('base64');
  const serverKey = sign('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
