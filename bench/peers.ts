import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureBacklog } from './peers-backlog.ts';
import { measureCrypto } from './peers-crypto.ts';
import { measureForms } from './peers-forms.ts';
import { measureCpu, measureLatency, type Pair } from './peers-latency.ts';
import { type PeersResults, writePeersReport } from './peers-report.ts';
import { askBoth, askOwn, type Organisation, pair, startOrganisation } from './peers-world.ts';
import { rest } from './rest.ts';
import { startPostgres } from './start-postgres.ts';

// Forms with questions of other organisations: how soon their owners have the answers, and what that costs.
// It asserts nothing: figures are for reading.

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '30' },
    flows: { type: 'string', default: '1500' },
    rounds: { type: 'string', default: '5' },
    forms: { type: 'string', default: '4000' },
    parts: { type: 'string', default: '10000' },
    seals: { type: 'string', default: '1000' },
    concurrency: { type: 'string', default: '16' },
    output: { type: 'string', default: fileURLToPath(new URL('results-peers.md', import.meta.url)) },
  },
});
const [rounds, concurrency] = [Number(options.rounds), Number(options.concurrency)];

const parts: { stop(): Promise<unknown> }[] = [];
function keep<T extends { stop(): Promise<unknown> }>(part: T): T {
  parts.push(part);
  return part;
}

try {
  const report = writePeersReport(await measure());
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  for (const part of parts.reverse()) await part.stop();
}

async function measure(): Promise<PeersResults> {
  const loadBefore = loadavg()[0] ?? 0;
  say('sealing and signing');
  const crypto = await measureCrypto(Number(options.seals));
  say('starting three instances');
  const { hospital, laboratory, council } = await startAll();
  const forms = await measureForms(hospital.leader, [laboratory, council], {
    forms: Number(options.forms),
    rounds,
    concurrency,
  });
  // Of two peers' questions all has been measured; what follows is between two instances.
  await council.stop();
  const cpu = await compareCpu(hospital);
  const carried = Math.max(...cpu.peers.map(({ flowsPerSecond }) => flowsPerSecond));
  const wanted = Number(options.rate);
  // A machine that does not do twice the wanted rate is asked for half of what it does, too.
  const latencies: PeersResults['latencies'] = [];
  for (const rate of new Set([Math.min(wanted, Math.floor(carried / 2)), wanted])) {
    await rest();
    say(`answers to the peer at ${rate} flows per second`);
    latencies.push(
      await measureLatency(hospital, {
        questions: askBoth(hospital.leader, hospital.owner),
        rate,
        seconds: Number(options.seconds),
      }),
    );
  }
  say(`${options.parts} parts for a peer that is away`);
  const backlog = await measureBacklog(hospital, { parts: Number(options.parts), concurrency });
  return {
    crypto,
    forms,
    cpu,
    carried,
    latencies,
    backlog,
    concurrency,
    loads: [loadBefore, loadavg()[0] ?? 0],
    command: ['npm run bench:peers --', ...process.argv.slice(2)].join(' '),
  };
}

/** The hospital shows forms, the laboratory and the council own questions in them. */
async function startAll(): Promise<{ hospital: Pair; laboratory: Organisation; council: Organisation }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
  // As root, PostgreSQL runs as a user who must be able to enter.
  await chmod(folder, 0o755);
  keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const postgres = keep(await startPostgres({ track_commit_timestamp: 'on' }));
  const start = async (name: string) => keep(await startOrganisation({ postgres, folder }, name));
  const leader = await start('hospital');
  const laboratory = await start('laboratory');
  const council = await start('council');
  for (const owner of [laboratory, council]) await pair(leader, owner);
  return { hospital: { postgres, leader, owner: laboratory }, laboratory, council };
}

/**
 * The flow with two questions of its own, and with one of them its peer's. In turn, and each first as often
 * as second.
 */
async function compareCpu(hospital: Pair): Promise<PeersResults['cpu']> {
  const flows = Math.ceil(Number(options.flows) / rounds);
  const asked = { own: askOwn(hospital.leader), peers: askBoth(hospital.leader, hospital.owner) };
  const cpu: PeersResults['cpu'] = { own: [], peers: [], flowsEach: flows };
  let firstOrder = 0;
  for (let round = 0; round <= rounds; round += 1)
    for (const kind of round % 2 === 0 ? (['own', 'peers'] as const) : (['peers', 'own'] as const)) {
      const used = await measureCpu(hospital, { questions: asked[kind], flows, concurrency, firstOrder });
      firstOrder += flows;
      // The first round warms up.
      if (round > 0) cpu[kind].push(used);
      say(`round ${round} of ${rounds}, ${kind}: ${used.flowsPerSecond.toFixed(0)} flows per second`);
    }
  return cpu;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
