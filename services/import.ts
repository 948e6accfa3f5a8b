import { stat } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { str, url } from 'envalid';
import { readSettings } from '#lib/config/settings.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import { readMapping } from '#lib/moving/mapping.ts';
import { type NotCarried, readExport } from '#lib/moving/read-export.ts';
import { readMapped } from '#lib/moving/read-mapped.ts';
import { readNdjson } from '#lib/moving/read-ndjson.ts';
import { type ImportCounts, sendRows } from '#lib/moving/send-rows.ts';
import type { ImportSource } from '#lib/moving/source.ts';

// `npm run import -- <file or folder> [options]`: has the instance ACCORD_URL take over answers of another
// system (docs/moving.md), with the access token ACCORD_TOKEN of an administrator, or as the program
// ACCORD_CLIENT_ID with ACCORD_CLIENT_SECRET. Exits with 0; with 2 if rows were rejected; with 1 if it cannot
// go on.
const usage = `Usage: npm run import -- <file or folder> [--from ndjson|csv|export] [--mapping <file>]
  [--rejected <file>] [--dry-run]`;
const shownRejections = 10;

try {
  await run();
} catch (error) {
  if (!(error instanceof StartupError || error instanceof EvidenceFault)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const { input, from, mapping, rejected, isDryRun } = readArguments();
  const notCarried: NotCarried = new Map();
  const source = await openSource({ input, from, mapping, notCarried });
  const target = readTarget();
  let shown = 0;
  const counts = await sendRows(target, source, {
    isDryRun,
    rejectedFile: isDryRun ? undefined : rejected,
    onProgress: (soFar) => process.stderr.write(`${say(soFar)}\n`),
    onRejected(place, why) {
      shown += 1;
      if (!isDryRun || shown <= shownRejections) process.stderr.write(`${place}: ${why}\n`);
    },
  });
  for (const [what, number] of notCarried) process.stdout.write(`Not carried: ${number} ${what}.\n`);
  process.stdout.write(`${isDryRun ? 'It would be: ' : ''}${say(counts)}\n`);
  if (counts.rejected > 0) {
    if (!isDryRun) process.stdout.write(`Correct the rejected rows in ${rejected}, and import that file.\n`);
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
        mapping: { type: 'string' },
        rejected: { type: 'string' },
        'dry-run': { type: 'boolean' },
      },
      allowPositionals: true,
    });
    const [input, ...rest] = positionals;
    if (input !== undefined && rest.length === 0)
      return {
        input,
        from: values.from,
        mapping: values.mapping,
        rejected: values.rejected ?? `${path.basename(input)}.rejected.ndjson`,
        isDryRun: values['dry-run'] === true,
      };
  } catch (cause) {
    throw new StartupError(`${(cause as Error).message}\n${usage}`, { cause });
  }
  throw new StartupError(usage);
}

interface Wanted {
  input: string;
  from: string | undefined;
  mapping: string | undefined;
  notCarried: NotCarried;
}

async function openSource({ input, from, mapping, notCarried }: Wanted): Promise<ImportSource> {
  const found = await stat(input).catch((cause: Error) => {
    throw new StartupError(`${input} cannot be read: ${cause.message}`, { cause });
  });
  const kind = from ?? (found.isDirectory() ? 'export' : mapping === undefined ? 'ndjson' : 'csv');
  if (kind === 'export') return readExport(input, notCarried);
  if (kind === 'ndjson') return readNdjson(input);
  if (kind !== 'csv') throw new StartupError(usage);
  if (mapping === undefined) throw new StartupError('A table needs --mapping (docs/moving.md, "Tables").');
  return readMapped(input, await readMapping(mapping));
}

function readTarget() {
  const settings = readSettings(process.env, {
    ACCORD_URL: url(),
    ACCORD_TOKEN: str({ default: '' }),
    ACCORD_CLIENT_ID: str({ default: '' }),
    ACCORD_CLIENT_SECRET: str({ default: '' }),
  });
  const { ACCORD_URL, ACCORD_TOKEN, ACCORD_CLIENT_ID, ACCORD_CLIENT_SECRET } = settings;
  if (ACCORD_TOKEN) return { url: ACCORD_URL, token: async () => ACCORD_TOKEN };
  if (!ACCORD_CLIENT_ID) throw new StartupError('ACCORD_TOKEN, or ACCORD_CLIENT_ID, is required.');
  let known: string | undefined;
  return {
    url: ACCORD_URL,
    async token(isExpired: boolean) {
      if (isExpired || known === undefined)
        known = await signIn(ACCORD_URL, { id: ACCORD_CLIENT_ID, secret: ACCORD_CLIENT_SECRET });
      return known;
    },
  };
}

/** OAuth 2.0, RFC 6749 §4.4. */
async function signIn(instance: string, { id, secret }: { id: string; secret: string }): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret,
  });
  const response = await fetch(new URL('/auth', instance), { method: 'POST', body }).catch((cause: Error) => {
    throw new StartupError(`${instance} does not answer: ${cause.message}`, { cause });
  });
  if (!response.ok) throw new StartupError(`The sign-in of ${id} was answered with ${response.status}.`);
  return ((await response.json()) as { access_token: string }).access_token;
}
