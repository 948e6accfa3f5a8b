import { networkList } from '#lib/config/validators.ts';

/** Settings of services that call addresses which somebody else chose (decisions.md §12). */
export const outboundSpecs = {
  OUTBOUND_ALLOWED_NETWORKS: networkList({ default: undefined }),
};

/** Private networks that may be called: unless told otherwise this machine in standalone mode, else none. */
export function allowedNetworks(
  { OUTBOUND_ALLOWED_NETWORKS: set }: { OUTBOUND_ALLOWED_NETWORKS: readonly string[] | undefined },
  standalone: boolean,
): readonly string[] {
  return set ?? (standalone ? ['127.0.0.0/8', '::1/128'] : []);
}
