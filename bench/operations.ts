import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Operation, operations, prepare, sendPrepared } from '../test/security/authorisation/cells.ts';
import type { Credential } from '../test/security/authorisation/credentials.ts';
import { createResources, type Resources } from '../test/security/authorisation/resources.ts';
import { type Caller, signIn } from '../test/support/instances/callers.ts';
import type { TestInstance } from '../test/support/instances/instance.ts';
import { lightFetch } from '../test/support/network/light-fetch.ts';
import { fillTables } from './fill-tables.ts';
import { type OperationTimes, writeOperationsReport } from './operations-report.ts';
import { measureUpkeep } from './operations-upkeep.ts';
import { seedDatabase } from './prepare-databases.ts';
import { type BenchPostgres, startPostgres } from './start-postgres.ts';
import { type ServerProcess, startServer } from './start-server.ts';

// What every operation of the contract takes beside few and beside many records, one request at a time, and
// what an index, a migration and a copy of that many take. It asserts nothing: figures are for reading.

const { values: options } = parseArgs({
  options: {
    few: { type: 'string', default: '100000' },
    many: { type: 'string', default: '10000000' },
    requests: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    output: { type: 'string', default: fileURLToPath(new URL('results-operations.md', import.meta.url)) },
  },
});
const [requests, rounds] = [options.requests, options.rounds].map(Number) as [number, number];
/** Longer than this an operation is asked for a single time. */
const patienceMs = 2_000;

/** With its transaction, its part of a receipt and the indexes. */
const bytesPerRecord = 4_000;

/** Operations whose answer is everything there is: what they take for each row is in results-import.md. */
const whole = new Set(['exportRecords']);

interface Contestant {
  records: number;
  server: ServerProcess;
  instance: TestInstance;
  resources: Resources;
  callers: Map<'admin' | 'operator', Caller>;
}

const parts: { stop(): Promise<unknown> }[] = [];
function keep<T extends { stop(): Promise<unknown> }>(part: T): T {
  parts.push(part);
  return part;
}

try {
  const report = await measure();
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  for (const part of parts.reverse()) await part.stop();
}

async function measure(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-operations-'));
  keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const postgres = keep(await startPostgres({}, Number(options.many) * bytesPerRecord));
  const seed = await postgres.createDatabase('seed');
  await seedDatabase({ url: seed, folder, secretsDir: path.join(folder, 'secrets') });
  const contestants: Contestant[] = [];
  for (const records of [Number(options.few), Number(options.many)]) {
    const started = performance.now();
    contestants.push(await enter(postgres, records, folder));
    say(`${records} records written and served after ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  const loadBefore = loadavg()[0] ?? 0;
  const times: OperationTimes[] = [];
  for (const operation of operations.filter(isWanted)) {
    const measured = await compare(operation, contestants);
    times.push(measured);
    say(`${operation.operationId}: ${measured.ms.map((ms) => ms?.toFixed(1)).join(' and ')} ms`);
  }
  for (const { server } of contestants) await server.stop();
  const upkeep = await measureUpkeep(postgres, `operations_${options.many}`);
  return writeOperationsReport({
    sizes: contestants.map(({ records }) => records),
    times,
    upkeep,
    whole: [...whole],
    loads: [loadBefore, loadavg()[0] ?? 0],
    command: ['npm run bench -- operations', ...process.argv.slice(2)].join(' '),
    requests: requests * rounds,
  });
}

function isWanted({ operationId }: Operation): boolean {
  return !whole.has(operationId) && (options.only === '' || options.only.split(',').includes(operationId));
}

/** An instance beside so many records, and things to ask it for. */
async function enter(postgres: BenchPostgres, records: number, folder: string): Promise<Contestant> {
  const database = `operations_${records}`;
  const url = await postgres.createDatabase(database, 'seed');
  await fillTables(postgres.adminUrl(database), records, true);
  const server = keep(
    await startServer('services/standalone.ts', {
      DATABASE_URL: url,
      DATA_DIR: folder,
      SECRETS_DIR: path.join(folder, 'secrets'),
      PORT: '0',
      RATE_LIMITS: 'off',
      MAX_IN_FLIGHT: '0',
      MAX_EVENT_LOOP_DELAY: '0',
      LOG_LEVEL: 'error',
      STOP_DELAY: '0',
      ALLOW_PRIVATE_ADDRESSES: 'true',
    }),
  );
  const base = `http://localhost:${server.port}`;
  const instance = {
    url: base,
    fetch: (address: string, init: RequestInit = {}) => lightFetch(new URL(address, base), init),
  } as TestInstance;
  const callers: Contestant['callers'] = new Map();
  const resources = await createResources(instance, async (_, name) => {
    const caller = await signIn(instance, name);
    if (name === 'admin' || name === 'operator') callers.set(name, caller);
    return caller;
  });
  keep({ stop: () => resources.partner.close() });
  return { records, server, instance, resources, callers };
}

/** The medians of one operation beside each number of records, asked for in turn. */
async function compare(operation: Operation, contestants: readonly Contestant[]): Promise<OperationTimes> {
  const taken: number[][] = contestants.map(() => []);
  const faults: string[] = [];
  for (let round = 0; round <= rounds; round += 1)
    for (const [index, contestant] of contestants.entries()) {
      const { times, fault } = await ask(operation, contestant);
      // The first round warms caches up.
      if (round > 0 || (times[0] ?? 0) > patienceMs) taken[index]?.push(...times);
      if (fault) faults.push(fault);
    }
  const { operationId, path: where, method } = operation;
  return { operationId, path: where, method, ms: taken.map(median), fault: faults[0] };
}

/** Makes requests first, and then sends them one after the other. @returns milliseconds of each. */
async function ask(
  operation: Operation,
  { instance, resources, callers }: Contestant,
): Promise<{ times: number[]; fault?: string }> {
  // Tokens are short-lived.
  for (const [name, caller] of callers) Object.assign(caller.headers, (await signIn(instance, name)).headers);
  const { headers = {} } = callers.get('admin') ?? {};
  const credential: Credential = { name: 'an admin', roles: ['admin', 'operator', 'user'], headers };
  const prepared = [];
  for (let made = 0; made < requests; made += 1)
    prepared.push(await prepare({ operation, credential, relation: relationOf(operation) }, resources));
  const times: number[] = [];
  let fault: string | undefined;
  for (const request of prepared) {
    const started = performance.now();
    const response = await sendPrepared(instance, request);
    await response.arrayBuffer();
    times.push(performance.now() - started);
    if (response.status >= 400 && response.status !== (operation.recipe.letIn ?? 409))
      fault = `${response.status}`;
    if ((times.at(-1) ?? 0) > patienceMs) break;
  }
  return { times, fault };
}

function relationOf({ recipe }: Operation) {
  return recipe.relations[0] ?? 'own';
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
