import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { publishAll, signIn } from './administrator.ts';
import { hospital, partners } from './organisations.ts';
import { type DemoInstance, startInstance } from './start-instance.ts';

// `npm run demo:peers`: three organisations on this machine, each with an instance of its own, and a form of
// the first one that has questions of all three. What they know is gone when it ends. PORT is the first of
// three ports (8081 by default; 0: free ones).
const firstPort = Number(process.env.PORT ?? 8081);
const folder = await mkdtemp(path.join(tmpdir(), 'accord-demo-peers-'));
// PostgreSQL runs as somebody else where root starts it; what is secret is in folders of its own.
await chmod(folder, 0o755);
const instances: DemoInstance[] = [];
let stopping: Promise<void> | undefined;
let step = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop());
try {
  const [home, ...others] = await startAll();
  const { form, address } = await prepare(home, others);
  for (const { name, url } of instances) tell(`  ${name.padEnd(24)}${url}`);
  tell(`The form, with a question of each: ${form}`);
  tell(`The same for anybody, who enters an e-mail address and a code: ${address}`);
  tell('Each keeps its mails at /demo/messages, and shows a person its answers at /choices.');
  tell(
    'Accounts everywhere: admin, operator, user; password demo. Ctrl-C ends the demonstration, and all that it knows.',
  );
  tell(`Demonstration is ready: ${home.url}`);
  await Promise.race(instances.map(({ ended }) => ended));
} catch (error) {
  if (!stopping) process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
await stop();

async function startAll(): Promise<[DemoInstance, ...DemoInstance[]]> {
  // One after the other: the first start on a machine fetches and compiles what the others then find.
  for (const [index, { name, accent }] of [hospital, ...partners].entries()) {
    tellStep(`${name} starts`);
    instances.push(
      await startInstance({
        name,
        accent,
        port: firstPort === 0 ? 0 : firstPort + index,
        folder: path.join(folder, String(index)),
      }),
    );
  }
  return instances as [DemoInstance, ...DemoInstance[]];
}

/**
 * Publishes what each asks, pairs the hospital with its partners, and makes a form of it all.
 * @returns URLs: of the form for a person, and of the form at an address of its own.
 */
async function prepare(
  home: DemoInstance,
  others: DemoInstance[],
): Promise<{ form: string; address: string }> {
  tellStep(`${home.name} publishes its question`);
  const administrator = await signIn(home);
  const own = await publishAll(administrator, hospital);
  const elements = [own.question];
  for (const [index, other] of others.entries()) {
    tellStep(`${other.name} publishes its question and is paired with ${home.name}`);
    const theirs = await signIn(other);
    const { question } = await publishAll(theirs, partners[index] as (typeof partners)[number]);
    await administrator.pair(other.url, await theirs.makePairingKey(home.name));
    elements.push(`${question}@${new URL(other.url).host}`);
  }
  tellStep('The form is created');
  const asked = { info: own.info, elements };
  const form = await administrator.ask('alice', asked);
  return { form, address: await administrator.open(asked) };
}

function stop(): Promise<void> {
  stopping ??= Promise.all(instances.map((instance) => instance.stop())).then(() =>
    rm(folder, { recursive: true, force: true }),
  );
  return stopping;
}

/** Says what is being done now. Each organisation starts and publishes; the form is the last step. */
function tellStep(what: string): void {
  step += 1;
  tell(`[${step}/${2 * (1 + partners.length) + 1}] ${what} …`);
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}
