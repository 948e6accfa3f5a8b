import { networkList } from '#lib/config/validators.ts';

/** The settings of this service (decisions.md §12). */
export const peersSpecs = {
  OUTBOUND_ALLOWED_NETWORKS: networkList({ default: ['127.0.0.0/8', '::1/128'] }),
};
