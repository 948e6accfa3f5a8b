/** The replicas of a service, used in turn. */
export interface Addresses {
  next(): string;
  /** It does not answer: for a while the others come first. */
  avoid(address: string): void;
}

const avoidMs = 5_000;

/** Where a load balancer or a name with several addresses spreads connections, there is one address and nothing to choose. */
export function createAddresses(addresses: readonly string[]): Addresses {
  const avoided = new Map<string, number>();
  let turn = 0;
  return {
    next() {
      const now = performance.now();
      const good = addresses.filter((address) => (avoided.get(address) ?? 0) <= now);
      const candidates = good.length > 0 ? good : addresses;
      turn += 1;
      return candidates[turn % candidates.length] as string;
    },
    avoid(address) {
      avoided.set(address, performance.now() + avoidMs);
    },
  };
}
