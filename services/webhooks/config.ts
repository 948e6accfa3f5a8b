import { outboundSpecs } from '#lib/config/outbound-specs.ts';

/** The settings of this service (decisions.md §12). */
export const webhooksSpecs = { ...outboundSpecs };
