import canonicalize from 'canonicalize';
import { hashLeaf } from '#lib/audit/merkle-tree.ts';

/** A sealed line of the audit log with the members that its leaf covers, as the API shows it. */
export interface SealedLine {
  /** Position in the tree, from 0. */
  seq: number;
  id: string;
  at: string;
  actor: string;
  actorKind: string;
  action: string;
  target: string;
  outcome?: string | undefined;
  digest?: string | undefined;
  request?: string | undefined;
}

/** The leaf of a line: the hash of its canonical JSON (RFC 8785, docs/evidence.md, "Lines and leaves"). */
export function leafOf(line: SealedLine): Buffer {
  const { seq, id, at, actor, actorKind, action, target, outcome, digest, request } = line;
  const covered = { seq, id, at, actor, actorKind, action, target, outcome, digest, request };
  return hashLeaf(canonicalize(covered) as string);
}
