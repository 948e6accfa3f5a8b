import path from 'node:path';
import { parseArgs } from 'node:util';
import { StartupError } from '#lib/errors/fail.ts';
import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import { RefusedError } from '#lib/models/models-api.ts';
import { readTarget } from '#lib/moving/access.ts';
import { createInstanceClient } from '#lib/moving/instance-client.ts';
import { openSource, rejectedName } from '#lib/moving/open-source.ts';
import { type ImportCounts, paces, sendRows } from '#lib/moving/send-rows.ts';

// `npm run import -- <file or folder> [options]`: has the instance ACCORD_URL take over answers of another
// system (docs/moving.md), with the access token ACCORD_TOKEN of an administrator, or as the program
// ACCORD_CLIENT_ID with ACCORD_CLIENT_SECRET. Exits with 0; with 2 if rows were rejected; with 1 if it cannot
// go on.
const usage = `Usage: npm run import -- <file or folder> [--from ndjson|csv|export] [--mapping <file>]
  [--rejected <file>] [--dry-run] [--full-speed]
       npm run import -- --from interface --url <base URL> [--rejected <file>] [--dry-run]
       npm run import -- --from gics <exchange file> [<consents>…] [--language <tag>] [--rejected <file>] [--dry-run]`;
const shownRejections = 10;
const progressMs = 2_000;

try {
  await run();
} catch (error) {
  const isTold =
    error instanceof StartupError || error instanceof EvidenceFault || error instanceof RefusedError;
  if (!isTold) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const { inputs, isDryRun, ...given } = readArguments();
  const notCarried = new Map<string, number>();
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const wanted = { ...given, inputs, isDryRun, notCarried, environment: process.env, say: print };
  const source = await openSource(wanted);
  if (!source) throw new StartupError(usage);
  const rejected = given.rejected ?? rejectedName(wanted, source.rejectedHead !== undefined);
  if (inputs.some((input) => path.resolve(input) === path.resolve(rejected)))
    throw new StartupError('--rejected names the file that is read.');
  const access = readTarget(process.env);
  const target = createInstanceClient(access);
  await source.prepare?.(target);
  let shown = 0;
  let nextProgress = performance.now() + progressMs;
  const counts = await sendRows(access, source, {
    isDryRun,
    pace: given.isFast ? paces.full : paces.gentle,
    rejectedFile: isDryRun ? undefined : rejected,
    onProgress(soFar) {
      if (performance.now() < nextProgress) return;
      nextProgress = performance.now() + progressMs;
      tell(say(soFar));
    },
    onRejected(place, why) {
      shown += 1;
      // Places name what the source does; a terminal obeys control characters.
      if (!isDryRun || shown <= shownRejections) tell(`${place}: ${why}`.replaceAll(/\p{Cc}/gu, ' '));
    },
  });
  await source.finish?.(target);
  for (const [what, number] of notCarried) print(`Not carried: ${number} ${what}.`);
  if (source.closed) print(`Not carried, because no row has them: ${source.closed.join(', ')}.`);
  print(`${isDryRun ? 'It would be: ' : ''}${say(counts)}`);
  if (counts.rejected > 0) {
    if (!isDryRun) print(`Correct the rejected rows in ${rejected}, and import that file.`);
    process.exitCode = 2;
  }
}

function say({ rows, created, unchanged, rejected }: ImportCounts): string {
  const figures = [rows, created, unchanged, rejected].map((each) => each.toLocaleString('en'));
  return `${figures[0]} rows: ${figures[1]} created, ${figures[2]} unchanged, ${figures[3]} rejected.`;
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        from: { type: 'string' },
        url: { type: 'string' },
        mapping: { type: 'string' },
        language: { type: 'string' },
        rejected: { type: 'string' },
        'dry-run': { type: 'boolean' },
        'full-speed': { type: 'boolean' },
      },
      allowPositionals: true,
    });
    const {
      'dry-run': isDryRun = false,
      'full-speed': isFast = false,
      from,
      url,
      mapping,
      language,
      rejected,
    } = values;
    return { inputs: positionals, from, url, mapping, language, rejected, isDryRun, isFast };
  } catch (cause) {
    throw new StartupError(`${(cause as Error).message}\n${usage}`, { cause });
  }
}
