import { describe, expect, it } from 'vitest';
import { definitions } from '../../services/definitions.ts';
import { type Manifest, openChart, readManifests } from '../support/helm/chart.ts';

const chart = await openChart();
const render = async (...more: string[]) =>
  chart ? readManifests(await chart.render('minimal.yaml', ...more)) : [];
const minimal = await render();
const names = definitions.map(({ name }) => name);

/** The resource of a service, or of the release. */
function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

describe.skipIf(!chart)('a service of the chart', () => {
  it.each(names)(
    '%s is replaced one ready pod after the other, and ends without losing a request',
    (name) => {
      const { spec } = find(minimal, 'Deployment', `accord-${name}`);
      expect(spec.strategy).toEqual({ rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
      const pod = spec.template?.spec as unknown as Record<string, unknown> & { containers: object[] };
      expect(pod.containers).toEqual([
        expect.objectContaining({
          startupProbe: {
            httpGet: { path: '/livez', port: 'internal' },
            periodSeconds: 1,
            failureThreshold: 60,
          },
          livenessProbe: expect.objectContaining({ httpGet: { path: '/livez', port: 'internal' } }),
          readinessProbe: expect.objectContaining({ httpGet: { path: '/readyz', port: 'internal' } }),
          lifecycle: { preStop: { sleep: { seconds: 5 } } },
        }),
      ]);
      // preStop, STOP_DELAY and the 25 s after which a process exits in any case.
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(5 + 5 + 25);
    },
  );

  it.each(names)('%s is spread over zones and nodes, and keeps a pod during a drain', (name) => {
    const selector = {
      'app.kubernetes.io/name': 'accord',
      'app.kubernetes.io/instance': 'accord',
      'app.kubernetes.io/component': name,
    };
    const pod = find(minimal, 'Deployment', `accord-${name}`).spec.template?.spec;
    const spread = (pod as unknown as { topologySpreadConstraints: object[] }).topologySpreadConstraints;
    expect(spread).toEqual(
      ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) =>
        expect.objectContaining({ topologyKey, maxSkew: 1, labelSelector: { matchLabels: selector } }),
      ),
    );
    expect(find(minimal, 'PodDisruptionBudget', `accord-${name}`).spec).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: selector },
    });
  });

  it('has no number of pods of its own if an autoscaler decides about it', async () => {
    const manifests = await render('--set', 'services.forms.autoscaling.enabled=true');
    expect(find(manifests, 'Deployment', 'accord-forms').spec).not.toHaveProperty('replicas');
    expect(find(manifests, 'Deployment', 'accord-auth').spec.replicas).toBe(2);
    expect(find(manifests, 'HorizontalPodAutoscaler', 'accord-forms').spec).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: 'accord-forms' },
      minReplicas: 2,
      maxReplicas: 6,
    });
  });
});

describe.skipIf(!chart)('a release', () => {
  it('lets its Job read and write one Secret, by name, and nothing else', () => {
    const role = find(minimal, 'Role', 'accord-secrets') as Manifest & { rules: object[] };
    const [resources, resourceNames] = [['secrets'], ['accord-secrets']];
    expect(role.rules).toEqual([
      { apiGroups: [''], resources, resourceNames, verbs: ['get', 'create', 'patch'] },
    ]);
    const rights = minimal.filter(({ kind }) => /Role(Binding)?$/.test(kind)).map(({ kind }) => kind);
    expect(rights.sort()).toEqual(['Role', 'RoleBinding']);
  });

  it('sends each path to the same service through an HTTPRoute as through an Ingress', async () => {
    const gateways = 'router={"kind":"HTTPRoute","gateways":[{"name":"public"}]}';
    const route = find(await render('--set-json', gateways), 'HTTPRoute', 'accord').spec as unknown as Route;
    const routed = route.rules.flatMap(({ matches, backendRefs }) =>
      matches.map(({ path }) => [path.type, path.value, ...backendRefs.map(({ name, port }) => name + port)]),
    );
    const ingress = find(minimal, 'Ingress', 'accord').spec as unknown as IngressSpec;
    const expected = (ingress.rules[0]?.http.paths ?? []).map(({ path, pathType, backend }) => [
      `Path${pathType}`,
      path,
      `${backend.service.name}8080`,
    ]);
    expect(expected.length).toBeGreaterThan(25);
    expect(routed.sort()).toEqual(expected.sort());
    expect(route.hostnames).toEqual([ingress.rules[0]?.host]);
  });
});

interface Route {
  hostnames: string[];
  rules: {
    matches: { path: { type: string; value: string } }[];
    backendRefs: { name: string; port: number }[];
  }[];
}

interface IngressSpec {
  rules: {
    host: string;
    http: { paths: { path: string; pathType: string; backend: { service: { name: string } } }[] };
  }[];
}
