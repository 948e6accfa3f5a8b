import { str } from 'envalid';
import { databaseUrl } from '#lib/config/address-validators.ts';
import { databaseLogin, readDatabasePassword } from '#lib/config/secret-files.ts';
import { readSettings } from '#lib/config/settings.ts';
import { logLevel } from '#lib/config/validators.ts';
import { migrate } from '#lib/db/migrate.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { definitions } from './definitions.ts';

// `npm run migrate`: migrates every schema as the owner of the database and creates the services' roles.
// Idempotent; run it before the services of a new release start.
try {
  const settings = readSettings(process.env, {
    DATABASE_URL: databaseUrl(),
    SECRETS_DIR: str({ default: undefined }),
    LOG_LEVEL: logLevel({ default: 'info' }),
  });
  await migrateAll(settings.DATABASE_URL, settings.SECRETS_DIR, settings.LOG_LEVEL);
  process.stdout.write('Every schema is up to date.\n');
} catch (error) {
  const message = error instanceof StartupError ? error.message : (error as Error).stack;
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

async function migrateAll(url: string, secretsDir: string | undefined, level: string): Promise<void> {
  const passwords = new Map<string, string | undefined>();
  for (const { name } of definitions)
    passwords.set(name, secretsDir ? await readDatabasePassword(secretsDir, name) : undefined);
  await migrate({
    url: await databaseLogin(url, { user: 'accord', name: 'owner', secretsDir }),
    schemas: definitions,
    roles: { passwordOf: (schema) => passwords.get(schema) },
    log: createLogger({ level }),
  });
}
