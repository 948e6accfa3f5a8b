import type { ReportedVerdict } from './part.ts';

/**
 * What the owner of a part knows of the erasure of its person. DELIVERED: it has not decided or not finished;
 * it is asked again (docs/erasure.md, "Peers").
 */
export type PartErasureState = 'QUEUED' | 'DELIVERED' | 'ACKNOWLEDGED' | 'OVERDUE' | 'FAILED' | 'UNSUPPORTED';

/** `kept`: the owner does not erase its part. Null unless ACKNOWLEDGED. */
type PartErasureOutcome = 'done' | 'kept' | null;

export interface PartErasure {
  state: PartErasureState;
  outcome: PartErasureOutcome;
}

/** What becomes of a request to erase a part, by the verdict that reports it. */
export const partErasures: Partial<Record<ReportedVerdict['verdict'], PartErasure>> = {
  erased: { state: 'ACKNOWLEDGED', outcome: 'done' },
  'erasure-refused': { state: 'ACKNOWLEDGED', outcome: 'kept' },
  'erasure-noted': { state: 'DELIVERED', outcome: null },
  'erasure-unsupported': { state: 'UNSUPPORTED', outcome: null },
  'erasure-unreachable': { state: 'FAILED', outcome: null },
};
