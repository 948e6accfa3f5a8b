import { parseArgs } from 'node:util';
import type { Database } from '#lib/db/database.ts';
import { StartupError } from '#lib/errors/startup-error.ts';
import { addAccount, changePassword, describeAccounts, removeAccount } from '../commands/manage-accounts.ts';
import { isGivenRole } from '../domain/roles.ts';

/** A command on accounts, read from the command line. @returns what to tell the operator. */
export interface AccountCommand {
  needsPassword: boolean;
  run(db: Database, password: string): Promise<string>;
}

const usage = `Usage:
  npm run account -- add <name> --role admin|operator|user
  npm run account -- password <name>
  npm run account -- remove <name>
  npm run account -- list
The password is asked for, or read from standard input.`;

/** @throws StartupError that explains the usage. */
export function readAccountArguments(args: string[]): AccountCommand {
  const { command, name, role, rest } = parse(args);
  if (rest || (command === 'list') !== (name === undefined)) throw new StartupError(usage);
  switch (command) {
    case 'add': {
      if (!isGivenRole(role)) throw new StartupError(`--role must be admin, operator or user.\n${usage}`);
      return {
        needsPassword: true,
        run: (db, password) => addAccount(db, { name: name ?? '', role, password }),
      };
    }
    case 'password':
      return {
        needsPassword: true,
        run: (db, password) => changePassword(db, { name: name ?? '', password }),
      };
    case 'remove':
      return { needsPassword: false, run: (db) => removeAccount(db, name ?? '') };
    case 'list':
      return { needsPassword: false, run: describeAccounts };
    default:
      throw new StartupError(usage);
  }
}

function parse(args: string[]): { command?: string; name?: string; role?: string; rest: boolean } {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { role: { type: 'string' } },
    });
    const [command, name, ...more] = positionals;
    return { command, name, role: values.role, rest: more.length > 0 };
  } catch (error) {
    throw new StartupError(`${(error as Error).message}\n${usage}`);
  }
}
