import { isConsistent } from '#lib/audit/consistency.ts';
import { emptyFrontier, rootOf } from '#lib/audit/merkle-tree.ts';
import type { CheckpointUpdate, LogHead } from '#lib/witness/checkpoint-note.ts';

/**
 * What a witness does with a signed head (c2sp.org/tlog-witness). `stale`: the log names another size than
 * the one that is known. `inconsistent`: a fork, or a proof that proves nothing.
 */
export type Verdict = 'cosign' | 'malformed' | 'stale' | 'inconsistent';

/** Judges an update of a log. @param known the newest head that was cosigned; undefined if there is none. */
export function judgeUpdate(
  known: LogHead | undefined,
  { old, proof }: Pick<CheckpointUpdate, 'old' | 'proof'>,
  stated: LogHead,
): Verdict {
  if (old > stated.size) return 'malformed';
  const from = known ?? { size: 0, root: emptyRoot };
  if (old !== from.size) return 'stale';
  if (stated.size === 0 && !stated.root.equals(emptyRoot)) return 'inconsistent';
  return isConsistent(from, stated, proof) ? 'cosign' : 'inconsistent';
}

/** Whether two heads of one log cannot both be true, which the signatures under them prove. */
export function isFork(known: LogHead | undefined, stated: LogHead): boolean {
  return known?.size === stated.size && !known.root.equals(stated.root);
}

const emptyRoot = rootOf(emptyFrontier());

/** A head as a line of the audit log, a problem and a log entry state it. */
export interface ShownHead {
  size: number;
  /** Hexadecimal, as in checkpoints; absent if it is not known. */
  root?: string | undefined;
}

/** The heads that contradict one another, for the audit logs of both sides. */
export interface Dispute {
  origin: string;
  /** What the witness knows. */
  known: ShownHead;
  /** What the log states. */
  stated: ShownHead;
}

export function showHead({ size, root }: LogHead): ShownHead {
  return { size, root: root.toString('hex') };
}
