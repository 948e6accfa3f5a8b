import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type CoverageProbe, inspectorOptions, startCoverage } from './coverage.ts';
import type { HttpClient } from './http-client.ts';
import { drained } from './peers-latency.ts';
import { askBoth, askOwn, type Organisation, pair, startOrganisation } from './peers-world.ts';
import { type Questions, runFlow } from './run-flow.ts';
import { startPostgres } from './start-postgres.ts';

// `npm run bench:files` prints how many files of lib/ and services/ a warm submission executes, and a part of
// a peer at both ends: how much code somebody has to open to follow one. `-- --list` names them.

const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
const warmUps = 5;
const measured = 5;
const stops: (() => unknown)[] = [];

try {
  await measure();
} finally {
  for (const stop of stops.reverse()) await stop();
}

async function measure(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
  // As root, PostgreSQL runs as a user who must be able to enter.
  await chmod(folder, 0o755);
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const postgres = await startPostgres();
  stops.push(postgres.stop);
  const start = async (name: string) => {
    const { port, NODE_OPTIONS } = await inspectorOptions();
    const organisation = await startOrganisation({ postgres, folder }, name, { NODE_OPTIONS });
    stops.push(organisation.stop);
    return { organisation, inspector: port };
  };
  const leader = await start('hospital');
  const owner = await start('laboratory');
  await pair(leader.organisation, owner.organisation);
  const probes = [await startCoverage(leader.inspector), await startCoverage(owner.inspector)] as const;
  stops.push(...probes.map((probe) => probe.stop));

  const allDone = async () => void (await drained(postgres, leader.organisation, 60_000));
  /** The events of the transaction's creation are applied before its answers are sent. */
  const eventsApplied = async () => {
    const unsent = 'SELECT 1 FROM transactions.outbox';
    while ((await postgres.run(leader.organisation.name, unsent)).length > 0) await wait(50);
    await wait(200);
  };
  const waits = { eventsApplied, allDone: async () => {} };
  const own = await submit(leader.organisation, askOwn(leader.organisation), probes, waits);
  report('A submission, until its answer', own.leader, []);
  const both = askBoth(leader.organisation, owner.organisation);
  const part = await submit(leader.organisation, both, probes, { eventsApplied, allDone });
  report('A submission with a part for a peer, until the leader knows the verdict', part.leader, part.owner);
}

/**
 * Submits a form {@link warmUps} times, and {@link measured} times more. @param waits.allDone resolves when
 * everything is done that follows from a submission.
 * @returns the files that ran from a submission until then: the fewest, as background jobs may run too.
 */
async function submit(
  { client, key }: Organisation,
  questions: Questions,
  [leader, owner]: readonly [CoverageProbe, CoverageProbe],
  { eventsApplied, allDone }: Record<'eventsApplied' | 'allDone', () => Promise<void>>,
): Promise<{ leader: string[]; owner: string[] }> {
  const ran: { leader: string[]; owner: string[] }[] = [];
  const watched: HttpClient = {
    ...client,
    async post(path, headers, body) {
      if (!path.includes('/submit')) return client.post(path, headers, body);
      await eventsApplied();
      await Promise.all([leader.take(), owner.take()]);
      const reply = await client.post(path, headers, body);
      await allDone();
      ran.push({ leader: await leader.take(), owner: await owner.take() });
      return reply;
    },
  };
  for (let order = 0; order < warmUps + measured; order += 1) {
    const subject = `files-${Object.keys(questions.layout).join()}-${order}`;
    await runFlow({ client: watched, key, questions }, { subject, order }, () => {});
  }
  const sizeOf = (files: (typeof ran)[number]) => new Set([...files.leader, ...files.owner]).size;
  const [fewest] = ran.slice(warmUps).sort((one, other) => sizeOf(one) - sizeOf(other));
  return fewest as (typeof ran)[number];
}

function report(title: string, leader: string[], owner: string[]): void {
  const all = [...new Set([...leader, ...owner])].sort();
  const ends = owner.length > 0 ? ` (${leader.length} at the leader, ${owner.length} at the owner)` : '';
  process.stdout.write(`${title}: ${all.length} files${ends}\n`);
  if (options.list) process.stdout.write(`${all.map((file) => `  ${file}\n`).join('')}`);
}
