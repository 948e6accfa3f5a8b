import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execute, findProgram, MissingInfrastructure, tell } from '../programs.ts';
import { createApiReader } from './api.ts';
import {
  buildGoPrograms,
  coreDnsVersion,
  metricsServerVersion,
  routerDefinitions,
  traefikVersion,
} from './go-programs.ts';
import { buildProgramImage, buildStoreImages, type NodeImage } from './images.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';
import { enforceNetworkPolicies, nftLoader } from './network-policies.ts';
import { type ClusterNode, startNode } from './node.ts';

/** Packages of Debian with programs that the node and the images need. */
const packages = {
  unshare: 'util-linux',
  ip: 'iproute2',
  openssl: 'openssl',
  runc: 'runc',
  containerd: 'containerd',
  nft: 'nftables',
  iptables: 'iptables',
  conntrack: 'conntrack',
  etcd: 'etcd-server',
  buildah: 'buildah',
  mmdebstrap: 'mmdebstrap',
};
const volumeCount = 16;
const networkPlugins = 'containernetworking-plugins';
const system = fileURLToPath(new URL('system', import.meta.url));

/** A Kubernetes with one node, a router, name servers, metrics and enforced NetworkPolicies. */
export interface Cluster {
  node: ClusterNode;
  kubectl: Kubectl;
  /** Path of kubectl. */
  program: string;
  stop(): Promise<void>;
}

/**
 * Starts a cluster on this machine. The first start builds what it needs, in about 15 minutes.
 * @param state folder of its data, replaced.
 * @param images images beside those of the system and the stores.
 * Call {@link installPackages} first.
 */
export async function startCluster(
  state: string,
  { images, say }: { images: readonly NodeImage[]; say: (line: string) => void },
): Promise<Cluster> {
  const programs = await buildGoPrograms(say);
  const systemImages = await Promise.all([
    buildProgramImage(path.join(programs.pause, 'pause'), 'registry.k8s.io/pause:3.10'),
    buildProgramImage(
      path.join(programs.coreDns, 'coredns'),
      `registry.k8s.io/coredns/coredns:v${coreDnsVersion}`,
    ),
    buildProgramImage(
      path.join(programs.metricsServer, 'metrics-server'),
      `registry.k8s.io/metrics-server/metrics-server:v${metricsServerVersion}`,
    ),
    buildProgramImage(path.join(programs.traefik, 'traefik'), `traefik:v${traefikVersion}`),
  ]);
  const stores = await buildStoreImages(say);
  say('starting the node');
  const node = await startNode(state, {
    programs: programs.kubernetes,
    images: [...systemImages, stores, ...images],
  });
  const program = path.join(programs.kubernetes, 'kubectl');
  const kubectl = createKubectl(program, node.kubeconfig);
  try {
    await createVolumes(state, kubectl);
    for (const file of await routerDefinitions())
      await kubectl.run(['apply', '--server-side', '--filename', file]);
    for (const name of ['coredns', 'traefik', 'metrics-server'])
      await kubectl.apply(await readFile(path.join(system, `${name}.yaml`), 'utf8'));
    const policies = await enforceNetworkPolicies(
      await createApiReader(node.kubeconfig),
      nftLoader(['-t', node.init, '-n']),
    );
    const stop = async () => {
      await policies.stop();
      await node.stop();
    };
    await kubectl.run([
      '--namespace=kube-system',
      'rollout',
      'status',
      'deployment/coredns',
      '--timeout=120s',
    ]);
    await kubectl.run(['--namespace=router', 'rollout', 'status', 'deployment/traefik', '--timeout=120s']);
    return { node, kubectl, program, stop };
  } catch (error) {
    await node.stop();
    throw error;
  }
}

/** Creates folders that claims of volumes are bound to. */
async function createVolumes(state: string, kubectl: Kubectl): Promise<void> {
  const volumes = Array.from({ length: volumeCount }, (_, index) => ({
    name: `volume-${index}`,
    path: path.join(state, 'volumes', String(index)),
  }));
  for (const volume of volumes) await mkdir(volume.path, { recursive: true });
  const items = volumes.map((volume) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volume.name },
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path: volume.path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node1'] }] },
          ],
        },
      },
    },
  }));
  await kubectl.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

/** Installs the packages that the node and its images need. @throws MissingInfrastructure */
export async function installPackages(say: (line: string) => void): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new MissingInfrastructure(
      'A Kubernetes node',
      ['this is not root on Linux'],
      'run it as root on Linux',
    );
  const missing = Object.entries(packages).filter(([program]) => !findProgram(program));
  const wanted = [...missing.map(([, name]) => name), networkPlugins];
  if (missing.length > 0) say(`installing ${wanted.join(', ')}`);
  const isInstalled = await execute('dpkg', ['-s', networkPlugins]).then(
    () => true,
    () => false,
  );
  if (missing.length === 0 && isInstalled) return;
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 1 << 26 };
  const install = () => execute('apt-get', ['install', '-y', '--no-install-recommends', ...wanted], options);
  try {
    await install().catch(async () => {
      await execute('apt-get', ['update'], options);
      await install();
    });
  } catch (error) {
    throw new MissingInfrastructure(
      'A Kubernetes node',
      [tell(error)],
      `apt-get install ${wanted.join(' ')}`,
    );
  }
}
