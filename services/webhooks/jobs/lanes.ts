import type { Claim } from '../queries/attempts.ts';

interface Lane {
  /** Calls under way. */
  running: number;
  /** Calls that are over, and not written down yet. */
  over: number;
  /** Its last call took long. */
  slow: boolean;
  waiting: { claim: Claim; at: number }[];
}

interface Limits {
  /** Calls at once to one endpoint. */
  perWebhook: number;
  /** Calls at once. Once half of these places are taken, slow endpoints get one at a time: they would have all of them before long. */
  inAll: number;
  /** What takes longer is slow. */
  slowMs: number;
  /** Of so many calls to one endpoint it may not be written down yet what became of them: a crash has them made again. */
  unwritten: number;
  /** What has waited for longer is somebody else's to attempt: its lease would be over before its call is. */
  waitMs: number;
}

/** What this process has claimed, webhook by webhook, and whose turn it is. */
export interface Lanes {
  /** @param at when they were claimed, or before: on the clock of `performance.now()`. */
  add(claims: readonly Claim[], at: number): void;
  /** What is to be called now: those endpoints first whose turn was longest ago. `late`: what is to be given back. */
  take(): { next: Claim[]; late: Claim[] };
  /** A call is over: another one may be made. @param ms how long it took. */
  leave(webhook: string, ms: number): void;
  /** It has been written down what became of it. */
  written(webhook: string): void;
  /** How many wait for a webhook. */
  waiting(webhook: string): number;
  /** How many are called and wait to be, by webhook. */
  held(): Map<string, number>;
  /** Takes out what waits for a webhook. */
  clear(webhook: string): Claim[];
  clearAll(): Claim[];
}

export function createLanes({ perWebhook, inAll, slowMs, unwritten, waitMs }: Limits): Lanes {
  /** In the order of their turns. */
  const lanes = new Map<string, Lane>();
  let running = 0;

  function drop(webhook: string, lane: Lane): void {
    if (lane.running + lane.over + lane.waiting.length === 0) lanes.delete(webhook);
  }

  function takeOf(lane: Lane, late: Claim[]): Claim | undefined {
    const most = lane.slow && running >= inAll / 2 ? 1 : perWebhook;
    while (lane.running < most && lane.over < unwritten) {
      const first = lane.waiting.shift();
      if (!first) return undefined;
      const waited = performance.now() - first.at;
      // The signature tells when it is sent.
      if (waited <= waitMs) return { ...first.claim, sentAt: first.claim.sentAt + Math.floor(waited / 1000) };
      late.push(first.claim);
    }
    return undefined;
  }

  function clear(webhook: string): Claim[] {
    const lane = lanes.get(webhook);
    if (!lane) return [];
    const claims = lane.waiting.splice(0).map(({ claim }) => claim);
    drop(webhook, lane);
    return claims;
  }

  return {
    add(claims, at) {
      for (const claim of claims) {
        const lane = lanes.get(claim.webhook) ?? { running: 0, over: 0, slow: false, waiting: [] };
        lane.waiting.push({ claim, at });
        lanes.set(claim.webhook, lane);
      }
    },
    take() {
      const next: Claim[] = [];
      const late: Claim[] = [];
      for (let found = true; found && running < inAll; ) {
        found = false;
        for (const [webhook, lane] of [...lanes]) {
          if (running >= inAll) break;
          const claim = takeOf(lane, late);
          if (!claim) {
            drop(webhook, lane);
            continue;
          }
          lane.running += 1;
          running += 1;
          lanes.delete(webhook);
          lanes.set(webhook, lane);
          next.push(claim);
          found = true;
        }
      }
      return { next, late };
    },
    leave(webhook, ms) {
      const lane = lanes.get(webhook) as Lane;
      lane.slow = ms > slowMs;
      lane.running -= 1;
      lane.over += 1;
      running -= 1;
    },
    written(webhook) {
      const lane = lanes.get(webhook) as Lane;
      lane.over -= 1;
      drop(webhook, lane);
    },
    waiting: (webhook) => lanes.get(webhook)?.waiting.length ?? 0,
    held: () =>
      new Map([...lanes].map(([webhook, lane]) => [webhook, lane.running + lane.waiting.length] as const)),
    clear,
    clearAll: () => [...lanes.keys()].flatMap(clear),
  };
}
