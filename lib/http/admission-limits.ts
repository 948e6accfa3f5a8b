/**
 * Share of the limits (slots, delay of the event loop) that each priority may use: low is shed before normal,
 * normal before high. A late event loop sheds peers first, because they repeat their requests. Peers have a
 * separate quarter of the slots, so that they take none from other clients, and are rejected while other
 * requests use three quarters.
 */
const shares = { high: 1, normal: 0.75, low: 0.5, peer: 0.25 };

/** Priority of a request under overload: `x-priority` in openapi.yaml, and `normal` without it. */
export type Priority = keyof typeof shares;
export const priorities = Object.keys(shares) as Priority[];

/** Requests of peers are counted apart from all others. */
export type Pool = 'peers' | 'others';

/** Requests below this number are admitted whatever the delay of the event loop. */
const alwaysAdmitted = 8;

/** The slots of a process: how many are in use, and whether another request may have one. */
export interface AdmissionLimits {
  take(pool: Pool): void;
  release(pool: Pool): void;
  /**
   * The limit that keeps a new request out, as the metrics' label `reason` names it; undefined if it may be
   * admitted.
   */
  reasonToRefuse(priority: Priority): 'in-flight' | 'event-loop' | undefined;
  /**
   * Whether a request that released its slot for a while must wait before it gets a slot again. It may use
   * the whole limit of its pool.
   */
  isFull(pool: Pool): boolean;
  inFlight(): number;
  /** Milliseconds since a request of a client other than a peer was in flight; 0 while there is one. */
  sinceOthersMs(): number;
}

/** @param limits 0 switches one off. @param readDelay delay of the event loop in milliseconds. */
export function createAdmissionLimits({
  limits,
  readDelay,
}: {
  limits: { inFlight: number; delayMs: number };
  readDelay: () => number;
}): AdmissionLimits {
  const taken = { others: 0, peers: 0 };
  let othersUntil = Number.NEGATIVE_INFINITY;
  const exceeds = (pool: Pool, share: number) =>
    limits.inFlight > 0 && taken[pool] >= limits.inFlight * share;
  return {
    take(pool) {
      taken[pool] += 1;
    },
    release(pool) {
      taken[pool] -= 1;
      if (pool === 'others') othersUntil = performance.now();
    },
    reasonToRefuse(priority) {
      const isPeer = priority === 'peer';
      if (exceeds('others', shares[isPeer ? 'normal' : priority])) return 'in-flight';
      if (isPeer && exceeds('peers', shares.peer)) return 'in-flight';
      // With few requests in flight, the event loop is delayed because the process is starting or the machine
      // is busy: shedding does not help.
      if (limits.delayMs === 0 || taken.others + taken.peers < alwaysAdmitted) return undefined;
      return readDelay() >= limits.delayMs * shares[priority] ? 'event-loop' : undefined;
    },
    isFull: (pool) => exceeds(pool, pool === 'peers' ? shares.peer : 1),
    inFlight: () => taken.others + taken.peers,
    sinceOthersMs: () => (taken.others > 0 ? 0 : performance.now() - othersUntil),
  };
}
