import { describe, expect, it } from 'vitest';
import { copyChart, type Manifest, openChart, readManifests } from '../support/helm/chart.ts';
import { connectionsOf } from '../support/helm/network-policies.ts';
import { environmentOf, podsIn, secretFilesOf } from '../support/helm/settings-of.ts';

const chart = await openChart();
const entry = `ledger:
  calls: [auth]
  secrets: [ledger-sealing]
  paths: [/ledger, /audit/ledger]
  egress: [outbound]
`;
const values = [
  'services={"ledger":{"replicas":3,"autoscaling":{"enabled":true,"maxReplicas":9}}}',
  'secrets.from={"ledger-sealing":{"name":"other"}}',
];

/** A copy of the chart whose table of services has one more entry. */
function chartWith(added: string): Promise<string> {
  return copyChart('templates/_helpers.tpl', (table) =>
    table.replace(/(define "accord.services" -}}\n)/, `$1${added}`),
  );
}

describe.skipIf(!chart)('a service that joins the chart', () => {
  it('needs one entry in the table of services for all its resources', async () => {
    const more = values.flatMap((value) => ['--set-json', value]);
    const text = await chart?.renderFrom(await chartWith(entry), 'minimal.yaml', ...more);
    const manifests = readManifests(text ?? '');
    const kindsOf = (name: string) =>
      manifests.filter(({ metadata }) => metadata.name === `accord-${name}`).map(({ kind }) => kind);
    expect(kindsOf('ledger').sort()).toEqual([...kindsOf('webhooks'), 'HorizontalPodAutoscaler'].sort());
    expect(environmentOf(manifests, 'ledger')).toMatchObject({ REPLICAS: '2' });
    expect(environmentOf(manifests, 'auth').LEDGER_INTERNAL_URL).toBe('http://accord-ledger:8081');
    expect(secretFilesOf(manifests, 'ledger')).toEqual({
      'ledger-sealing': { name: 'other', key: 'ledger-sealing' },
      ...entriesOfRelease('database-ledger', 'internal-ledger'),
    });
    expect(secretFilesOf(manifests, 'auth')).toMatchObject(entriesOfRelease('internal-ledger'));
    expect(secretFilesOf(manifests, 'migrate')).toMatchObject(entriesOfRelease('database-ledger'));
    const { ingress, egress } = connectionsOf(manifests);
    expect(ingress.get('auth')).toContainEqual({ port: 8081, component: 'ledger' });
    expect(egress.get('ledger')?.map(({ network }) => network)).toContain('0.0.0.0/0');
    expect(routesOf(manifests)).toEqual(expect.arrayContaining(['/ledger', '/audit/ledger']));
    expect(podsIn(manifests).get('test')?.containers[0]?.env?.[0]?.value).toContain('"ledger"');
  });
});

function entriesOfRelease(...keys: string[]): Record<string, { name: string; key: string }> {
  return Object.fromEntries(keys.map((key) => [key, { name: 'accord-secrets', key }]));
}

interface Rule {
  http: { paths: { path: string; backend: { service: { name: string } } }[] };
}

/** Paths that the Ingress sends to the service. */
function routesOf(manifests: readonly Manifest[]): string[] {
  const ingress = manifests.find(({ kind }) => kind === 'Ingress');
  const paths = ((ingress?.spec.rules ?? []) as Rule[]).flatMap(({ http }) => http.paths);
  return paths.filter(({ backend }) => backend.service.name === 'accord-ledger').map(({ path }) => path);
}
