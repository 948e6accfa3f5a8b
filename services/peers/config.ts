import { outboundSpecs } from '#lib/config/specs.ts';

/** The settings of this service (docs/operations.md, "Settings"). */
export const peersSpecs = { ...outboundSpecs };
