/** The replicas of a service, used in turn. */
export interface Addresses {
  /** All of them, in the order in which one call tries them. */
  order(): string[];
  /** It did not answer: for a while the others come first. */
  avoid(address: string): void;
}

const avoidMs = 2_000;

/** Where a load balancer or a name with several addresses spreads connections, there is one address and nothing to choose. */
export function createAddresses(addresses: readonly string[]): Addresses {
  const failedAt = new Map<string, number>();
  let turn = 0;
  return {
    order() {
      turn = (turn + 1) % addresses.length;
      const rotated = [...addresses.slice(turn), ...addresses.slice(0, turn)];
      if (failedAt.size === 0) return rotated;
      const now = performance.now();
      for (const [address, at] of failedAt) if (now - at > avoidMs) failedAt.delete(address);
      // Of those that failed the one that has had the longest time to come back is first.
      return rotated.sort((a, b) => (failedAt.get(a) ?? 0) - (failedAt.get(b) ?? 0));
    },
    avoid(address) {
      failedAt.set(address, performance.now());
    },
  };
}
