import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressRules } from '#lib/outbound/address-rules.ts';
import { OutboundFailed, OutboundRefused } from '#lib/outbound/outbound-errors.ts';

/** All addresses of a name. Rejects if there is no such name, or nobody who knows. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const underWay = new Map<string, Promise<readonly string[]>>();

/**
 * As the machine resolves names (getaddrinfo): also those of /etc/hosts and of the search domains. Each look-up takes a thread until it ends,
 * and there are few: who asks for a name that is being looked up waits with the others.
 */
export const resolveBySystem: Resolve = (hostname) => {
  const asked =
    underWay.get(hostname) ??
    dns
      .lookup(hostname, { all: true })
      .then((found) => found.map(({ address }) => address))
      .finally(() => underWay.delete(hostname));
  underWay.set(hostname, asked);
  return asked;
};

/**
 * What a socket uses to resolve its host, once for each connection: it is given allowed addresses only and connects to one of
 * them, so nothing that a name server says later counts (no DNS rebinding).
 */
export function createGuardedLookup(resolve: Resolve, isAllowed: AddressRules): LookupFunction {
  async function allowedAddresses(hostname: string): Promise<LookupAddress[]> {
    const addresses = await resolve(hostname).catch((error: NodeJS.ErrnoException) => {
      throw new OutboundFailed('dns', error.code);
    });
    if (addresses.length === 0) throw new OutboundFailed('dns');
    const allowed = addresses.filter(isAllowed);
    if (allowed.length === 0) throw new OutboundRefused('address');
    return allowed.map((address) => ({ address, family: isIP(address) }));
  }
  return (hostname, options, callback) => {
    allowedAddresses(hostname).then(
      (addresses) => {
        const [{ address, family }] = addresses as [LookupAddress];
        if (options.all) callback(null, addresses);
        else callback(null, address, family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}
