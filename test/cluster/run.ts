import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createAuthority } from '../infrastructure/cluster/certificates.ts';
import { type Cluster, installPackages, startCluster } from '../infrastructure/cluster/cluster.ts';
import { findHelm } from '../infrastructure/helm.ts';
import { buildImage } from '../infrastructure/image.ts';
import { tell } from '../infrastructure/programs.ts';
import { createForm } from './load.ts';
import { buildNextImage, nextTag } from './next-image.ts';
import { createOrganisation, readLogs, waitForRouter, waitForStores } from './organisation.ts';
import { type Result, readCommit, writeReport } from './report.ts';
import { createRouter } from './router.ts';
import type { Stage } from './scenario.ts';
import { scenarios } from './scenarios.ts';

// `npm run test:cluster`: installs the chart on a Kubernetes that this machine runs, and tries what the chart
// promises.
const { values: options } = parseArgs({
  options: {
    /** Names of scenarios, separated by commas; default: those that together take a few minutes. */
    only: { type: 'string' },
    /** Every scenario, in about an hour. */
    all: { type: 'boolean', default: false },
    /** Leaves the cluster running until Ctrl-C. */
    keep: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
});
const state = '/var/tmp/accord-cluster';
const started = performance.now();
const say = (line: string) =>
  process.stdout.write(`[${((performance.now() - started) / 1000).toFixed(0)} s] ${line}\n`);

const wanted = options.only?.split(',');
const unknown = wanted?.find((name) => !scenarios.some((scenario) => scenario.name === name));
if (unknown)
  throw new Error(`There is no scenario ${unknown}: ${scenarios.map(({ name }) => name).join(', ')}`);

// The report itself may be a file of the working tree.
const commit = await readCommit();
let cluster: Cluster | undefined;
try {
  await installPackages(say);
  say('building the image');
  const image = await buildImage();
  const images = [{ archive: image.archive, names: [image.name] }, await buildNextImage(image)];
  cluster = await startCluster(state, { images, say });
  const results = await tryScenarios(cluster);
  const report = writeReport(results, {
    base: image.base,
    command: ['npm run test:cluster', ...typedOptions()].join(' '),
    seconds: (performance.now() - started) / 1000,
    commit,
  });
  if (options.report) await writeFile(options.report, report);
  process.stdout.write(`\n${report}`);
  if (results.some(({ error }) => error)) process.exitCode = 1;
  if (options.keep) await stay(cluster);
} catch (error) {
  say((error as Error).stack ?? String(error));
  process.exitCode = 1;
  if (options.keep && cluster) await stay(cluster);
} finally {
  await cluster?.stop();
}

/** The options of the command, with quotes where a shell needs them. */
function typedOptions(): string[] {
  const words = process.argv.slice(2).map((word) => (/^[\w./,=-]+$/.test(word) ? word : `'${word}'`));
  return words.length > 0 ? ['--', ...words] : [];
}

async function stay({ node, program }: Cluster): Promise<void> {
  say(`the cluster runs until Ctrl-C; KUBECONFIG=${node.kubeconfig}, kubectl is ${program}`);
  await new Promise((resolve) => process.once('SIGINT', resolve));
}

async function tryScenarios(running: Cluster) {
  const certificates = path.join(state, 'router-certificates');
  const nextCertificates = path.join(state, 'router-certificates-next');
  for (const folder of [certificates, nextCertificates]) await createAuthority(folder);
  const environment = {
    cluster: running,
    helm: await findHelm(),
    certificates,
    nextCertificates,
    chart: fileURLToPath(new URL('../../helm', import.meta.url)),
  };
  say('starting the stores of the school');
  const organisation = await createOrganisation(environment, 'school');
  await waitForStores(organisation);
  say('installing the chart');
  const installed = performance.now();
  try {
    await organisation.deploy();
  } catch (error) {
    say(await organisation.kubectl('get', 'pods,jobs,events'));
    say(await readLogs(organisation));
    throw error;
  }
  const seconds = (performance.now() - installed) / 1000;
  say(`installed in ${seconds.toFixed(0)} s`);
  const router = await createRouter(
    [certificates, nextCertificates].map((folder) => path.join(folder, 'ca.crt')),
  );
  await waitForRouter(organisation, router);
  const { token, administrator } = await organisation.signIn();
  const form = await createForm(organisation, router.clientOf(organisation.url), { token, ...administrator });
  const stage: Stage = { ...environment, router, organisation, form, token, nextTag, say };
  const results: Result[] = [
    {
      name: 'install',
      isQuick: true,
      promise: '`helm install --wait` ends within 60 s, with the images present.',
      figures: `${seconds.toFixed(0)} s`,
      seconds,
      error: seconds > 60 ? new Error(`it took ${seconds.toFixed(0)} s`) : undefined,
    },
  ];
  for (const scenario of scenarios.filter(
    ({ name, isQuick }) => wanted?.includes(name) ?? (options.all || isQuick),
  )) {
    const begun = performance.now();
    const { name, run } = scenario;
    const result = await run(stage).then(
      (figures) => ({ figures, error: undefined }),
      (error: Error) => ({ figures: '', error }),
    );
    const took = (performance.now() - begun) / 1000;
    say(`${result.error ? 'FAILED' : 'ok'}: ${name}: ${result.error ? tell(result.error) : result.figures}`);
    results.push({ ...scenario, seconds: took, ...result });
  }
  await router.close();
  return results;
}
