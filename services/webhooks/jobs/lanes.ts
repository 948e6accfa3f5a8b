import type { Claim } from '../queries/attempts.ts';

interface Lane {
  running: number;
  waiting: { claim: Claim; at: number }[];
}

interface Limits {
  /** Calls at once to one endpoint. */
  perWebhook: number;
  /** Calls at once. */
  inAll: number;
  /** What has waited for longer is somebody else's to attempt: its lease would be over before its call is. */
  waitMs: number;
}

/** What this process has claimed, webhook by webhook, and whose turn it is. */
export interface Lanes {
  /** @param at when they were claimed, or before: on the clock of `performance.now()`. */
  add(claims: readonly Claim[], at: number): void;
  /** What is to be called now: those endpoints first whose turn was longest ago. `late`: what is to be given back. */
  next(): { begin: Claim[]; late: Claim[] };
  /** A call is over. */
  leave(webhook: string): void;
  /** How many wait for a webhook. */
  waiting(webhook: string): number;
  /** How many run and wait, by webhook. */
  held(): Map<string, number>;
  /** Takes out what waits for a webhook. */
  clear(webhook: string): Claim[];
  clearAll(): Claim[];
}

export function createLanes({ perWebhook, inAll, waitMs }: Limits): Lanes {
  /** In the order of their turns. */
  const lanes = new Map<string, Lane>();
  let running = 0;

  function drop(webhook: string, lane: Lane): void {
    if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(webhook);
  }

  function take(lane: Lane, late: Claim[]): Claim | undefined {
    for (;;) {
      const first = lane.waiting.shift();
      if (!first) return undefined;
      const waited = performance.now() - first.at;
      // The signature tells when it is sent.
      if (waited <= waitMs) return { ...first.claim, sentAt: first.claim.sentAt + Math.floor(waited / 1000) };
      late.push(first.claim);
    }
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
        const lane = lanes.get(claim.webhook) ?? { running: 0, waiting: [] };
        lane.waiting.push({ claim, at });
        lanes.set(claim.webhook, lane);
      }
    },
    next() {
      const begin: Claim[] = [];
      const late: Claim[] = [];
      for (let found = true; found && running < inAll; ) {
        found = false;
        for (const [webhook, lane] of [...lanes]) {
          if (running >= inAll) break;
          const claim = lane.running < perWebhook ? take(lane, late) : undefined;
          if (!claim) {
            drop(webhook, lane);
            continue;
          }
          lane.running += 1;
          running += 1;
          lanes.delete(webhook);
          lanes.set(webhook, lane);
          begin.push(claim);
          found = true;
        }
      }
      return { begin, late };
    },
    leave(webhook) {
      const lane = lanes.get(webhook) as Lane;
      lane.running -= 1;
      running -= 1;
      drop(webhook, lane);
    },
    waiting: (webhook) => lanes.get(webhook)?.waiting.length ?? 0,
    held: () =>
      new Map([...lanes].map(([webhook, lane]) => [webhook, lane.running + lane.waiting.length] as const)),
    clear,
    clearAll: () => [...lanes.keys()].flatMap(clear),
  };
}
