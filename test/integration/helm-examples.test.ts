import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readServiceSettings } from '#lib/config/settings.ts';
import { readTopics } from '#lib/events/kafka/topics.ts';
import { definitions } from '../../services/definitions.ts';
import { examples, type Manifest, openChart, readManifests } from '../support/helm/chart.ts';
import { environmentOf, secretFilesOf } from '../support/helm/settings-of.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const project = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(project, file), 'utf8');
const chart = await openChart();
const rendered = new Map<string, Manifest[]>();
for (const example of chart ? examples : [])
  rendered.set(example, readManifests((await chart?.render(example)) ?? ''));

interface EgressRule {
  to?: unknown[];
  ports?: { port: number }[];
}

/** The settings of a service as its process reads them, with the certificates that are mounted for it. */
async function settingsIn(example: string, service: string) {
  const manifests = rendered.get(example) ?? [];
  const folder = await temporaryFolder();
  const { cert, key } = selfSignedCertificate(['localhost']);
  for (const file of Object.keys(secretFilesOf(manifests, service, 'certificates')))
    writeFileSync(path.join(folder, file), file.endsWith('.key') ? key : cert);
  const environment = Object.entries(environmentOf(manifests, service)).map(([name, value]) => [
    name,
    value.replaceAll('/certificates/', `${folder}/`),
  ]);
  const definition = definitions.find(({ name }) => name === service) as (typeof definitions)[number];
  return readServiceSettings(definition, Object.fromEntries(environment)).settings;
}

describe.skipIf(!chart)('an example', () => {
  it.each(examples)('%s gives every service valid settings', async (example) => {
    for (const { name } of definitions)
      expect((await settingsIn(example, name)).BASE_URL, name).toMatch(/^https?:/);
  });

  it('for production connects with TLS and passwords', async () => {
    const settings = await settingsIn('production.yaml', 'transactions');
    expect(settings).toMatchObject({ KAFKA_TLS: true, KAFKA_SASL: 'scram-sha-512', KAFKA_USER: 'accord' });
    expect(settings.KAFKA_CA).toContain('BEGIN CERTIFICATE');
    expect(settings.REDIS_URL).toBe('rediss://accord@accord-valkey:6379');
    expect(settings.DATABASE_URL).toMatch(/\?sslmode=verify-full&sslrootcert=.*\/database-ca\.crt$/);
    const files = secretFilesOf(rendered.get('production.yaml') ?? [], 'transactions');
    expect(files['kafka-password']).toEqual({ name: 'accord', key: 'password' });
    expect(files['redis-password']).toEqual({ name: 'accord-valkey-users', key: 'accord' });
  });

  it.each(['production.yaml', ...examples.filter((example) => example.startsWith('peered-'))])(
    '%s lets pods reach stores in their own namespace only',
    (example) => {
      const policies = (rendered.get(example) ?? []).filter(({ kind }) => kind === 'NetworkPolicy');
      const egress = policies.flatMap(({ spec }) => (spec.egress ?? []) as EgressRule[]);
      for (const port of [5432, 9093, 6379]) {
        const peers = egress.filter(({ ports }) => ports?.some((each) => each.port === port));
        expect(peers.length, `${port}`).toBeGreaterThanOrEqual(definitions.length);
        for (const { to } of peers) expect(to).toEqual([{ podSelector: expect.anything() }]);
      }
    },
  );

  it('for production gives passwords of mail to transactions alone', () => {
    const withMail = (rendered.get('production.yaml') ?? []).filter((manifest) =>
      JSON.stringify(manifest).includes('MAIL_URL'),
    );
    expect(withMail.map(({ metadata }) => metadata.name)).toEqual(['accord-transactions']);
  });

  it('for GitOps mounts the client certificate for Kafka, and entries of several Secrets', async () => {
    expect((await settingsIn('gitops.yaml', 'auth')).KAFKA_KEY).toContain('PRIVATE KEY');
    const files = secretFilesOf(rendered.get('gitops.yaml') ?? [], 'webhooks');
    expect(files).toMatchObject({
      'webhook-sealing': { name: 'accord-webhooks', key: 'sealing' },
      'database-webhooks': { name: 'accord-secrets', key: 'database-webhooks' },
    });
  });

  it('for GitOps creates no Secret and no topics, but checks them, and prints those of asyncapi.yaml', async () => {
    const jobs = (rendered.get('gitops.yaml') ?? []).filter(({ kind }) => kind === 'Job');
    expect(jobs.map(({ spec }) => spec.template?.spec.containers[0]?.args)).toEqual([
      ['migrate'],
      ['topics', '--check'],
    ]);
    const notes = (await chart?.notes('gitops.yaml')) ?? '';
    const printed = readManifests(notes.slice(notes.indexOf('\n---\n'))).map(({ metadata, spec }) => {
      const { 'min.insync.replicas': replicas, ...settings } = spec.config as Record<string, string>;
      return { topic: metadata.name, partitions: spec.partitions, settings };
    });
    const wanted = readTopics(new URL('../../asyncapi.yaml', import.meta.url));
    expect(new Set(printed)).toEqual(new Set(wanted));
  });

  it('for production has the secret of the client of the console at its issuer, and the notes say how to register it', async () => {
    const files = secretFilesOf(rendered.get('production.yaml') ?? [], 'console');
    expect(files['console-client']).toEqual({ name: 'accord-console', key: 'client-secret' });
    const notes = (await chart?.notes('production.yaml')) ?? '';
    expect(notes).toContain('client accord-console with');
    expect(notes).toContain('https://consent.example.org/console/callback');
    expect(notes).toContain('secrets.from.console-client');
    const other = ['--set', 'services.console.env.CONSOLE_CLIENT_ID=backoffice,secrets.existingSecret=own'];
    const otherNotes = (await chart?.notes('production.yaml', ...other)) ?? '';
    expect(otherNotes).toContain('client backoffice with');
    expect(otherNotes).toContain('entry console-client of the Secret own');
    expect(await chart?.notes('minimal.yaml')).not.toContain('console/callback');
  });
});

it('the dashboard shows metrics that exist', () => {
  const names = [...read('helm/files/dashboard.json').matchAll(/accord_\w+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  );
  expect(new Set(names).size).toBeGreaterThan(10);
  for (const name of names) expect(read('docs/operations.md')).toContain(`\`${name}\``);
});

it('the dashboard has a panel for each question that an on-call person asks first', () => {
  const { panels } = JSON.parse(read('helm/files/dashboard.json')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  const shown = new Map(
    panels.map(({ title, targets = [] }) => [title, targets.map(({ expr }) => expr).join(' ')]),
  );
  const wanted = {
    'Submissions: duration': 'accord_submit_duration_seconds_bucket',
    'Submissions by status': 'accord_submit_duration_seconds_count',
    'Outbox: age of the oldest event': 'accord_outbox_age_seconds',
    'Peers: parts and decisions waiting': 'accord_peer_backlog',
    'Webhooks: deliveries waiting': 'accord_webhook_backlog',
    'Webhooks: age of the oldest delivery': 'accord_webhook_backlog_age_seconds',
    'Dead letters': 'accord_dead_letters',
    'Rejected because of overload': 'accord_http_refused_total',
    CPU: 'process_cpu',
    'Memory by pod': 'process_resident_memory_bytes',
  };
  for (const [title, metric] of Object.entries(wanted)) expect(shown.get(title), title).toContain(metric);
});

it('the chart installs the release that package.json and the label of the image name', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(/^appVersion: (\S+)$/m.exec(read('helm/Chart.yaml'))?.[1]).toBe(version);
  expect(/image\.version=(\S+)/.exec(read('deploy/Dockerfile'))?.[1]).toBe(version);
});
