import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';

/**
 * Reads the entries of a secret, one per line; undefined if it has no file. @throws StartupError if it cannot
 * be read.
 */
export async function readSecretFile(folder: string, file: string): Promise<string[] | undefined> {
  try {
    const text = await readFile(path.join(folder, file), 'utf8');
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new StartupError(`The secret ${path.join(folder, file)} cannot be read (${code}).`, {
      cause: error,
    });
  }
}

/**
 * Whether accounts besides the one of this process have any right to the file of a secret (its mode is wider
 * than 0600). The group may read a file of another owner: this process can read it only as a member of the
 * group, as Kubernetes mounts Secrets.
 */
export async function isOpenToOthers(folder: string, file: string): Promise<boolean> {
  const { mode, uid } = await stat(path.join(folder, file));
  return (mode & (uid === process.getuid?.() ? 0o077 : 0o037)) !== 0;
}

/**
 * Writes a secret that has no file yet, with mode 0600. The file appears atomically. If two processes start
 * at once, both use the first file: `link` fails where `rename` would replace.
 * @returns the entries of the file.
 */
export async function createSecretFile(folder: string, file: string, entry: string): Promise<string[]> {
  const target = path.join(folder, file);
  const draft = `${target}.${randomUUID()}.new`;
  try {
    if (await mkdir(folder, { recursive: true, mode: 0o700 })) await chmod(folder, 0o700);
    await writeDurably(draft, `${entry}\n`);
    await link(draft, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await unlink(draft);
    await syncFolder(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartupError(`The secret ${target} (SECRETS_DIR) cannot be written (${code}).`, {
      cause: error,
    });
  }
  return (await readSecretFile(folder, file)) ?? [];
}

/** Replaces all entries of a secret atomically, with mode 0600. */
export async function replaceSecretFile(
  folder: string,
  file: string,
  entries: readonly string[],
): Promise<void> {
  const target = path.join(folder, file);
  const draft = `${target}.${randomUUID()}.new`;
  try {
    await writeDurably(draft, `${entries.join('\n')}\n`);
    await rename(draft, target);
    await syncFolder(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartupError(`The secret ${target} cannot be written (${code}).`, { cause: error });
  }
}

async function writeDurably(file: string, content: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

interface Login {
  /** Signs in unless the URL names a user. */
  user: string;
  /** Of the secret: the service, or `owner`. */
  name: string;
  secretsDir: string | undefined;
}

/**
 * Completes DATABASE_URL with the user and the password of the secret file `database-<name>`. One URL then
 * serves all services, and no password stands in an environment.
 */
export async function databaseLogin(url: string, login: Login): Promise<string> {
  return (await databaseLogins(url, login)).url;
}

/**
 * As {@link databaseLogin}.
 * @returns also the passwords in the other lines of the file. One of them is valid before or after the first
 * line becomes the password of the role.
 */
export async function databaseLogins(
  url: string,
  { user, name, secretsDir }: Login,
): Promise<{ url: string; otherPasswords: readonly string[] }> {
  const target = new URL(url);
  if (target.username === '') target.username = user;
  if (target.password !== '' || secretsDir === undefined) return { url: target.href, otherPasswords: [] };
  const [password = '', ...otherPasswords] = (await readSecretFile(secretsDir, `database-${name}`)) ?? [];
  target.password = encodeURIComponent(password);
  return { url: target.href, otherPasswords };
}

/** Reads the password of a database role; undefined if it has no file. */
export async function readDatabasePassword(secretsDir: string, name: string): Promise<string | undefined> {
  return (await readSecretFile(secretsDir, `database-${name}`))?.[0];
}

/** Completes REDIS_URL with the password of the secret `redis-password`, if it has none. */
export async function redisLogin(url: string, secretsDir: string | undefined): Promise<string> {
  const target = new URL(url);
  if (target.password !== '' || secretsDir === undefined) return url;
  const [password] = (await readSecretFile(secretsDir, 'redis-password')) ?? [];
  if (password === undefined) return url;
  target.password = encodeURIComponent(password);
  return target.href;
}
