/**
 * What each priority may use of the limits: submissions are refused last, what begins something new first. Peers repeat their requests by
 * themselves; they have a quarter beside, so that they take no room from the others.
 */
const shares = { high: 1, normal: 0.75, low: 0.5, peer: 0.25 };

/** How much a request counts when there is too much to do; the words of `x-priority` in the contract, and `normal` for all others. */
export type Priority = keyof typeof shares;
export const priorities = Object.keys(shares) as Priority[];

/** Peers are counted apart. */
export type Room = 'peers' | 'others';

/** What any machine can do at once without anybody waiting for long. */
const fewRequests = 8;

/** The places of a process: who holds one, and whether there is room for one more. */
export interface Places {
  take(room: Room): void;
  give(room: Room): void;
  /** Why a new request cannot be worked on now, in a word of the metrics; undefined if it can. */
  reasonToRefuse(priority: Priority): string | undefined;
  /** The same for a request that gave its place up for a while: all of its room is open to it. */
  reasonToReturn(room: Room): string | undefined;
  inFlight(): number;
  /** How long no request has been worked on that does not come from a peer, 0 while there is one. */
  sinceOthersMs(): number;
}

/** @param limits 0 switches one off. @param readDelay delay of the event loop in milliseconds. */
export function createPlaces({
  limits,
  readDelay,
}: {
  limits: { inFlight: number; delayMs: number };
  readDelay: () => number;
}): Places {
  const taken = { others: 0, peers: 0 };
  let othersUntil = Number.NEGATIVE_INFINITY;
  const isFull = (room: Room, share: number) => limits.inFlight > 0 && taken[room] >= limits.inFlight * share;
  return {
    take(room) {
      taken[room] += 1;
    },
    give(room) {
      taken[room] -= 1;
      if (room === 'others') othersUntil = performance.now();
    },
    reasonToRefuse(priority) {
      const isPeer = priority === 'peer';
      if (isFull('others', shares[isPeer ? 'normal' : priority])) return 'in-flight';
      if (isPeer && isFull('peers', shares.peer)) return 'in-flight';
      // A loop that is late with next to nothing to do has just started, or the machine is busy with others: refusing would not help.
      if (limits.delayMs === 0 || taken.others + taken.peers < fewRequests) return undefined;
      return readDelay() >= limits.delayMs * shares[priority] ? 'event-loop' : undefined;
    },
    reasonToReturn: (room) => (isFull(room, room === 'peers' ? shares.peer : 1) ? 'in-flight' : undefined),
    inFlight: () => taken.others + taken.peers,
    sinceOthersMs: () => (taken.others > 0 ? 0 : performance.now() - othersUntil),
  };
}
