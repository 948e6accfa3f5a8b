import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { waitForRouter } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { withoutFailure } from './under-load.ts';

const gateway = { name: 'public', namespace: 'router' };

/** The other kind of router. */
export const gatewayScenarios: Scenario[] = [
  {
    name: 'gateway',
    promise: 'With an HTTPRoute in place of the Ingress, consents are given through a Gateway.',
    async run(stage) {
      const { organisation, cluster, router } = stage;
      await createGateway(stage);
      await organisation.deploy({ router: { kind: 'HTTPRoute', gateways: [gateway] } });
      try {
        await waitUntil('the Gateway accepts the route', async () => {
          const status = '--output=jsonpath={.status.parents[*].conditions[?(@.type=="Accepted")].status}';
          return (await organisation.kubectl('get', 'httproute', 'accord', status)) === 'True';
        });
        expectThat(
          (await organisation.kubectl('get', 'ingress', '--output=name')) === '',
          'the Ingress is still there',
        );
        await waitForRouter(organisation, router);
        return await withoutFailure(stage, async () => {});
      } finally {
        await organisation.deploy();
        await cluster.kubectl.run(['--namespace=router', 'delete', 'gateway', gateway.name]);
        await waitForRouter(organisation, router);
      }
    },
  },
];

async function createGateway({ cluster, organisation, certificates }: Stage): Promise<void> {
  const host = new URL(organisation.url).host;
  const encoded = async (suffix: string) =>
    (await readFile(path.join(certificates, `${host}.${suffix}`))).toString('base64');
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name: 'gateway-tls', namespace: gateway.namespace },
    data: { 'tls.crt': await encoded('crt'), 'tls.key': await encoded('key') },
  };
  const gatewayClass = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: 'traefik' },
    spec: { controllerName: 'traefik.io/gateway-controller' },
  };
  const listener = {
    name: 'https',
    protocol: 'HTTPS',
    // The port of Traefik's entry point.
    port: 8443,
    tls: { certificateRefs: [{ name: secret.metadata.name }] },
    allowedRoutes: { namespaces: { from: 'All' } },
  };
  const spec = { gatewayClassName: gatewayClass.metadata.name, listeners: [listener] };
  const { apiVersion } = gatewayClass;
  const items = [secret, gatewayClass, { apiVersion, kind: 'Gateway', metadata: gateway, spec }];
  await cluster.kubectl.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}
