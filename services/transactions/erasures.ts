import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { str } from 'envalid';
import { databaseUrl } from '#lib/config/address-validators.ts';
import { databaseLogin, readDatabasePassword } from '#lib/config/secret-files.ts';
import { loadSecrets } from '#lib/config/secrets.ts';
import { readSettings } from '#lib/config/settings.ts';
import { createDatabase } from '#lib/db/database.ts';
import { findRunningPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { createPool } from '#lib/db/pool.ts';
import { roleOf } from '#lib/db/service-role.ts';
import { Failure, StartupError } from '#lib/errors/fail.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createSubjectDigest } from './erasure/erasure.ts';
import { reapplyErasures } from './erasure/reapply.ts';

// `npm run erasures -- reapply <file>`: repeats erasures after a restore (docs/erasure.md, "Backups"). On
// DATABASE_URL, else on the embedded database of DATA_DIR, while Accord is running. The file `-` is the
// standard input.

const schema = 'transactions';

try {
  const [command, file, ...more] = process.argv.slice(2);
  if (command !== 'reapply' || !file || more.length > 0)
    throw new StartupError(
      'Usage: npm run erasures -- reapply <file with the NDJSON of GET /erasures, or ->',
    );
  const content = file === '-' ? text(process.stdin) : readFile(file, 'utf8');
  const lines = await content.catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`${file} cannot be read (${error.code}).`);
  });
  const { read, found } = await reapply(lines);
  process.stdout.write(`${read} erasures read; ${found} are repeated by the running service.\n`);
} catch (error) {
  if (!(error instanceof StartupError || error instanceof Failure)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function reapply(lines: string) {
  const specs = {
    DATABASE_URL: databaseUrl({ default: undefined }),
    DATA_DIR: str({ default: './data' }),
    SECRETS_DIR: str({ default: undefined }),
  };
  const settings = readSettings(process.env, specs);
  const { DATABASE_URL, DATA_DIR, SECRETS_DIR: secretsDir } = settings;
  const given = DATABASE_URL ?? (await findRunningPostgres(DATA_DIR));
  if (!given) throw new StartupError('Set DATABASE_URL, or start Accord with this DATA_DIR first.');
  const folder = secretsDir ?? path.join(DATA_DIR, 'secrets');
  const { erasurePepper } = await loadSecrets({ folder, names: ['erasurePepper'], generate: false });
  const hasRole = (await readDatabasePassword(folder, schema)) !== undefined;
  const login = { user: roleOf(schema), name: schema, secretsDir: folder };
  const url = hasRole ? await databaseLogin(given, login) : given;
  const pool = createPool({ url, schema, log: createLogger({ level: 'error' }), max: 1 });
  try {
    return await reapplyErasures(createDatabase({ pool }), createSubjectDigest(erasurePepper), lines);
  } finally {
    await pool.end();
  }
}
