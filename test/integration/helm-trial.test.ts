import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { execute } from '../infrastructure/programs.ts';
import { readCompose } from '../support/contract/compose-file.ts';
import { openChart, readManifests, readTrialRouter } from '../support/helm/chart.ts';
import { environmentOf, podsIn } from '../support/helm/settings-of.ts';

const project = path.join(import.meta.dirname, '..', '..');
const chart = await openChart();

describe.skipIf(!chart)('the trial', () => {
  const [deployment, service] = readTrialRouter();
  const labels = (service?.spec.selector ?? {}) as Record<string, string>;

  it('routes as compose does, to the Services of the release, by the command that the example gives', async () => {
    const example = readFileSync(path.join(project, 'helm/examples/trial.yaml'), 'utf8');
    const command = /^# {3}(sed .*) > nginx\.conf$/m.exec(example)?.[1] ?? 'false';
    const { stdout } = await execute('sh', ['-euc', command], { cwd: project });
    const manifests = readManifests((await chart?.render('trial.yaml')) ?? '');
    const services = manifests.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);
    expect(services).toHaveLength(6);
    const routed = [...stdout.matchAll(/server (\S+):8080 max_fails=0; /g)].map(([, name]) => name);
    expect(routed.sort()).toEqual(services.sort());
    // The address is that of Docker's name server.
    expect(stdout).not.toMatch(/127\.0\.0\.11|resolve /);
    expect(manifests.filter(({ kind }) => kind === 'Ingress')).toEqual([]);
    expect(podsIn(deployment ? [deployment] : []).get('')?.containers[0]?.image).toBe(
      readCompose().services.router?.image,
    );
  });

  it('lets the console call the API by this router, which policies allow', async () => {
    const manifests = readManifests((await chart?.render('trial.yaml')) ?? '');
    const [listening] = (service?.spec.ports ?? []) as { port: number }[];
    const address = `http://${service?.metadata.name}:${listening?.port}`;
    expect(environmentOf(manifests, 'console').API_URL).toBe(address);
    const template = deployment?.spec.template as { metadata?: { labels?: object } } | undefined;
    expect(template?.metadata?.labels).toEqual(labels);
    const router = [{ podSelector: { matchLabels: labels } }];
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
    const specOf = (name: string) => policies.find(({ metadata }) => metadata.name === name)?.spec;
    expect(specOf('accord-console')?.egress).toContainEqual({ to: router });
    for (const name of ['console', 'forms', 'auth'])
      expect(specOf(`accord-${name}`)?.ingress).toContainEqual({ from: router, ports: [{ port: 8080 }] });
  });

  it.each([
    ['http://localhost:8080', true],
    ['http://[::1]:8080', true],
    ['https://consent.example.org', false],
  ])('the notes for %s say whether nobody can sign in: %s', async (baseUrl, isWarned) => {
    const notes = await chart?.notes('minimal.yaml', '--set', `baseUrl=${baseUrl}`);
    expect(notes?.includes('Nobody can sign in to the console yet')).toBe(isWarned);
    expect(await chart?.notes('trial.yaml')).not.toContain('Nobody can sign in');
  });
});
