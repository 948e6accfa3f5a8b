import type { Forgotten } from './back-up.ts';

/** What instances knew before each time that they were restored from a backup. */
export interface Restorations {
  leader: readonly Forgotten[];
  owner: readonly Forgotten[];
}

/** What restorations excuse (docs/federation.md, "After a restore"). */
export interface Lost {
  /** The leader has forgotten what became of these transactions, or all of them. */
  transactions: Set<string>;
  /** It has forgotten that these were in force. */
  commitments: Set<string>;
  /** It has forgotten that it sent these parts. */
  sent: Set<string>;
  /** Their owner has forgotten that it took these. */
  taken: Set<string>;
}

/** What waited for its owner in the backup is sent again, and comes out as it did: that is not excused. */
export function lostIn({ leader, owner }: Restorations = { leader: [], owner: [] }): Lost {
  const changed = leader.flatMap(({ transactions }) => transactions);
  const idsOf = (those: typeof changed) => new Set(those.map(({ id }) => id));
  return {
    transactions: idsOf(changed.filter(({ from, to }) => from !== 'SUBMITTED' || to !== 'COMMITTED')),
    commitments: idsOf(changed.filter(({ to }) => to === 'COMMITTED')),
    sent: new Set(leader.flatMap(({ parts }) => parts)),
    taken: new Set(owner.flatMap(({ submissions }) => submissions)),
  };
}
