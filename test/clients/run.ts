import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { clients } from './clients.ts';
import { type Result, tryClient } from './try-client.ts';

// `npm run test:clients`: makes clients of the contract with the generators that people use, compiles
// them, and lets each, and accord-client in each runtime, create, answer, read and withdraw a consent.
const { values: options } = parseArgs({
  options: {
    /** Names of clients; default: all. */
    client: { type: 'string', multiple: true },
    /** Writes the table into docs/clients.md. */
    write: { type: 'boolean', default: false },
    /** Leaves the folder with the clients. */
    keep: { type: 'boolean', default: false },
  },
});
const page = path.join(import.meta.dirname, '..', '..', 'docs', 'clients.md');

const unknown = options.client?.find((name) => !clients.some((client) => client.name === name));
if (unknown) throw new Error(`There is no client ${unknown}: ${clients.map(({ name }) => name).join(', ')}`);

const folder = await mkdtemp(path.join(tmpdir(), 'accord-clients-'));
// PostgreSQL may run as another user.
await chmod(folder, 0o755);
const data = path.join(folder, 'data');
// What was started ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const accord = startStandalone({ DATA_DIR: data });
try {
  const url = await accord.ready;
  const results: Result[] = [];
  for (const client of clients.filter(({ name }) => options.client?.includes(name) ?? true)) {
    say(`${client.name} ${client.version}`);
    const result = await tryClient(client, url, folder);
    say(`  ${result.said}`);
    results.push(result);
  }
  const table = tableOf(results);
  process.stdout.write(`\n${table}\n`);
  if (options.write) await writePage(table);
  if (results.some(({ isFailed }) => isFailed)) process.exitCode = 1;
} finally {
  await accord.stop();
  if (options.keep) say(`the clients are in ${folder}`);
  else await rm(folder, { recursive: true, force: true });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function tableOf(results: readonly Result[]): string {
  const rows = results.map(({ name, version, outcome }) => `| ${name} | ${version} | ${outcome} |`);
  return ['| Client | Version | Generated, compiled and run |', '|---|---|---|', ...rows].join('\n');
}

async function writePage(table: string): Promise<void> {
  const text = await readFile(page, 'utf8');
  await writeFile(
    page,
    text.replace(/^\| Client \|.*?(?=\n\n)/ms, () => table),
  );
}
