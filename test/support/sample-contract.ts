import { readContract } from './contract.ts';

/** The product's own contract, parsed. */
export const sampleContract = readContract() as unknown as Record<string, unknown>;
