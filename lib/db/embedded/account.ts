import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The system user that PostgreSQL's processes run as, when it is not the one that Accord runs as. */
export interface Account {
  uid: number;
  gid: number;
}

/** `nobody` nearly everywhere; the number needs no entry in /etc/passwd. */
const unprivileged: Account = { uid: 65534, gid: 65534 };

/**
 * PostgreSQL refuses to run as root: then it runs as the owner of the database if there is one, else as an
 * unprivileged uid. Undefined for a normal user, who runs it as himself.
 */
export async function chooseAccount(databaseFolder: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(databaseFolder).catch(() => undefined);
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : unprivileged;
}

/**
 * How to start a process of PostgreSQL: with an empty environment, because it needs nothing of ours and our secrets may be
 * there, and from a folder that every user may enter.
 */
export function processOptions(account: Account | undefined) {
  return { cwd: '/', env: {}, ...account };
}

/** Asks the system rather than mode bits, which say nothing of ACLs and mounts. */
export async function mayEnter(account: Account | undefined, folder: string): Promise<boolean> {
  try {
    await execute('/bin/sh', ['-c', 'cd -- "$0"', folder], processOptions(account));
    return true;
  } catch {
    return false;
  }
}
