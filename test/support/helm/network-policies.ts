import type { Manifest } from './chart.ts';

/** What a NetworkPolicy allows: a port (every one if undefined), with one kind of peer. */
export interface Connection {
  port: number | undefined;
  /** A component of the same release. */
  component?: string;
  /** A network, without the excepted ones. */
  network?: string;
  except?: string[];
}

interface Peer {
  podSelector?: { matchLabels?: Record<string, string> };
  ipBlock?: { cidr: string; except?: string[] };
}

interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { port: number }[];
}

interface PolicySpec {
  podSelector: { matchLabels: Record<string, string> };
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
}

const componentLabel = 'app.kubernetes.io/component';

/** The allowed connections into and out of the pods of each component that a policy of its own selects. */
export function connectionsOf(manifests: readonly Manifest[]): {
  ingress: Map<string, Connection[]>;
  egress: Map<string, Connection[]>;
} {
  const ingress = new Map<string, Connection[]>();
  const egress = new Map<string, Connection[]>();
  for (const { spec } of manifests.filter(({ kind }) => kind === 'NetworkPolicy')) {
    const policy = spec as unknown as PolicySpec;
    const component = policy.podSelector.matchLabels[componentLabel];
    // The policy that denies everything selects all pods.
    if (component === undefined) continue;
    if (policy.policyTypes.join() !== 'Ingress,Egress') throw new Error(`${component}: a direction is open`);
    ingress.set(component, (policy.ingress ?? []).flatMap(toConnections));
    egress.set(component, (policy.egress ?? []).flatMap(toConnections));
  }
  return { ingress, egress };
}

function toConnections({ from, to, ports = [] }: Rule): Connection[] {
  const numbers = ports.length > 0 ? ports.map(({ port }) => port) : [undefined];
  return numbers.flatMap((port) => (from ?? to ?? [{}]).map((peer) => ({ port, ...describePeer(peer) })));
}

function describePeer({ podSelector, ipBlock }: Peer): Omit<Connection, 'port'> {
  const component = podSelector?.matchLabels?.[componentLabel];
  return {
    ...(component && { component }),
    ...(ipBlock && { network: ipBlock.cidr, except: ipBlock.except ?? [] }),
  };
}
