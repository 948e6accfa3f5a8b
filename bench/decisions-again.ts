import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createHttpClient } from './http-client.ts';
import { accordSettings, prepareFolder } from './prepare-folder.ts';
import { startServer } from './start-server.ts';

// Whether a decision is repeated: pollers ask while persons change their answers; afterwards each decision
// is asked for again, by its position and by its time alone. Prints how many differ; it fails if any does by
// its position.

const { values: options } = parseArgs({
  options: {
    pollers: { type: 'string', default: '1000' },
    changes: { type: 'string', default: '1000' },
    persons: { type: 'string', default: '100' },
    connections: { type: 'string', default: '64' },
  },
});
const [pollers, changes, persons, connections] = [
  options.pollers,
  options.changes,
  options.persons,
  options.connections,
].map(Number) as [number, number, number, number];

type Decision = components['schemas']['ElementDecision'];
const element = 'processing.001';
const letter = `element/processing/${element}/1.0`;

const folder = await mkdtemp(path.join(tmpdir(), 'accord-again-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const { dataDir, key } = await prepareFolder(path.join(folder, 'data'), 1);
const server = await startServer('services/standalone.ts', accordSettings(dataDir));
const client = createHttpClient({ port: server.port, connections });
/** Changes do not wait behind a thousand pollers. */
const changing = createHttpClient({ port: server.port, connections: 16 });

async function send<Body>(url: string, body: object, from = client): Promise<Body> {
  const headers = { CM_KEY: key, 'Content-Type': 'application/json' };
  for (;;) {
    const reply = await from.post(url, headers, JSON.stringify(body));
    // A busy instance, or another request of this person at the same moment: again.
    if (reply.status === 503) continue;
    if (reply.status >= 400 && reply.status !== 409) throw new Error(`${url}: ${reply.status} ${reply.body}`);
    return JSON.parse(reply.body) as Body;
  }
}

async function decide(subject: string, question: object = {}): Promise<Decision> {
  const body = { subject, questions: [{ element, ...question }] };
  const { decisions } = await send<{ decisions: Decision[] }>('/decisions', body);
  return decisions[0] as Decision;
}

/** An answer, or a withdrawal every third time. */
async function change(number: number): Promise<void> {
  const subject = `person-${(number * 7919) % persons}`;
  if (number % 3 === 2) return void (await send('/choices/withdraw', { subject }, changing));
  const context = { subject, layoutData: { elements: [element] }, attributes: { change: String(number) } };
  const value = number % 7 === 0 ? 'refused' : 'accepted';
  await send('/consents/singlestep', { context, values: { [letter]: [value] } }, changing);
}

const given: { subject: string; decision: Decision }[] = [];
let isChanging = true;

async function poll(number: number): Promise<void> {
  const subject = `person-${number % persons}`;
  do given.push({ subject, decision: await decide(subject) });
  while (isChanging);
}

async function changeAll(): Promise<void> {
  let next = 0;
  const walk = async () => {
    while (next < changes) {
      next += 1;
      await change(next);
    }
  };
  await Promise.all(Array.from({ length: 16 }, walk));
  isChanging = false;
}

/** How many of the decisions differ if they are asked for again with these members. */
async function countDifferences(membersOf: (decision: Decision) => object): Promise<number> {
  let differences = 0;
  let next = 0;
  const walk = async () => {
    for (let each = given[next++]; each; each = given[next++]) {
      const { reason, record } = each.decision;
      const again = await decide(each.subject, membersOf(each.decision));
      if (again.reason !== reason || again.record !== record) differences += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, walk));
  return differences;
}

try {
  await Promise.all([changeAll(), ...Array.from({ length: pollers }, (_, number) => poll(number))]);
  const byPosition = await countDifferences(({ asOf, position }) => ({ asOf, position }));
  const byTime = await countDifferences(({ asOf }) => ({ asOf }));
  if (byPosition > 0) process.exitCode = 1;
  const reasons = Object.entries(Object.groupBy(given, ({ decision }) => decision.reason ?? 'none'));
  process.stdout.write(
    `${given.length} decisions of ${pollers} pollers during ${changes} changes of ${persons} persons ` +
      `(${reasons.map(([reason, of]) => `${reason} ${of?.length}`).join(', ')}); ` +
      `asked again they differ: by position ${byPosition}, by time ${byTime}\n`,
  );
} finally {
  client.close();
  changing.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
