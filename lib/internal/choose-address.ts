/** The replicas of a service, used in turn. */
export interface Addresses {
  /** All of them, in the order in which one call tries them. */
  order(): string[];
  /** It did not answer: for a while the others come first, each time for longer. */
  avoid(address: string): void;
  /** It has answered. */
  trust(address: string): void;
}

const leastAvoidMs = 2_000;
/** A replica that sleeps costs a call its patience that often. */
const mostAvoidMs = 16_000;

/** Where a load balancer or a name with several addresses spreads connections, there is one address and nothing to choose. */
export function createAddresses(addresses: readonly string[]): Addresses {
  const avoided = new Map<string, { until: number; ms: number }>();
  let turn = 0;
  return {
    order() {
      turn = (turn + 1) % addresses.length;
      const rotated = [...addresses.slice(turn), ...addresses.slice(0, turn)];
      if (avoided.size === 0) return rotated;
      const now = performance.now();
      const until = (address: string) => Math.max(now, avoided.get(address)?.until ?? 0);
      // Of those that failed the one that has had the longest time to come back is first.
      return rotated.sort((a, b) => until(a) - until(b));
    },
    avoid(address) {
      const now = performance.now();
      const known = avoided.get(address);
      // Calls that were under way at the same time fail together.
      if (known && known.until > now) return;
      const ms = Math.min(known ? 2 * known.ms : leastAvoidMs, mostAvoidMs);
      avoided.set(address, { until: now + ms, ms });
    },
    trust(address) {
      if (avoided.size > 0) avoided.delete(address);
    },
  };
}
