import { findBinaries } from '#lib/db/embedded/binaries.ts';
import { openCluster } from '#lib/db/embedded/create-cluster.ts';
import { openDataFolder } from '#lib/db/embedded/data-folder.ts';
import { explainFileError } from '#lib/db/embedded/explain-file-error.ts';
import { lockFolder } from '#lib/db/embedded/folder-lock.ts';
import { runServer } from '#lib/db/embedded/run-server.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** The PostgreSQL of a process that was given none. */
export interface EmbeddedPostgres {
  /** For an owner of the database who is no superuser. Holds the password: never to be logged. */
  connectionString: string;
  /** The data folder, absolute; as root it may be another than the default (architecture.md). */
  dataDir: string;
  /** Stops PostgreSQL and gives the folder free. */
  stop(): Promise<void>;
}

/**
 * Starts a real PostgreSQL with full durability on the data folder, which it makes at the first start and holds for this
 * process alone.
 * @param named whether the user chose the folder (DATA_DIR was set): then no other is ever used.
 * @param rootDataDir what root gets instead of a default folder that PostgreSQL's user cannot reach.
 * @throws StartupError with one sentence, whatever is wrong.
 */
export async function startEmbeddedPostgres({
  dataDir,
  named,
  log,
  rootDataDir = '/var/lib/accord',
}: {
  dataDir: string;
  named: boolean;
  rootDataDir?: string;
  log: Logger;
}): Promise<EmbeddedPostgres> {
  const folder = await openDataFolder({ dataDir, named, rootDataDir, log });
  const lock = lockFolder(folder.path);
  try {
    const binaries = await findBinaries({ account: folder.account, copyTo: folder.path });
    const cluster = await openCluster(folder, binaries);
    const server = await runServer({ folder, binaries, cluster, log });
    return {
      connectionString: server.url,
      dataDir: folder.path,
      async stop() {
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw explainFileError(error, folder.path);
  }
}
