import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readServiceSettings } from '#lib/config/settings.ts';
import { definitions, secretShares } from '../../services/definitions.ts';
import { findHelm3 } from '../infrastructure/helm.ts';
import { examples, type Manifest, openChart, readManifests } from '../support/helm/chart.ts';
import { connectionsOf } from '../support/helm/network-policies.ts';
import { environmentOf, podsIn, secretFilesOf } from '../support/helm/settings-of.ts';

const project = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(project, file), 'utf8');
const chart = await openChart();
// The oldest Helm 3 assumes Kubernetes 1.33 if no cluster tells it the version.
const chart3 = await openChart(findHelm3, ['--kube-version', '1.34.0']);
const minimal: Manifest[] = chart ? readManifests(await chart.render('minimal.yaml')) : [];

describe.skipIf(!chart)('the chart', () => {
  it.each(examples)('has no fault that helm lint finds with %s', async (example) => {
    expect(await chart?.lint(example)).toContain('0 chart(s) failed');
  });

  it.each(examples)('renders the same bytes from %s twice', async (example) => {
    const [first, second] = await Promise.all([chart?.render(example), chart?.render(example)]);
    expect(first).toBe(second);
  });

  it.skipIf(!chart3).each(examples)(
    'is the same for the oldest Helm 3: no fault in %s, and the same bytes',
    async (example) => {
      expect(await chart3?.lint(example)).toContain('0 chart(s) failed');
      expect(await chart3?.render(example)).toBe(await chart?.render(example));
    },
  );

  it.each(definitions.map((definition) => [definition.name, definition] as const))(
    'gives %s valid settings, and addresses of the services that it calls',
    (name, definition) => {
      const { settings, addressesOf } = readServiceSettings(definition, environmentOf(minimal, name));
      expect(settings).toMatchObject({ HOST: '0.0.0.0', PORT: 8080, INTERNAL_PORT: 8081, REPLICAS: 2 });
      for (const other of definition.calls)
        expect(addressesOf(other), other).toEqual([`http://accord-${other}:8081`]);
    },
  );

  it.each(definitions.map(({ name }) => name))('mounts the secrets that %s reads and no others', (name) => {
    const files = secretFilesOf(minimal, name);
    expect(Object.keys(files).sort()).toEqual([...(secretShares[name] ?? [])].sort());
    for (const [file, source] of Object.entries(files))
      expect(source).toEqual({ name: 'accord-secrets', key: file });
  });

  it('gives the password of the owner of the database to the migration, and to the refill of topics, alone', async () => {
    const holdersIn = (manifests: Manifest[]) =>
      [...podsIn(manifests).keys()].filter((each) => 'database-owner' in secretFilesOf(manifests, each));
    expect(holdersIn(minimal)).toEqual(['migrate']);
    const refilled = await chart?.render('minimal.yaml', '--set', 'topics.refill=true');
    expect(holdersIn(readManifests(refilled ?? '')).sort()).toEqual(['migrate', 'refill']);
    expect(Object.keys(secretFilesOf(minimal, 'migrate')).sort()).toEqual(
      [...(secretShares.migrate ?? [])].sort(),
    );
  });

  it('mounts texts of an organisation where the services that draw pages look for them', async () => {
    const locales = JSON.stringify({ forms: 'our-pages', auth: 'our-sign-in' });
    const manifests = readManifests(
      (await chart?.render('minimal.yaml', '--set-json', `locales=${locales}`)) ?? '',
    );
    const mounted = definitions.flatMap(({ name }) => {
      const pod = podsIn(manifests).get(name);
      const volume = pod?.volumes?.find((each) => each.name === 'locales');
      const mount = pod?.containers[0]?.volumeMounts?.find((each) => each.name === 'locales');
      const { LOCALES_DIR } = environmentOf(manifests, name);
      return volume ? [[name, volume.configMap?.name, mount?.mountPath, LOCALES_DIR]] : [];
    });
    expect(mounted.sort()).toEqual([
      ['auth', 'our-sign-in', '/locales/auth', '/locales'],
      ['forms', 'our-pages', '/locales/forms', '/locales'],
    ]);
    for (const { name } of definitions)
      expect(environmentOf(minimal, name)).not.toHaveProperty('LOCALES_DIR');
  });

  it('has services export traces only to a collector that is set, and lets them reach its port', async () => {
    const collector = 'https://collector.example.org:4319/otlp';
    const values = { endpoint: collector, ratio: 0.25, headers: { existingSecret: 'collector' } };
    const traced = await chart?.render('minimal.yaml', '--set-json', `tracing=${JSON.stringify(values)}`);
    const manifests = readManifests(traced ?? '');
    const portsOf = (rendered: Manifest[], name: string) =>
      connectionsOf(rendered)
        .egress.get(name)
        ?.map(({ port }) => port);
    for (const definition of definitions) {
      const { name } = definition;
      const { settings } = readServiceSettings(definition, environmentOf(manifests, name));
      expect(settings).toMatchObject({
        OTEL_EXPORTER_OTLP_ENDPOINT: collector,
        OTEL_TRACES_SAMPLER_ARG: 0.25,
      });
      expect(podsIn(manifests).get(name)?.containers[0]?.env, name).toContainEqual({
        name: 'OTEL_EXPORTER_OTLP_HEADERS',
        valueFrom: { secretKeyRef: { name: 'collector', key: 'headers' } },
      });
      expect(portsOf(manifests, name), name).toContain(4319);
      expect(portsOf(minimal, name), name).not.toContain(4319);
      expect(JSON.stringify(environmentOf(minimal, name))).not.toContain('OTEL_');
    }
  });

  it('routes paths as the router of compose does', () => {
    // That router lists /models only because it does not compress them.
    const expected = [
      ...read('deploy/nginx.conf').matchAll(/^\s*location (\S+) \{ proxy_pass http:\/\/(\w+);/gm),
    ]
      .map(([, prefix, service]) => `${prefix} ${service}`)
      .filter((route) => route !== '/models forms');
    const ingress = minimal.find(({ kind }) => kind === 'Ingress')?.spec as {
      rules: { http: { paths: { path: string; backend: { service: { name: string } } }[] } }[];
    };
    const paths = ingress.rules[0]?.http.paths.map(
      (each) => `${each.path} ${each.backend.service.name.replace('accord-', '')}`,
    );
    expect(paths?.sort()).toEqual(expected.sort());
  });
});
