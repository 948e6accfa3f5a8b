import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { commandLine, recordAction } from '#lib/audit/record-action.ts';
import { type GivenRole, givenRoles } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { isGivenRole, roleNames } from '../domain/accounts.ts';
import type { KeyedHash } from '../domain/api-keys.ts';
import { builtInClients, isClientId } from '../issuer/adapter.ts';
import { deleteClient, insertClient, listClients } from '../queries/clients.ts';

/** A command of `npm run client`, read from its arguments. @returns the output. */
export type ClientCommand = (db: Database, keyedHash: KeyedHash) => Promise<string>;

const usage = `Usage:
  npm run client -- add <id> --role <role>                     a program that acts for itself (client credentials)
  npm run client -- add <id> --redirect-uri <url> [--public]   an application that people sign in to (authorization code, PKCE)
  npm run client -- remove <id>
  npm run client -- list
--redirect-uri can be repeated; a --public client has no secret.
Roles: ${givenRoles.join(', ')}.`;

/** @throws StartupError with the usage. */
export function readClientArguments(args: string[]): ClientCommand {
  const { command, id = '', hasMore, ...options } = parse(args);
  if (hasMore || (command === 'list') !== (id === '')) throw new StartupError(usage);
  switch (command) {
    case 'add': {
      const { role = null, redirectUris, isPublic } = options;
      if (role !== null && !isGivenRole(role))
        throw new StartupError(`--role must be ${roleNames}.\n${usage}`);
      return (db, keyedHash) => addClient(db, keyedHash, { id, role, redirectUris, isPublic });
    }
    case 'remove':
      return (db) => removeClient(db, id);
    case 'list':
      return describeClients;
    default:
      throw new StartupError(usage);
  }
}

function parse(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        role: { type: 'string' },
        'redirect-uri': { type: 'string', multiple: true, default: [] },
        public: { type: 'boolean', default: false },
      },
    });
    const [command, id, ...more] = positionals;
    const { role, public: isPublic, 'redirect-uri': redirectUris } = values;
    return { command, id, hasMore: more.length > 0, role, redirectUris, isPublic };
  } catch (error) {
    throw new StartupError(`${(error as Error).message}\n${usage}`);
  }
}

/** A client to register. */
export interface NewClient {
  id: string;
  /** Role of the client itself; null if only people use it. */
  role: GivenRole | null;
  redirectUris: string[];
  /** A program on people's machines or in their browsers, which cannot keep a secret. */
  isPublic: boolean;
}

/**
 * Registers a client. @returns output for the operator, with the secret, which is not shown again. @throws
 * StartupError.
 */
export async function addClient(db: Database, keyedHash: KeyedHash, client: NewClient): Promise<string> {
  const fault = faultOf(client);
  if (fault) throw new StartupError(fault);
  const { id, role, redirectUris, isPublic } = client;
  const secret = isPublic ? undefined : randomBytes(32).toString('base64url');
  const secretHash = secret === undefined ? null : keyedHash.hash(secret);
  await db.withTransaction(async (tx) => {
    if (!(await insertClient(tx, { id, role, secretHash, redirectUris })))
      throw new StartupError(`A client ${id} already exists; nothing was changed.`);
    await recordAction(tx, { action: 'client.created', target: `client/${id}` }, commandLine);
  });
  return secret === undefined
    ? `Created the public client ${id}. It has no secret.`
    : `Created the client ${id}. Its secret, which is not shown again:\n${secret}`;
}

/** Removes a client. @returns output for the operator. @throws StartupError. */
export async function removeClient(db: Database, id: string): Promise<string> {
  await db.withTransaction(async (tx) => {
    if (!(await deleteClient(tx, id))) throw new StartupError(`There is no client ${id}.`);
    await recordAction(tx, { action: 'client.deleted', target: `client/${id}` }, commandLine);
  });
  return `Removed the client ${id}. Access tokens that it has expire within 5 minutes.`;
}

/** One client per line: id, role, redirect URIs. */
export async function describeClients(db: Database): Promise<string> {
  const clients = await listClients(db);
  if (clients.length === 0)
    return `There are no clients except the built-in ones: ${builtInClients.join(', ')}.`;
  return clients
    .map(({ id, role, redirectUris }) => [id, role ?? '-', ...redirectUris].join('\t'))
    .join('\n');
}

function faultOf({ id, role, redirectUris, isPublic }: NewClient): string | undefined {
  if (!isClientId(id)) return 'A client id must have 1 to 64 letters, digits, dots, dashes and underscores.';
  if (builtInClients.includes(id)) return `The client ${id} is built in.`;
  if (role === null && redirectUris.length === 0) return 'A client needs --role or --redirect-uri, or both.';
  if (role !== null && isPublic) return 'A client with a role needs a secret, so it cannot be --public.';
  const bad = redirectUris.find(
    (uri) => !/^https?:$/.test(URL.parse(uri)?.protocol ?? '') || uri.includes('#'),
  );
  return bad && `${bad} is not an http or https URL without a fragment.`;
}
