import type { VersionStatus } from './model.ts';

/** The moves that a version may make by request; every other one is refused (docs/interface.md, "Models"). */
const moves: Record<VersionStatus, readonly VersionStatus[]> = {
  DRAFT: ['ACTIVE'],
  ACTIVE: ['ARCHIVED'],
  ARCHIVED: [],
};

export function mayMove(from: VersionStatus, to: VersionStatus): boolean {
  return moves[from].includes(to);
}
