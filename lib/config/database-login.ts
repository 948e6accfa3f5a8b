import { readSecretFile } from '#lib/config/secret-files.ts';

/**
 * Completes DATABASE_URL with who signs in: a user that it does not name, and the password of the secret file
 * `database-<name>`, so that one URL serves all and no password stands in an environment.
 * @param user signs in unless the URL names somebody.
 * @param name of the secret: the service, or `owner`.
 */
export async function databaseLogin(
  url: string,
  { user, name, secretsDir }: { user: string; name: string; secretsDir: string | undefined },
): Promise<string> {
  const target = new URL(url);
  if (target.username === '') target.username = user;
  if (target.password === '' && secretsDir !== undefined)
    target.password = (await readDatabasePassword(secretsDir, name)) ?? '';
  return target.href;
}

/** The password of a database role; undefined if it has no file. */
export async function readDatabasePassword(secretsDir: string, name: string): Promise<string | undefined> {
  return (await readSecretFile(secretsDir, `database-${name}`))?.[0];
}
