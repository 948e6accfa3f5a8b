import { describe, expect, it } from 'vitest';
import { definitions } from '../../services/definitions.ts';
import {
  examples,
  type Manifest,
  openChart,
  type PodSpec,
  readManifests,
  readTrial,
  readTrialRouter,
} from '../support/helm/chart.ts';
import { connectionsOf } from '../support/helm/network-policies.ts';
import { podsIn } from '../support/helm/settings-of.ts';

const chart = await openChart();
const sources = [...readTrial(), ['trial-router.yaml', readTrialRouter()] as [string, Manifest[]]];
for (const example of chart ? examples : [])
  sources.push([example, readManifests((await chart?.render(example)) ?? '')]);

describe.each(sources)('the pods of %s', (_, manifests) => {
  const pods = [...podsIn(manifests)];

  it('are allowed by the restricted Pod Security Standard, and cannot write to their image', () => {
    expect(pods.length).toBeGreaterThan(0);
    for (const [name, pod] of pods) {
      expect(pod.securityContext, name).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(
        Object.keys(pod).filter((key) => key.startsWith('host')),
        name,
      ).toEqual([]);
      for (const volume of pod.volumes ?? []) expect(allowedVolumes).toContain(kindOf(volume));
      for (const { securityContext } of pod.containers)
        expect(securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  it('have no token of a service account, except the Job that creates the Secret', () => {
    const holders = pods
      .filter(([, pod]) => pod.automountServiceAccountToken !== false)
      .map(([name]) => name);
    expect(holders).toEqual(pods.some(([name]) => name === 'secrets') ? ['secrets'] : []);
  });

  it('have requests, a limit of memory, and a pinned image', () => {
    for (const { image, resources } of pods.flatMap(([, { containers }]) => containers)) {
      expect(resources).toMatchObject({
        requests: { cpu: expect.anything(), memory: expect.anything() },
        limits: { memory: expect.anything() },
      });
      expect(image).toMatch(/^[a-z0-9./-]+(:\d+\.\d+[\w.-]*|@sha256:[0-9a-f]{64})$/);
    }
  });

  it('have no secret in a value of their environment or in a ConfigMap', () => {
    const values = [
      ...pods.flatMap(([, pod]) => pod.containers.flatMap(({ env = [] }) => env)),
      ...manifests.flatMap(({ kind, data = {} }) =>
        kind === 'ConfigMap' ? Object.entries(data).map(([name, value]) => ({ name, value })) : [],
      ),
    ];
    for (const { name, value } of values) {
      if (value === undefined) continue;
      expect(URL.parse(value)?.password ?? '', name).toBe('');
      if (/PASSWORD|TOKEN|_KEY$|^(MAIL|SMS)_URL$/.test(name)) expect(value, name).toMatch(/^\//);
    }
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });
});

const allowedVolumes = ['configMap', 'emptyDir', 'projected', 'secret', 'persistentVolumeClaim'];

function kindOf(volume: NonNullable<PodSpec['volumes']>[number]): string | undefined {
  return Object.keys(volume).find((key) => key !== 'name');
}

describe.each(readTrial())('the store of %s', (_, manifests) => {
  it('accepts connections at its port only, and only from pods of a release in its namespace', () => {
    const specOf = (wanted: string[]) => manifests.find(({ kind }) => wanted.includes(kind))?.spec;
    const service = specOf(['Service']) as { selector: object; ports: { port: number }[] };
    const labels = podLabelsOf(specOf(['Deployment', 'StatefulSet']));
    expect(labels).toEqual(service.selector);
    expect(specOf(['NetworkPolicy'])).toEqual({
      podSelector: { matchLabels: labels },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'accord' } } }],
          ports: service.ports,
        },
      ],
    });
  });
});

function podLabelsOf(workload: Manifest['spec'] | undefined): unknown {
  return (workload?.template as { metadata?: { labels?: object } } | undefined)?.metadata?.labels;
}

describe.skipIf(!chart).each(examples)('the NetworkPolicies of %s', (example) => {
  const manifests = new Map(sources).get(example) ?? [];
  const { ingress, egress } = connectionsOf(manifests);

  it('apply to every pod, and allow the internal port of a service to its callers and helm test only', () => {
    expect([...ingress.keys()].sort()).toEqual([...podsIn(manifests).keys()].sort());
    for (const { name } of definitions) {
      const callers = definitions
        .filter(({ calls }) => calls.includes(name as never))
        .map((each) => each.name);
      const components = ingress.get(name)?.filter(({ port, component }) => port === 8081 && component);
      expect(components?.map(({ component }) => component).sort(), name).toEqual([...callers, 'test'].sort());
    }
    for (const job of ['migrate', 'topics', 'secrets', 'test']) expect(ingress.get(job) ?? []).toEqual([]);
  });

  it('allow the internet to peers and webhooks, without private ranges that no value names', () => {
    for (const component of ['peers', 'webhooks']) {
      const internet = egress.get(component)?.find(({ network, port }) => network === '0.0.0.0/0' && !port);
      for (const range of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '127.0.0.0/8'])
        expect(internet?.except, component).toContain(range);
    }
  });

  it('keep the metadata service of a cloud from every pod: only name servers and the API server may be link-local', () => {
    const open = manifests
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .flatMap(({ metadata, spec }) =>
        ((spec.egress ?? []) as { to?: Target[]; ports?: { port: number }[] }[]).map((rule) => ({
          name: metadata.name,
          ...rule,
        })),
      )
      .filter(({ to, ports }) => !to && !ports?.every(({ port }) => [53, 443, 6443].includes(port)));
    expect(open).toEqual([]);
    const blocks = [...egress].flatMap(([component, rules]) =>
      rules
        .filter(({ network }) => network === '0.0.0.0/0' || network === '::/0')
        .map((rule) => ({ component, ...rule })),
    );
    for (const { component, network, except } of blocks)
      expect(except, component).toContain(network === '::/0' ? 'fe80::/10' : '169.254.0.0/16');
  });
});

/** A target of a rule: pods, or a block of addresses. */
interface Target {
  namespaceSelector?: object;
  ipBlock?: { cidr: string; except?: string[] };
}

describe.skipIf(!chart)('calls of the public address', () => {
  const anywhere = [
    { namespaceSelector: {} },
    { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32'] } },
    { ipBlock: { cidr: '::/0', except: ['fe80::/10', 'fd00:ec2::254/128'] } },
  ];
  const router = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'traefik' } } };
  const keycloak = { podSelector: { matchLabels: { app: 'keycloak' } } };
  const egressOf = async (peers: object, oidc = {}) => {
    const values = { networkPolicy: { peers }, oidc };
    const more = Object.entries(values).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const text = await chart?.render('minimal.yaml', '--set-json', more.join(','));
    return (service: string) =>
      readManifests(text ?? '').find(
        ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === `accord-${service}`,
      )?.spec.egress as { to?: object[]; ports?: object[] }[];
  };

  it('reach a router that is not named at the port of its pods, from the console, and from auth with an issuer', async () => {
    const standard = await egressOf({});
    expect(standard('console')).toContainEqual({ to: anywhere });
    for (const service of ['auth', 'forms'])
      expect(standard(service), service).not.toContainEqual({ to: anywhere });
    const external = await egressOf({}, { issuer: 'https://login.example.org' });
    for (const service of ['console', 'auth'])
      expect(external(service), service).toContainEqual({ to: anywhere });
  });

  it('are named in the notes as long as no value names the router', async () => {
    const notesOf = (more: object) =>
      chart?.notes('minimal.yaml', '--set-json', `networkPolicy=${JSON.stringify(more)}`);
    const text = await notesOf({});
    expect(text).toContain('networkPolicy.peers.router is empty');
    expect(text).toContain('The console may call every address at every port but link-local ones');
    expect(await notesOf({ peers: { public: [router] } })).not.toContain('every port');
    for (const closed of [{ enabled: false }, { peers: { router: [router] } }])
      expect(await notesOf(closed)).not.toContain('networkPolicy.peers.router');
  });

  it('reach named routers and issuers at every port, and other addresses only at the port of the address', async () => {
    const oidc = { issuer: 'https://login.example.org' };
    const named = await egressOf({ router: [router] }, oidc);
    for (const service of ['console', 'auth']) {
      expect(named(service), service).toContainEqual({ to: [router] });
      expect(named(service), service).toContainEqual({ to: anywhere, ports: [{ port: 443 }] });
      expect(named(service), service).not.toContainEqual({ to: anywhere });
    }
    const both = await egressOf({ router: [router], issuer: [keycloak], public: [router] }, oidc);
    expect(both('auth')).toContainEqual({ to: [keycloak, router] });
    for (const service of ['console', 'auth'])
      expect(both(service), service).not.toContainEqual({ to: anywhere, ports: [{ port: 443 }] });
  });
});

it.skipIf(!chart)(
  'policies allow name servers and the API server at other ports, if values name them',
  async () => {
    const portsOf = async (component: string, ...more: string[]) => {
      const manifests = readManifests((await chart?.render('minimal.yaml', ...more)) ?? '');
      return connectionsOf(manifests)
        .egress.get(component)
        ?.map(({ port }) => port);
    };
    const other = ['--set-json', 'networkPolicy.ports={"dns":[5353],"apiServer":[16443]}'];
    expect(await portsOf('secrets')).toEqual([53, 53, 443, 6443]);
    expect(await portsOf('secrets', ...other)).toEqual([5353, 5353, 16_443]);
    expect(await portsOf('forms', ...other)).toEqual(expect.arrayContaining([5353]));
    expect(await portsOf('forms', ...other)).not.toContain(53);
  },
);
