import { parseArgs } from 'node:util';
import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import { type Findings, verifyFolder } from '#lib/evidence/verify-folder.ts';

// `npm run verify -- <folder> [--keys <file>] [--checkpoints <file>]`: verifies exported evidence offline
// (docs/evidence.md). Exits with 0, with 1 and the first fault, or with 2 if it was called wrongly.
const usage = 'Usage: npm run verify -- <folder> [--keys <file>] [--checkpoints <file>]';

/** Arguments of the program. */
interface Given {
  folder: string;
  keysFile: string | undefined;
  checkpointsFile: string | undefined;
}

const given = readArguments();
if (given) await run(given);
else {
  process.stderr.write(`${usage}\n`);
  process.exitCode = 2;
}

function readArguments(): Given | undefined {
  try {
    const { values, positionals } = parseArgs({
      options: { keys: { type: 'string' }, checkpoints: { type: 'string' } },
      allowPositionals: true,
    });
    const [folder, ...rest] = positionals;
    if (folder === undefined || rest.length > 0) return undefined;
    return { folder, keysFile: values.keys, checkpointsFile: values.checkpoints };
  } catch {
    return undefined;
  }
}

async function run({ folder, ...files }: Given): Promise<void> {
  try {
    process.stdout.write(describe(await verifyFolder(folder, files)));
  } catch (error) {
    const isUsage = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!(error instanceof EvidenceFault) && !isUsage) throw error;
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = isUsage ? 2 : 1;
  }
}

function describe({ checkpoints, logs, receipts }: Findings): string {
  return [
    `${checkpoints} checkpoints have valid signatures.`,
    ...Object.entries(logs).map(
      ([area, { lines, covered, blanked }]) =>
        `${area}: ${covered} lines are as they were signed, of ${blanked} of them only the hash is left; ${lines - covered} lines come after the newest checkpoint.`,
    ),
    `${receipts.proved} receipts are as they were logged; ${receipts.erased} were erased, ${receipts.notGiven} are not in the folder.`,
    ...(receipts.notLogged > 0
      ? [`${receipts.notLogged} receipts are signed, and not in the lines of this folder.`]
      : []),
    '',
  ].join('\n');
}
