import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { ReadApi } from './api.ts';

type Labels = Record<string, string>;
interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}
interface PolicyPeer {
  ipBlock?: { cidr: string; except?: string[] };
  namespaceSelector?: Selector;
  podSelector?: Selector;
}
interface PolicyPort {
  protocol?: string;
  port?: number | string;
  endPort?: number;
}
interface Rule {
  from?: PolicyPeer[];
  to?: PolicyPeer[];
  ports?: PolicyPort[];
}
interface Policy {
  metadata: { name: string; namespace: string };
  spec: { podSelector?: Selector; policyTypes?: string[]; ingress?: Rule[]; egress?: Rule[] };
}
interface Pod {
  metadata: { name: string; namespace: string; labels?: Labels };
  spec: { hostNetwork?: boolean; containers: { ports?: { name?: string; containerPort: number }[] }[] };
  status: { podIP?: string; phase?: string };
}
interface Namespace {
  metadata: { name: string; labels?: Labels };
}
interface State {
  namespaces: Namespace[];
  pods: Pod[];
  policies: Policy[];
}

const directions = [
  { type: 'Egress', rules: 'egress', peers: 'to', own: 'saddr', other: 'daddr' },
  { type: 'Ingress', rules: 'ingress', peers: 'from', own: 'daddr', other: 'saddr' },
] as const;

/**
 * Enforces the NetworkPolicies of a cluster with one node, because the bridge plugin ignores them: a table
 * of nftables in the network namespace of the node, which follows changes within 0.2 seconds. Traffic of the
 * node itself, such as probes, is not filtered, as with other network plugins. IPv4 only.
 * @param load makes rules of nft effective in the node.
 * @returns stops the enforcement; the last rules stay.
 */
export async function enforceNetworkPolicies(
  read: ReadApi,
  load: (rules: string) => Promise<void>,
): Promise<{ stop(): Promise<void> }> {
  let isStopped = false;
  let loaded = '';
  const update = async () => {
    const rules = writeRules(await readState(read));
    if (rules === loaded) return;
    await load(rules);
    loaded = rules;
  };
  await update();
  const loop = (async () => {
    while (!isStopped) {
      await pause(200);
      // The API server may be unavailable for a moment.
      await update().catch(() => {});
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await loop;
    },
  };
}

/** Loads rules into a network namespace. @param init a process of the namespace. */
export function nftLoader(enter: readonly string[]): (rules: string) => Promise<void> {
  return async (rules) => {
    const child = spawn('nsenter', [...enter, 'nft', '-f', '-'], { stdio: ['pipe', 'inherit', 'inherit'] });
    child.stdin.end(rules);
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error('nft refuses the rules of the NetworkPolicies');
  };
}

async function readState(read: ReadApi): Promise<State> {
  const [namespaces, pods, policies] = await Promise.all([
    read<Namespace>('/api/v1/namespaces'),
    read<Pod>('/api/v1/pods'),
    read<Policy>('/apis/networking.k8s.io/v1/networkpolicies'),
  ]);
  const isConnected = ({ spec, status }: Pod) =>
    status.podIP && !spec.hostNetwork && ['Pending', 'Running'].includes(status.phase ?? '');
  return { namespaces, pods: pods.filter(isConnected), policies };
}

/** The rules of a state, as a script of nft that replaces those before. */
export function writeRules(state: State): string {
  const chains: string[] = [];
  const jumps: string[] = [];
  for (const direction of directions)
    for (const [index, pod] of state.pods.entries()) {
      const policies = state.policies.filter((policy) => isolates(policy, pod, direction));
      if (policies.length === 0) continue;
      const chain = `${direction.rules}${index}`;
      const rules = policies.flatMap((policy) =>
        (policy.spec[direction.rules] ?? []).flatMap((rule) =>
          writeRule(state, { policy, rule, pod, direction }),
        ),
      );
      chains.push(
        `  chain ${chain} {\n${rules.map((rule) => `    ${rule} return`).join('\n')}\n    drop\n  }`,
      );
      jumps.push(`    ip ${direction.own} ${pod.status.podIP} jump ${chain}`);
    }
  return `table ip accord
delete table ip accord
table ip accord {
${chains.join('\n')}
  chain forward {
    type filter hook forward priority 0; policy accept;
    ct state established,related accept
${jumps.join('\n')}
  }
}
`;
}

type Direction = (typeof directions)[number];

function isolates(policy: Policy, pod: Pod, direction: Direction): boolean {
  const { podSelector, policyTypes, egress } = policy.spec;
  const types = policyTypes ?? (egress ? ['Ingress', 'Egress'] : ['Ingress']);
  return (
    policy.metadata.namespace === pod.metadata.namespace &&
    types.includes(direction.type) &&
    matches(podSelector ?? {}, pod.metadata.labels)
  );
}

function writeRule(
  state: State,
  { policy, rule, pod, direction }: { policy: Policy; rule: Rule; pod: Pod; direction: Direction },
): string[] {
  const targets = direction.type === 'Ingress' ? [pod] : state.pods;
  const peers = rule[direction.peers];
  const addresses = peers?.length
    ? peers.flatMap((peer) => addressesOf(state, peer, policy.metadata.namespace))
    : [{ cidr: '0.0.0.0/0' }];
  const ports = rule.ports?.length ? rule.ports.flatMap((port) => portsOf(port, targets)) : [''];
  return addresses.flatMap(({ cidr, except = [] }) => {
    const excluded = except.length > 0 ? ` ip ${direction.other} != { ${except.join(', ')} }` : '';
    return ports.map((port) => `ip ${direction.other} ${cidr}${excluded} ${port}`);
  });
}

function addressesOf(state: State, peer: PolicyPeer, own: string): { cidr: string; except?: string[] }[] {
  if (peer.ipBlock) return peer.ipBlock.cidr.includes(':') ? [] : [peer.ipBlock];
  const labels = new Map(state.namespaces.map(({ metadata }) => [metadata.name, metadata.labels]));
  return state.pods
    .filter(({ metadata }) =>
      peer.namespaceSelector
        ? matches(peer.namespaceSelector, labels.get(metadata.namespace))
        : metadata.namespace === own,
    )
    .filter(({ metadata }) => !peer.podSelector || matches(peer.podSelector, metadata.labels))
    .map(({ status }) => ({ cidr: status.podIP ?? '' }));
}

function portsOf({ protocol = 'TCP', port, endPort }: PolicyPort, targets: readonly Pod[]): string[] {
  const name = protocol.toLowerCase();
  if (port === undefined) return [`meta l4proto ${name}`];
  if (typeof port === 'number') return [`${name} dport ${endPort ? `${port}-${endPort}` : port}`];
  const numbers = targets
    .flatMap(({ spec }) => spec.containers.flatMap(({ ports }) => ports ?? []))
    .filter((each) => each.name === port)
    .map(({ containerPort }) => containerPort);
  return [...new Set(numbers)].map((number) => `${name} dport ${number}`);
}

/** Whether labels match a selector (kubernetes.io, "Labels and Selectors"). */
function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels = {}): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const isIn = value !== undefined && values.includes(value);
      return operator === 'In' ? isIn : !isIn;
    })
  );
}
