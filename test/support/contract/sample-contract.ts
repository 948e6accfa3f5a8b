import { readContract } from './contract.ts';

/** The parsed openapi.yaml. */
export const sampleContract = { ...readContract() } satisfies Record<string, unknown>;
