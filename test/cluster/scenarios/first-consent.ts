import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { demoModels } from '../../../services/forms/demo/models.ts';
import { execute } from '../../infrastructure/programs.ts';
import { release } from '../organisation.ts';
import { routerAddress } from '../router.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';

/** The lines that the README begins with. */
export const firstConsentScenarios: Scenario[] = [
  {
    name: 'first consent',
    isQuick: true,
    promise: "The README's first consent is given through the Ingress with its own lines.",
    run: giveFirstConsent,
  },
];

/** Runs the lines of the README against the organisation of the stage. */
export async function giveFirstConsent(stage: Stage): Promise<string> {
  await publishDemo(stage);
  const password = randomBytes(12).toString('hex');
  const command = `printf '%s\\n' '${password}' | accord account add operator --role operator`;
  await stage.organisation.kubectl('exec', `deploy/${release}-auth`, '--', 'sh', '-euc', command);
  const printed = await paste(stage, await readLines(stage, password));
  expectThat(printed.includes('"state":"COMMITTED"'), `no transaction was committed: ${printed}`);
  const records = JSON.parse(printed.slice(printed.lastIndexOf('{"preference.001":'))) as object;
  expectThat(
    Object.keys(records).join() === 'preference.001,processing.001,processing.002',
    `the records are ${JSON.stringify(records)}`,
  );
  return '5 calls by curl, 3 records';
}

/** Creates the models that a demonstration has, with their keys; those that exist stay. */
async function publishDemo({ organisation }: Stage): Promise<void> {
  const { token } = await organisation.signIn();
  const send = async (method: string, address: string, body: object) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const url = `${organisation.url}${address}`;
    const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (answer.status === 409) return undefined;
    expectThat(answer.ok, `${method} ${address} answers ${answer.status}: ${text}`);
    return JSON.parse(text) as { id: string };
  };
  for (const { type, key, name, data } of demoModels()) {
    const entry = await send('POST', '/models', { type, key, name });
    if (!entry) continue;
    const draft = { defaultLanguage: 'en', data };
    const version = await send('POST', `/models/${entry.id}/versions`, draft);
    await send('PUT', `/models/${entry.id}/versions/${version?.id}/status`, { status: 'ACTIVE' });
  }
}

/** The lines of the README, with the address of the organisation and the password of its operator. */
async function readLines({ organisation }: Stage, password: string): Promise<string> {
  const readme = await readFile(fileURLToPath(new URL('../../../README.md', import.meta.url)), 'utf8');
  const section = readme.split('\n## The first consent\n')[1] ?? '';
  const lines = section.split('```sh\n')[1]?.split('```')[0] ?? '';
  return lines.replace('http://localhost:8080', organisation.url).replace('=demo', `=${password}`);
}

/** Runs lines as in a terminal of a machine that knows the router and its authority. */
async function paste({ organisation, certificates }: Stage, lines: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-terminal-'));
  try {
    const { hostname } = new URL(organisation.url);
    const settings = [`resolve = "${hostname}:443:${routerAddress}"`, `cacert = "${certificates}/ca.crt"`];
    await writeFile(path.join(folder, '.curlrc'), settings.join('\n'));
    const env = { ...process.env, CURL_HOME: folder };
    return (await execute('sh', ['-eu', '-c', lines], { env })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
