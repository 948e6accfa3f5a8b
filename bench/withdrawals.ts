import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { accordSettings, prepareFolder } from './prepare-folder.ts';
import { watchStolen } from './process-usage.ts';
import { percentile } from './run-phase.ts';
import { startServer } from './start-server.ts';

// How long a withdrawal takes from the request of the person to every healthy endpoint, while another
// endpoint accepts connections and answers nothing. Withdrawals begin at an even rate. It asserts nothing.

const { values: options } = parseArgs({
  options: {
    withdrawals: { type: 'string', default: '1000' },
    'per-second': { type: 'string', default: '20' },
    endpoints: { type: 'string', default: '3' },
    output: { type: 'string', default: fileURLToPath(new URL('results-withdrawals.md', import.meta.url)) },
  },
});
const withdrawals = Number(options.withdrawals);
const rate = Number(options['per-second']);
const healthy = Number(options.endpoints);
/** A message that has not arrived so long after the last withdrawal is missing. */
const patienceMs = 30_000;
const letter = 'element/processing/processing.001/1.0';

/** An organisation that is told. */
interface Endpoint {
  url: string;
  /** When it was told, by transaction. */
  told: Map<string, number>;
  close(): void;
}

const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const parts: { stop(): Promise<unknown> }[] = [];
try {
  const { dataDir, key } = await prepareFolder(path.join(folder, 'accord'), 1);
  const settings = {
    ...accordSettings(dataDir),
    LOG_LEVEL: 'error',
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
  };
  const server = await startServer('services/standalone.ts', settings);
  parts.push(server);
  const client = createHttpClient({ port: server.port, connections: 16 });
  parts.push({ stop: async () => client.close() });
  const endpoints = await Promise.all(Array.from({ length: healthy }, () => startEndpoint(true)));
  const silent = await startEndpoint(false);
  for (const { close } of [...endpoints, silent]) parts.push({ stop: async () => close() });
  for (const [index, { url }] of [...endpoints, silent].entries())
    await addWebhook(client, key, { url, recipient: `Organisation ${index}` });
  const given: string[] = [];
  for (let person = 0; person < withdrawals; person += 1) given.push(await consent(client, key, person));
  const stolen = watchStolen();
  const clicked = await withdrawAll(client, key, given);
  await waitForAll(endpoints, clicked.size);
  const report = writeReport(clicked, endpoints, stolen());
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  for (const part of parts.reverse()) await part.stop();
  await rm(folder, { recursive: true, force: true });
}

/** @param answers whether it answers; otherwise it accepts connections alone. */
async function startEndpoint(answers: boolean): Promise<Endpoint> {
  const told = new Map<string, number>();
  const server = createServer(async (request, response) => {
    if (!answers) return;
    let body = '';
    for await (const chunk of request) body += chunk;
    const { subject } = JSON.parse(body) as { subject: string };
    if (!told.has(subject)) told.set(subject, performance.now());
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, told, close };
}

async function send(client: HttpClient, key: string, to: string, body: object) {
  const headers = { CM_KEY: key, 'Content-Type': 'application/json' };
  const reply = await client.post(to, headers, JSON.stringify(body));
  if (reply.status !== 201) throw new Error(`POST ${to} was answered with ${reply.status}: ${reply.body}`);
  return JSON.parse(reply.body) as { id: string };
}

async function addWebhook(
  client: HttpClient,
  key: string,
  { url, recipient }: { url: string; recipient: string },
) {
  const body = { name: recipient, targetUrl: url, subscribedActions: ['consent.withdrawn'], recipient };
  await send(client, key, '/webhooks', body);
}

/** @returns the id of the transaction. */
async function consent(client: HttpClient, key: string, person: number): Promise<string> {
  const context = { subject: `withdrawing-${person}`, layoutData: { elements: ['processing.001'] } };
  const { id } = await send(client, key, '/consents/singlestep', {
    context,
    values: { [letter]: ['accepted'] },
  });
  return id;
}

/** @returns when each withdrawal was requested, by its transaction. */
async function withdrawAll(client: HttpClient, key: string, given: readonly string[]) {
  const clicked = new Map<string, number>();
  const started = performance.now();
  const sent: Promise<unknown>[] = [];
  for (const [index, id] of given.entries()) {
    await pause(Math.max(0, started + (index / rate) * 1000 - performance.now()));
    const at = performance.now();
    sent.push(send(client, key, `/consents/${id}/withdraw`, {}).then((made) => clicked.set(made.id, at)));
  }
  await Promise.all(sent);
  return clicked;
}

async function waitForAll(endpoints: readonly Endpoint[], count: number): Promise<void> {
  const isDone = () => endpoints.every(({ told }) => told.size >= count);
  for (let waited = 0; !isDone() && waited < patienceMs; waited += 50) await pause(50);
}

function writeReport(
  clicked: ReadonlyMap<string, number>,
  endpoints: readonly Endpoint[],
  stolen: number | undefined,
): string {
  // Until the last of the healthy endpoints is told.
  const times = [...clicked].flatMap(([id, at]) => {
    const last = Math.max(...endpoints.map(({ told }) => told.get(id) ?? Number.NaN));
    return Number.isNaN(last) ? [] : [last - at];
  });
  const ms = (share: number) => `${percentile(times, share).toFixed(0)} ms`;
  const host = stolen === undefined ? '' : `; the host took ${(stolen * 100).toFixed(1)} % of the processors`;
  return `# From a withdrawal to every endpoint

\`npm run bench:withdrawals\`: ${clicked.size} withdrawals, ${rate} a second, in one process with an embedded PostgreSQL and an event bus
of its own; ${endpoints.length} endpoints that answer at once, and one that accepts connections and answers nothing${host}.

| From the request to the last healthy endpoint | |
|---|---:|
| p50 | ${ms(0.5)} |
| p99 | ${ms(0.99)} |
| slowest | ${ms(1)} |
| withdrawals of which an endpoint was not told | ${clicked.size - times.length} |
`;
}
