import { readContract } from './contract.ts';

/** The product's own contract, parsed. */
export const sampleContract = { ...readContract() } satisfies Record<string, unknown>;
