import { StartupError } from '#lib/errors/fail.ts';
import { RefusedError } from '#lib/models/models-api.ts';
import { readTarget } from '#lib/moving/access.ts';
import { exportFolder } from '#lib/moving/export-folder.ts';
import { createInstanceClient } from '#lib/moving/instance-client.ts';

// `npm run export -- <folder>`: writes the answers, receipts and models of the instance ACCORD_URL, its audit
// logs and their checkpoints into a new folder, or goes on where it was stopped. It signs in as `npm run
// import` does (docs/evidence.md, "Export").
try {
  const [folder, ...rest] = process.argv.slice(2);
  if (folder === undefined || rest.length > 0) throw new StartupError('Usage: npm run export -- <folder>');
  const source = createInstanceClient(readTarget(process.env));
  const { lines, receipts, missing, others } = await exportFolder({ source, folder });
  process.stdout.write(
    `${folder} has ${lines} lines, ${receipts} receipts and ${others} other transactions.\n`,
  );
  if (missing > 0)
    process.stderr.write(
      `${missing} logged receipts are missing and were not erased; verify names the first.\n`,
    );
} catch (error) {
  if (!(error instanceof StartupError || error instanceof RefusedError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
