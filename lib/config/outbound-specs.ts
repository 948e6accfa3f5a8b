import { networkList } from '#lib/config/validators.ts';

/** Settings of services that call addresses which somebody else chose. */
export const outboundSpecs = {
  OUTBOUND_ALLOWED_NETWORKS: networkList({ default: undefined }),
};

/**
 * Private networks that may be called. Unless they are set: the loopback network in standalone mode on a loopback HOST (a developer's
 * machine), else none. Clients of other machines must not reach services that listen on this machine alone.
 */
export function allowedNetworks(
  {
    OUTBOUND_ALLOWED_NETWORKS: set,
    HOST,
  }: { OUTBOUND_ALLOWED_NETWORKS: readonly string[] | undefined; HOST: string },
  standalone: boolean,
): readonly string[] {
  return set ?? (standalone && isLoopback(HOST) ? ['127.0.0.0/8', '::1/128'] : []);
}

/** Whether only programs on this machine reach a server that listens on this host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
