import { parseArgs } from 'node:util';
import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import { type Findings, type VerifyOptions, verifyFolder } from '#lib/evidence/verify-folder.ts';

// `npm run verify -- <folder> [options]`: verifies exported evidence offline (docs/evidence.md). Exits with
// 0, with 1 and the first fault, or with 2 if it was called wrongly.
const usage = `Usage: npm run verify -- <folder> [--keys <file>] [--thumbprint <thumbprint>]...
  [--checkpoints <file>] [--retention <period, such as P2Y>] [--without-receipts]
  [--witnesses <number>] [--witness <key>]...`;

interface Given extends VerifyOptions {
  folder: string;
}

const given = readArguments();
if (given) await run(given);
else {
  process.stderr.write(`${usage}\n`);
  process.exitCode = 2;
}

/** One thumbprint in 64 begins with `-`; as an argument of its own it would be taken for an option. */
function joinThumbprints(args: readonly string[]): string[] {
  const isName = (place: number) => args[place] === '--thumbprint' && place + 1 < args.length;
  return args.flatMap((arg, place) =>
    isName(place) ? `${arg}=${args[place + 1]}` : isName(place - 1) ? [] : arg,
  );
}

function readArguments(): Given | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: joinThumbprints(process.argv.slice(2)),
      options: {
        keys: { type: 'string' },
        thumbprint: { type: 'string', multiple: true },
        checkpoints: { type: 'string' },
        retention: { type: 'string' },
        'without-receipts': { type: 'boolean' },
        witnesses: { type: 'string' },
        witness: { type: 'string', multiple: true },
      },
      allowPositionals: true,
    });
    const [folder, ...rest] = positionals;
    const { keys, thumbprint, checkpoints, retention, witnesses, witness } = values;
    if (witnesses !== undefined && !/^\d{1,3}$/.test(witnesses)) return undefined;
    if (folder === undefined || rest.length > 0) return undefined;
    if (retention !== undefined && !/^P(?=\d)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?$/.test(retention)) return undefined;
    return {
      folder,
      keysFile: keys,
      thumbprints: thumbprint,
      checkpointsFile: checkpoints,
      retention,
      withoutReceipts: values['without-receipts'],
      witnesses: witnesses === undefined ? undefined : Number(witnesses),
      witnessKeys: witness,
    };
  } catch {
    return undefined;
  }
}

async function run({ folder, ...options }: Given): Promise<void> {
  try {
    process.stdout.write(describe(await verifyFolder(folder, options)));
  } catch (error) {
    const isUsage = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const isFault = error instanceof EvidenceFault || isUsage;
    process.stderr.write(
      isFault ? `${(error as Error).message}\n` : `The folder cannot be read: ${(error as Error).message}\n`,
    );
    process.exitCode = isUsage ? 2 : 1;
  }
}

function describe(findings: Findings): string {
  const { instance, keys, checkpoints, logs, receipts, models, mappings, witnesses } = findings;
  const origin = keys.areTrusted
    ? 'All keys are among those that you gave.'
    : 'The keys are of unknown origin: they are those of the folder, and who made the folder may have made them. Compare their thumbprints with those that the instance told you, or give them with --thumbprint or --keys.';
  return [
    `Evidence of ${instance}, signed with ${keys.kids.join(', ')}.`,
    origin,
    `${checkpoints} checkpoints have valid signatures.`,
    ...Object.entries(logs).map(
      ([area, { lines, blanked }]) =>
        `${area}: ${lines} lines are as they were signed, of ${blanked} of them only the hash is left.`,
    ),
    ...describeWitnesses(witnesses),
    `${receipts.proved} receipts are as they were logged; ${receipts.erased} were erased, ${receipts.notGiven} are not in the folder.`,
    ...describeOthers(findings),
    `${models} versions of models: none says something else than a receipt.`,
    `${mappings} mappings of AuthZEN are as the instance sent them.`,
    '',
  ].join('\n');
}

function describeOthers({ receipts, others }: Findings): string[] {
  const { unlogged, imported, open } = receipts;
  const origin = others.areTrusted ? 'which you gave' : 'of unknown origin';
  return [
    ...(unlogged > 0
      ? [`${unlogged} receipts are as they were signed or were erased; their lines are blanked.`]
      : []),
    ...(imported.all > 0
      ? [
          `${imported.all} transactions were taken over, ${imported.verified} of them with a receipt that states the answers.`,
        ]
      : []),
    ...(others.kids.length > 0 ? [`Those are signed with ${others.kids.join(', ')}, ${origin}.`] : []),
    ...(open > 0 ? [`${open} transactions have no answers that took effect.`] : []),
  ];
}

function describeWitnesses({ byArea, areTrusted }: Findings['witnesses']): string[] {
  const counts = Object.values(byArea);
  const fewest = Math.min(...counts);
  if (Math.max(...counts) === 0)
    return ['No witness has cosigned the newest heads: the instance alone vouches for them.'];
  const whose = areTrusted ? 'that you gave' : 'whose keys are those of the folder, of unknown origin';
  return [`The newest heads are cosigned by ${fewest} witnesses ${whose}.`];
}
