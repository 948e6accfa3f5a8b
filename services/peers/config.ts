import { outboundSpecs } from '#lib/config/outbound-specs.ts';

/** The settings of this service (docs/operations.md, "Settings"). */
export const peersSpecs = { ...outboundSpecs };
