import { beforeAll, describe, expect, it } from 'vitest';
import { definitions } from '../../services/definitions.ts';
import { copyChart, type Manifest, openChart, readManifests } from '../support/helm/chart.ts';
import { type Secrets, startSecretsApi } from '../support/helm/secrets-api.ts';
import { podsIn, type SecretEntry, secretEntriesOf } from '../support/helm/settings-of.ts';

const chart = await openChart();
const names = definitions.map(({ name }) => name);
/** Everything that a pod can read from a Secret. */
const everything = [
  'kafka.tls={"enabled":true,"ca":{"existingSecret":"kafka-ca"},"clientSecret":"kafka-client"}',
  'kafka.sasl={"mechanism":"SCRAM-SHA-512","user":"accord","existingSecret":"kafka-user"}',
  'redis.existingSecret="redis-user"',
  'redis.tls.ca.existingSecret="redis-ca"',
  'database.tls.ca.existingSecret="database-ca"',
  'trustedCA.existingSecret="trusted"',
  'mail={"existingSecret":"mail","ca":{"existingSecret":"mail-ca"}}',
  'sms.existingSecret="sms"',
  'tracing={"endpoint":"http://collector:4318","headers":{"existingSecret":"collector"}}',
  'secrets.from={"webhook-sealing":{"name":"other","key":"sealing"}}',
].flatMap((value) => ['--set-json', value]);

/** The Secrets of these values. */
const named = [
  ...[
    'accord-secrets',
    'other',
    'database-ca',
    'kafka-ca',
    'kafka-client',
    'kafka-user',
    'redis-ca',
    'redis-user',
  ],
  ...['trusted', 'mail', 'mail-ca', 'sms', 'collector'],
];

/** The Secrets with these entries; the content of each names it. */
function secretsWith(entries: Iterable<SecretEntry>): Record<string, Record<string, string>> {
  const secrets: Record<string, Record<string, string>> = {};
  for (const { name, key } of entries)
    secrets[name] = { ...secrets[name], [key]: Buffer.from(`${name} ${key}`).toString('base64') };
  return secrets;
}

describe.skipIf(!chart)('a Secret that changes', () => {
  let offline: Manifest[] = [];
  beforeAll(async () => {
    offline = readManifests((await chart?.render('minimal.yaml', ...everything)) ?? '');
  });

  it('replaces the pods that read the changed entry, and no others', async () => {
    const entries = new Map(names.map((name) => [name, secretEntriesOf(podsIn(offline).get(name))]));
    const { url, store } = await startSecretsApi(offline);
    /** The template of the pods of each service, as an upgrade renders it. */
    const templatesWith = async (secrets: Secrets) => {
      store(secrets);
      const text = await chart?.render('minimal.yaml', ...everything, ...onServer, `--kube-apiserver=${url}`);
      return templatesIn(readManifests(text ?? ''));
    };
    const all = [...entries.values()].flat();
    const distinct = [...new Map(all.map((entry) => [`${entry.name} ${entry.key}`, entry])).values()];
    expect(new Set(distinct.map(({ name }) => name))).toEqual(new Set(named));
    const before = await templatesWith(secretsWith(distinct));
    for (const { name, key } of distinct) {
      const secrets = secretsWith(distinct);
      secrets[name] = { ...secrets[name], [key]: 'Y2hhbmdlZA==' };
      const after = await templatesWith(secrets);
      const readers = names.filter((each) =>
        entries.get(each)?.some((entry) => entry.name === name && entry.key === key),
      );
      const replaced = names.filter((each) => after.get(each) !== before.get(each));
      expect(replaced, `${name} ${key}`).toEqual(readers);
    }
  }, 60_000);

  it('is the only source beside the ConfigMap of settings, which has a checksum of its own', () => {
    for (const name of names) {
      const { containers, volumes = [] } = podsIn(offline).get(name) ?? { containers: [] };
      const maps = JSON.stringify([containers, volumes]).match(/"configMap\w*":\{"name":"[^"]+"/g);
      expect(maps, name).toEqual(['"configMapRef":{"name":"accord-settings"']);
    }
  });
});

describe.skipIf(!chart)('a Job', () => {
  const jobsIn = (text = '') =>
    readManifests(text)
      .filter(({ kind }) => kind === 'Job')
      .map(({ metadata, spec }) => [metadata.name, JSON.stringify(spec)] as const);

  it('has another name if anything in it differs, because an existing Job cannot be changed', async () => {
    const standard = new Map(jobsIn(await chart?.render('gitops.yaml')));
    expect(standard.size).toBe(2);
    const nextChart = await copyChart('Chart.yaml', (text) =>
      text.replace(/^version: .*$/m, 'version: 9.9.9'),
    );
    const nextApp = await copyChart('Chart.yaml', (text) =>
      text.replace(/^appVersion: .*$/m, 'appVersion: 9.9.9'),
    );
    for (const changed of [
      jobsIn(await chart?.renderFrom(nextChart, 'gitops.yaml')),
      jobsIn(await chart?.renderFrom(nextApp, 'gitops.yaml')),
      jobsIn(await chart?.render('gitops.yaml', '--set', 'jobs.timeout=400')),
    ]) {
      expect(changed).toHaveLength(2);
      for (const [name, spec] of changed) {
        expect([...standard.values()]).not.toContain(spec);
        expect(standard.has(name), name).toBe(false);
      }
    }
  });
});

describe.skipIf(!chart)('a value that changes', () => {
  const render = async (...more: string[]) =>
    readManifests((await chart?.render('minimal.yaml', ...more)) ?? '');

  it('replaces the pods that read the settings, if it is one of them, and no pods otherwise', async () => {
    const standard = await render();
    const before = templatesIn(standard);
    const readers = names.filter((name) =>
      before.get(name)?.includes('"envFrom":[{"configMapRef":{"name":"accord-settings"}}]'),
    );
    expect(readers).toEqual(names);
    const replacedBy = async (value: string) => {
      const after = templatesIn(await render('--set', value));
      return names.filter((name) => after.get(name) !== before.get(name));
    };
    expect(await replacedBy('logLevel=info')).toEqual(readers);
    expect(await replacedBy('jobs.timeout=400')).toEqual([]);
  });
});

const onServer = ['--dry-run=server', '--disable-openapi-validation'];

function templatesIn(manifests: readonly Manifest[]): Map<string, string> {
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
  return new Map(
    deployments.map(({ metadata, spec }) => [
      metadata.labels?.['app.kubernetes.io/component'] ?? '',
      JSON.stringify(spec.template),
    ]),
  );
}
