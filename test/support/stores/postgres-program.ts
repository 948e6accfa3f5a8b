import { startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { runProcess } from '#lib/runtime/run-process.ts';

/**
 * A process that holds the embedded PostgreSQL as standalone does: `postgres-program.ts <data folder>
 * named|default <root's folder>`.
 */
const [dataDir = '', named, rootDataDir] = process.argv.slice(2);

await runProcess(async () => {
  const postgres = await startEmbeddedPostgres({
    dataDir,
    named: named === 'named',
    rootDataDir,
    log: createLogger(),
  });
  const { connectionString, dataDir: used } = postgres;
  process.stdout.write(`${JSON.stringify({ url: connectionString, dataDir: used, pid: process.pid })}\n`);
  return postgres;
});
