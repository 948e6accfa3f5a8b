import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';

/** Where the SQL of a service's schema is. */
export interface ServiceSchema {
  /** The name of the service and of its schema. */
  name: string;
  /** Tables that several services have, as `lib/db/schema/<name>.sql`, in this order before its own. */
  tables: readonly ('events' | 'inbox' | 'audit' | 'settings')[];
  /** Has `schema.sql`, and in the folder `migrations` the changes since the first release, if any. */
  folder: string;
}

/** A version of a schema. */
export interface SchemaVersion {
  /** 1 for the schema itself, then the number of the migration. */
  version: number;
  file: string;
  text: string;
  checksum: string;
}

const shared = path.join(import.meta.dirname, 'schema');

/**
 * Reads the versions of a schema: 1 is the schema itself, each later one a migration `NNNN_what.sql`,
 * numbered from 0002 without gaps. @throws StartupError if a migration is misnamed.
 */
export async function readVersions({ tables, folder }: ServiceSchema): Promise<SchemaVersion[]> {
  const own = path.join(folder, 'schema.sql');
  const texts = await Promise.all([...tables.map((name) => path.join(shared, `${name}.sql`)), own].map(read));
  const first = versionOf(1, path.basename(own), texts.join('\n'));
  const migrations = path.join(folder, 'migrations');
  const files = existsSync(migrations) ? (await readdir(migrations)).sort() : [];
  const later = files.map(async (file, index) => {
    const version = index + 2;
    const expected = `${version}`.padStart(4, '0');
    if (!/^\d{4}_[a-z0-9_-]+\.sql$/.test(file) || !file.startsWith(expected))
      throw new StartupError(`The migration ${file} is misnamed: number ${expected} was expected.`);
    return versionOf(version, file, await read(path.join(migrations, file)));
  });
  return [first, ...(await Promise.all(later))];
}

async function read(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).replaceAll('\r\n', '\n');
}

function versionOf(version: number, file: string, text: string): SchemaVersion {
  return { version, file, text, checksum: createHash('sha256').update(text).digest('hex') };
}

/** Checksums of the versions that a database has, by version. */
export type AppliedVersions = ReadonlyMap<number, string>;

interface Check {
  name: string;
  versions: readonly SchemaVersion[];
  applied: AppliedVersions;
  /** The folder of an embedded database. */
  dataDir?: string;
}

/** Checks that what has been applied is what this code has. @throws StartupError with one sentence. */
export function checkApplied({ name, versions, applied, dataDir }: Check): void {
  for (const { version, file, checksum } of versions) {
    const found = applied.get(version);
    if (found === undefined || found === checksum) continue;
    throw new StartupError(
      version === 1
        ? `The database ${dataDir ? `in ${dataDir}` : 'of DATABASE_URL'} was made by an unreleased commit of Accord and cannot be changed into today's: start with an empty one (another ${dataDir ? 'DATA_DIR' : 'DATABASE_URL'}).`
        : `The migration ${file} of ${name} was edited after it had been applied: restore it and add a new one.`,
    );
  }
}
