import { parseArgs } from 'node:util';
import type { Database } from '#lib/db/database.ts';
import { StartupError } from '#lib/errors/startup-error.ts';
import { addClient, describeClients, removeClient } from '../commands/manage-clients.ts';
import type { KeyedHash } from '../domain/keyed-hash.ts';
import { isGivenRole } from '../domain/roles.ts';

/** A command on clients, read from the command line. @returns what to tell the operator. */
export type ClientCommand = (db: Database, keyedHash: KeyedHash) => Promise<string>;

const usage = `Usage:
  npm run client -- add <id> --role admin|operator|user        a program that acts for itself (client credentials)
  npm run client -- add <id> --redirect-uri <url> [--public]   an application that people sign in to (authorization code, PKCE)
  npm run client -- remove <id>
  npm run client -- list
--redirect-uri may be given several times; a --public client has no secret.`;

/** @throws StartupError that explains the usage. */
export function readClientArguments(args: string[]): ClientCommand {
  const { command, id, rest, role, redirectUris, isPublic } = parse(args);
  if (rest || (command === 'list') !== (id === undefined)) throw new StartupError(usage);
  switch (command) {
    case 'add': {
      if (role !== undefined && !isGivenRole(role))
        throw new StartupError(`--role must be admin, operator or user.\n${usage}`);
      const wanted = { id: id ?? '', role: role ?? null, redirectUris, isPublic };
      return (db, keyedHash) => addClient(db, keyedHash, wanted);
    }
    case 'remove':
      return (db) => removeClient(db, id ?? '');
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
    return {
      ...{ command, id, rest: more.length > 0 },
      role: values.role,
      redirectUris: values['redirect-uri'],
      isPublic: values.public,
    };
  } catch (error) {
    throw new StartupError(`${(error as Error).message}\n${usage}`);
  }
}
