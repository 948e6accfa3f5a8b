import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findProgram } from '../infrastructure/programs.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { type Client, clients } from './clients.ts';
import { createWorkshop, ProgramFailed, runProgram } from './workshop.ts';

// `npm run test:clients`: makes clients of the contract with the generators that people use, compiles
// them, and lets each create, answer, read and withdraw a consent.
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

interface Result extends Pick<Client, 'name' | 'version'> {
  /** `yes`, the step that failed, or the program that is missing. */
  outcome: string;
  isFailed: boolean;
}

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
    results.push(await tryClient(client, url));
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

async function tryClient(client: Client, url: string): Promise<Result> {
  const { name, version, needs, stages, flow } = client;
  const missing = needs.filter((program) => findProgram(program) === undefined);
  if (missing.length > 0) {
    say(`  NOT TRIED: ${missing.join(', ')} not found on PATH`);
    return {
      name,
      version,
      outcome: `not tried: no ${missing.join(', ')}`,
      isFailed: process.env.CI === 'true',
    };
  }
  const own = path.join(folder, name);
  await mkdir(own);
  let step = 'install';
  try {
    for (const [stage, make] of Object.entries(stages)) {
      step = stage;
      await make(createWorkshop(own));
    }
    step = 'run';
    await runProgram(flow, { cwd: own, env: await environmentOf(url) });
    say('  yes');
    return { name, version, outcome: 'yes', isFailed: false };
  } catch (error) {
    const said = error instanceof ProgramFailed ? error.output : '';
    step = [...said.matchAll(/^step (\w+)$/gm)].at(-1)?.[1] ?? step;
    say(`  no: ${step}: ${(error as Error).message}\n${said.slice(-4_000)}`);
    return { name, version, outcome: `no: ${step}`, isFailed: true };
  }
}

/** Tokens are valid for five minutes, so each client has its own. */
async function environmentOf(url: string): Promise<Record<string, string>> {
  const form = { grant_type: 'password', client_id: 'accord', username: 'operator', password: 'demo' };
  const response = await fetch(`${url}/auth`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return { ACCORD_URL: url, ACCORD_TOKEN: token, ACCORD_SUBJECT: `client-${crypto.randomUUID()}` };
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
