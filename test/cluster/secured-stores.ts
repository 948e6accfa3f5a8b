import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { createCertificate } from '../infrastructure/cluster/certificates.ts';
import { execute } from '../infrastructure/programs.ts';
import { type Organisation, query } from './organisation.ts';
import { type Stage, waitUntil } from './scenario.ts';

/** Values with which the release connects to the stores with TLS, passwords and a certificate for Kafka. */
export const securedValues = {
  database: {
    host: 'trial-postgres',
    owner: { existingSecret: 'trial-postgres' },
    tls: { enabled: true, ca: { existingSecret: 'store-ca' } },
  },
  kafka: {
    brokers: ['trial-kafka:9094'],
    tls: { enabled: true, ca: { existingSecret: 'store-ca' }, clientSecret: 'kafka-client' },
    sasl: { mechanism: 'SCRAM-SHA-512', user: 'accord', existingSecret: 'kafka-accord' },
  },
  redis: {
    host: 'trial-redis',
    port: 6380,
    user: 'accord',
    existingSecret: 'redis-accord',
    tls: { enabled: true, ca: { existingSecret: 'store-ca' } },
  },
};

/** Where the certificate is in the pods of the stores. */
const mounted = '/store-tls';
const postgresSettings = [`ssl_cert_file=${mounted}/tls.crt`, `ssl_key_file=${mounted}/tls.key`];
/** LOCAL is for commands in the pod, which cannot reach the pod through its Service. */
const kafkaProperties = `
listeners=PLAINTEXT://:9092,SASL_SSL://:9094,LOCAL://localhost:9095,CONTROLLER://localhost:9093
advertised.listeners=PLAINTEXT://trial-kafka:9092,SASL_SSL://trial-kafka:9094,LOCAL://localhost:9095
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,LOCAL:PLAINTEXT,SASL_SSL:SASL_SSL
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PEM
ssl.keystore.location=${mounted}/keystore.pem
ssl.truststore.type=PEM
ssl.truststore.location=${mounted}/truststore.pem
listener.name.sasl_ssl.ssl.client.auth=required
`;
const redisCertificate = ['tls-cert-file', `${mounted}/tls.crt`, 'tls-key-file', `${mounted}/tls.key`];

interface Resource {
  kind: string;
  data?: Record<string, string>;
  spec: {
    ports?: object[];
    ingress?: { ports: object[] }[];
    template?: { spec: PodSpec };
  };
}

interface PodSpec {
  securityContext: { runAsGroup: number; fsGroup?: number };
  volumes?: object[];
  containers: { args?: string[]; command?: string[]; volumeMounts?: object[] }[];
}

/**
 * Adds listeners with TLS and passwords to the stores of the trial, beside the plain ones. Clients of Kafka
 * and Redis sign in there as the user `accord`; those of Kafka have a certificate of the authority, too.
 */
export async function secureStores(stage: Stage, authority: string): Promise<void> {
  const { organisation, cluster, chart } = stage;
  await writeCertificate(organisation, authority);
  await trustClients(organisation, authority);
  await writeClientCertificate(organisation, authority);
  await setSecret(organisation, 'store-ca', { 'ca.crt': await readFile(`${authority}/ca.crt`, 'utf8') });
  for (const [store, change] of Object.entries({
    postgres: securePostgres,
    kafka: secureKafka,
    redis: secureRedis,
  })) {
    const text = await readFile(path.join(chart, 'trial', `${store}.yaml`), 'utf8');
    const resources = parseAllDocuments(text.replaceAll(/cpu: \d+m/g, 'cpu: 10m')).map(
      (each) => each.toJS() as Resource,
    );
    for (const resource of resources) change(resource);
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: resources });
    await cluster.kubectl.apply(list, [`--namespace=${organisation.name}`]);
  }
  for (const store of ['statefulset/trial-postgres', 'statefulset/trial-kafka', 'deploy/trial-redis'])
    await organisation.kubectl('rollout', 'status', store, '--timeout=180s');
}

function securePostgres({ spec }: Resource): void {
  if (!spec?.template) return;
  const [container] = mountCertificate(spec.template.spec).containers;
  container?.args?.push('-c', 'ssl=on', ...postgresSettings.flatMap((setting) => ['-c', setting]));
}

function secureKafka({ kind, data, spec }: Resource): void {
  if (data) data['kafka.properties'] += kafkaProperties;
  else if (spec.template) mountCertificate(spec.template.spec);
  else addPort({ kind, spec }, 9094);
}

function secureRedis({ kind, spec }: Resource): void {
  if (!spec.template) {
    addPort({ kind, spec }, 6380);
    return;
  }
  const [container] = mountCertificate(spec.template.spec).containers;
  const settings = ['--tls-port', '6380', '--tls-auth-clients', 'no'];
  const certificate = redisCertificate.map((word, index) => (index % 2 === 0 ? `--${word}` : word));
  container?.command?.push(...settings, ...certificate);
}

function addPort({ kind, spec }: Pick<Resource, 'kind' | 'spec'>, port: number): void {
  if (kind === 'Service')
    spec.ports = [
      ...(spec.ports ?? []).map((each) => ({ ...each, name: 'plain' })),
      { name: 'secure', port },
    ];
  else spec.ingress?.[0]?.ports.push({ port });
}

function mountCertificate(pod: PodSpec): PodSpec {
  const { runAsGroup } = pod.securityContext;
  pod.securityContext = { ...pod.securityContext, fsGroup: runAsGroup };
  pod.volumes = [
    ...(pod.volumes ?? []),
    { name: 'tls', secret: { secretName: 'store-tls', defaultMode: 0o440 } },
  ];
  for (const container of pod.containers)
    container.volumeMounts = [
      ...(container.volumeMounts ?? []),
      { name: 'tls', mountPath: mounted, readOnly: true },
    ];
  return pod;
}

/** Makes the certificate of all stores by an authority, and writes it into the Secret that they mount. */
export async function writeCertificate(organisation: Organisation, authority: string): Promise<void> {
  const names = ['postgres', 'kafka', 'redis'].map((store) => `DNS:trial-${store}`);
  await createCertificate(authority, { name: 'stores', subject: '/CN=stores', alternatives: names });
  const file = (suffix: string) => path.join(authority, `stores.${suffix}`);
  const words = ['pkcs8', '-topk8', '-nocrypt', '-in', file('key')];
  const { stdout: key } = await execute('openssl', words);
  const certificate = await readFile(file('crt'), 'utf8');
  await writeFile(file('pkcs8'), key, { mode: 0o600 });
  const entries = { 'tls.crt': certificate, 'tls.key': key, 'keystore.pem': `${key}${certificate}` };
  await setSecret(organisation, 'store-tls', entries);
}

/** Has Kafka accept clients with certificates of these authorities, from its next start on. */
export async function trustClients(organisation: Organisation, ...authorities: string[]): Promise<void> {
  const certificates = await Promise.all(authorities.map((folder) => readFile(`${folder}/ca.crt`, 'utf8')));
  await setSecret(organisation, 'store-tls', { 'truststore.pem': certificates.join('') });
}

/** Makes the client certificate for Kafka by an authority, and writes it into the Secret of the services. */
export async function writeClientCertificate(organisation: Organisation, authority: string): Promise<void> {
  await createCertificate(authority, { name: 'kafka-client', subject: '/CN=accord' });
  const [certificate = '', key = ''] = await readClientCertificate(authority);
  await setSecret(organisation, 'kafka-client', { 'tls.crt': certificate, 'tls.key': key });
}

function readClientCertificate(authority: string): Promise<string[]> {
  return Promise.all(['crt', 'key'].map((suffix) => readFile(`${authority}/kafka-client.${suffix}`, 'utf8')));
}

/** Whether Kafka keeps a connection of a pod with the client certificate of an authority. */
export async function isClientAccepted({ kubectl }: Organisation, authority: string): Promise<boolean> {
  const program = `const [cert, key] = process.argv.slice(1);
const ca = require('node:fs').readFileSync('/certificates/kafka-ca.crt');
require('node:tls').connect({ host: 'trial-kafka', port: 9094, servername: 'trial-kafka', ca, cert, key })
  .on('error', () => process.exit(1)).on('close', () => process.exit(1));
setTimeout(() => process.exit(0), 3000);`;
  const command = ['node', '--eval', program, '--', ...(await readClientCertificate(authority))];
  return kubectl('exec', 'deploy/accord-peers', '--', ...command).then(
    () => true,
    () => false,
  );
}

/** Has the stores use the certificate in their Secret, without a loss of their connections where they can. */
export async function reloadCertificate(stage: Stage, authority: string): Promise<void> {
  const { organisation } = stage;
  const { kubectl } = organisation;
  const certificate = await readFile(path.join(authority, 'stores.crt'), 'utf8');
  const redis = (
    await kubectl('get', 'pods', '--selector=app.kubernetes.io/name=trial-redis', '--output=name')
  ).trim();
  for (const pod of ['pod/trial-postgres-0', redis]) {
    // The kubelet updates volumes of Secrets within a minute or two, and at once when the pod changes.
    await kubectl('annotate', '--overwrite', pod, `example.test/certificate=${Date.now()}`);
    await waitUntil(
      `${pod} has the certificate`,
      async () => (await kubectl('exec', pod, '--', 'cat', `${mounted}/tls.crt`)) === certificate,
    );
  }
  await query(organisation, 'SELECT pg_reload_conf()');
  await kubectl('exec', redis, '--', 'redis-cli', 'CONFIG', 'SET', ...redisCertificate);
  await restartKafka(organisation);
}

export async function restartKafka({ kubectl }: Organisation): Promise<void> {
  await kubectl('delete', 'pod/trial-kafka-0');
  await kubectl('rollout', 'status', 'statefulset/trial-kafka', '--timeout=180s');
}

/** Adds a password of the user `accord` of Redis, or removes one. */
export async function changeRedisUser({ kubectl }: Organisation, ...rules: string[]): Promise<void> {
  const command = ['redis-cli', 'ACL', 'SETUSER', 'accord', 'on', '~*', '&*', '+@all', ...rules];
  await kubectl('exec', 'deploy/trial-redis', '--', ...command);
}

/** Creates a user of Kafka, or removes it. As kafka-configs.sh, which the stand-in of the image lacks. */
export async function changeKafkaUser(
  { kubectl }: Organisation,
  user: string,
  change: { password: string } | 'remove',
): Promise<void> {
  const words =
    change === 'remove'
      ? ['--delete-config', 'SCRAM-SHA-512']
      : ['--add-config', `SCRAM-SHA-512=[password=${change.password}]`];
  const program = ['java', '-Xmx64m', '-cp', '/opt/kafka/libs/*', 'kafka.admin.ConfigCommand'];
  const target = ['--bootstrap-server', 'localhost:9095', '--alter', '--entity-type', 'users'];
  await kubectl('exec', 'trial-kafka-0', '--', ...program, ...target, '--entity-name', user, ...words);
}

/** Creates or replaces a Secret. */
export async function setSecret(
  { kubectl }: Organisation,
  name: string,
  stringData: Record<string, string>,
): Promise<void> {
  const patch = JSON.stringify({ stringData });
  await kubectl('create', 'secret', 'generic', name).catch(() => '');
  await kubectl('patch', 'secret', name, `--patch=${patch}`);
}
