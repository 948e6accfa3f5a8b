import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Administrator, administratorOf } from '../../deploy/demo-peers/administrator.ts';
import { createCertificate } from '../infrastructure/cluster/certificates.ts';
import type { Cluster } from '../infrastructure/cluster/cluster.ts';
import { execute } from '../infrastructure/programs.ts';
import type { Router } from './router.ts';
import { waitUntil } from './scenario.ts';

/** The release and the prefix of its resources. */
export const release = 'accord';
/** The services of a release. */
export const services = ['auth', 'forms', 'transactions', 'peers', 'webhooks', 'console'];

/** An organisation: a namespace with the stores of the trial and a release. */
export interface Organisation {
  name: string;
  /** Public address, through the router. */
  url: string;
  /** kubectl in the namespace. */
  kubectl(...words: string[]): Promise<string>;
  /** helm in the namespace. */
  helm(...words: string[]): Promise<string>;
  /** Installs or upgrades the release and waits until it is ready. @param values more values. */
  deploy(values?: object, words?: readonly string[]): Promise<string>;
  /** The manifests of the release, as `helm template` prints them. */
  render(values: object, words?: readonly string[]): Promise<string>;
  /** Creates a client with the role `admin` by the command in the pod of auth. */
  createClient(): Promise<{ id: string; secret: string }>;
  /** The access token of such a client. */
  signIn(): Promise<{ token: string; administrator: Administrator }>;
}

export interface Environment {
  cluster: Cluster;
  helm: string;
  /** Folder with the authority of the routers' certificates. */
  certificates: string;
  /** Folder with the authority that replaces it. */
  nextCertificates: string;
  chart: string;
}

/**
 * Creates the namespace with the restricted Pod Security Standard, the stores of the trial and the
 * certificates.
 */
export async function createOrganisation(environment: Environment, name: string): Promise<Organisation> {
  const { cluster, certificates, chart } = environment;
  const organisation = organisationOf(environment, name);
  const host = `${name}.example.test`;
  await cluster.kubectl.apply(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name,
        labels: {
          'pod-security.kubernetes.io/enforce': 'restricted',
          'pod-security.kubernetes.io/warn': 'restricted',
        },
      },
    }),
  );
  await createCertificate(certificates, {
    name: host,
    subject: `/CN=${host}`,
    alternatives: [`DNS:${host}`],
  });
  const file = (suffix: string) => path.join(certificates, suffix);
  const { kubectl } = organisation;
  await kubectl(
    'create',
    'secret',
    'tls',
    'router-tls',
    `--cert=${file(`${host}.crt`)}`,
    `--key=${file(`${host}.key`)}`,
  );
  await kubectl('create', 'secret', 'generic', 'router-ca', `--from-file=ca.crt=${file('ca.crt')}`);
  const password = randomBytes(24).toString('hex');
  await kubectl('create', 'secret', 'generic', 'trial-postgres', `--from-literal=password=${password}`);
  for (const store of await readdir(path.join(chart, 'trial'))) {
    const resources = await readFile(path.join(chart, 'trial', store), 'utf8');
    // The node has few processors.
    await cluster.kubectl.apply(resources.replaceAll(/cpu: \d+m/g, 'cpu: 10m'), [`--namespace=${name}`]);
  }
  return organisation;
}

const publicPaths = ['/.well-known/accord', '/system/config'];

/** Waits until the router reaches the services. @param more paths beside those of every instance. */
export async function waitForRouter(
  { url }: Pick<Organisation, 'url'>,
  { fetch }: Pick<Router, 'fetch'>,
  more: readonly string[] = ['/auth/.well-known/openid-configuration'],
): Promise<void> {
  const paths = [...publicPaths, ...more];
  // A router may learn of new pods a few seconds after they are ready.
  await waitUntil(`the router reaches the services of ${url}`, async () => {
    const answers = await Promise.all(paths.map((path) => fetch(`${url}${path}`)));
    return answers.every(({ status }) => status === 200);
  });
}

/** Waits until the stores of the trial are ready. */
export async function waitForStores({ kubectl }: Organisation): Promise<void> {
  for (const store of ['statefulset/trial-postgres', 'statefulset/trial-kafka', 'deployment/trial-redis'])
    await kubectl('rollout', 'status', store, '--timeout=300s');
}

/** docs/operations.md, "Overload" */
const patient = { RATE_LIMITS: 'off', MAX_EVENT_LOOP_DELAY: '0', MAX_QUEUE_WAIT: '30000' };

/** The values of an organisation: those of the example `trial`, behind the router of this cluster. */
function valuesOf(name: string): object {
  const router = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'router' } } }];
  return {
    baseUrl: `https://${name}.example.test`,
    instance: { name: `${name[0]?.toUpperCase()}${name.slice(1)}` },
    trustedCA: { existingSecret: 'router-ca' },
    trustedProxies: ['10.244.0.0/16'],
    router: { ingress: { tlsSecret: 'router-tls' } },
    outboundAllowedNetworks: ['10.96.0.80/32'],
    networkPolicy: { peers: { router, outbound: router } },
    // The node has few processors, so that pods request little of them, and requests wait for pods that start
    // instead of being refused; memory and its limits are those of the chart.
    defaults: { replicas: 2, env: patient, resources: { requests: { cpu: '10m' } } },
    services: {
      forms: { resources: { requests: { cpu: '10m' } } },
      transactions: { resources: { requests: { cpu: '10m' } } },
    },
  };
}

/** An organisation whose namespace exists. @param url its public address. */
export function organisationOf(
  environment: Environment,
  name: string,
  url = `https://${name}.example.test`,
): Organisation {
  const { cluster, helm: program, chart } = environment;
  const kubectl = (...words: string[]) => cluster.kubectl.run([`--namespace=${name}`, ...words]);
  const helm = async (...words: string[]) => {
    const env = { ...process.env, KUBECONFIG: cluster.node.kubeconfig };
    const { stdout } = await execute(program, [`--namespace=${name}`, ...words], { env, maxBuffer: 1 << 26 });
    return stdout;
  };
  const createClient = async () => {
    const id = `cluster-${randomBytes(4).toString('hex')}`;
    const command = ['accord', 'client', 'add', id, '--role', 'admin'];
    const output = await kubectl('exec', `deploy/${release}-auth`, '--', ...command);
    return { id, secret: output.trim().split('\n').at(-1) as string };
  };
  const valuesFor = (values: object) => [
    `--values=${path.join(chart, 'examples/trial.yaml')}`,
    `--set-json=${setJson(merge(valuesOf(name), values))}`,
  ];
  return {
    name,
    url,
    kubectl,
    helm,
    deploy: (values = {}, words = []) =>
      helm('upgrade', '--install', release, chart, ...valuesFor(values), '--wait', '--timeout=5m', ...words),
    render: (values, words = []) => helm('template', release, chart, ...valuesFor(values), ...words),
    createClient,
    async signIn() {
      const client = await createClient();
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: client.secret,
      });
      const answer = await fetch(`${url}/auth`, { method: 'POST', body });
      if (!answer.ok) throw new Error(`/auth answered ${answer.status}: ${await answer.text()}`);
      const { access_token } = (await answer.json()) as { access_token: string };
      return { token: access_token, administrator: administratorOf(url, access_token) };
    },
  };
}

/** Values with others in them, level by level. */
function merge(values: object, others: object): object {
  const merged = new Map<string, unknown>(Object.entries(values));
  for (const [name, value] of Object.entries(others)) {
    const present = merged.get(name);
    merged.set(name, isObject(present) && isObject(value) ? merge(present, value) : value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Values in the form of `--set-json`: the members of the first level. */
function setJson(values: object): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',');
}

/** Runs a statement in the database of an organisation. @returns rows, each with its fields. */
export async function query({ kubectl }: Organisation, statement: string): Promise<string[][]> {
  const psql = ['exec', 'trial-postgres-0', '--', 'psql', '--username=postgres', '--dbname=accord'];
  const rows = await kubectl(...psql, '--tuples-only', '--no-align', '--quiet', `--command=${statement}`);
  return rows
    .split('\n')
    .filter(Boolean)
    .map((row) => row.split('|'));
}

/** The logs of the pods of an organisation, for a failure. */
export async function readLogs({ kubectl }: Organisation): Promise<string> {
  const jobs = kubectl('logs', '--selector=batch.kubernetes.io/job-name', '--tail=20', '--prefix');
  const logs = [
    jobs,
    ...services.map((service) => kubectl('logs', `deploy/${release}-${service}`, '--tail=20', '--prefix')),
  ].map((log) => log.catch((error: Error) => error.message));
  return (await Promise.all(logs)).join('\n');
}
