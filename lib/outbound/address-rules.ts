import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { embeddedAddresses } from '#lib/outbound/embedded-addresses.ts';

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Says whether an address may be connected to. @param address in the form that connections take; anything else is refused. */
export type AddressRules = (address: string) => boolean;

/** All that IANA hands out to be reached from everywhere (RFC 4291 §2.4); the ranges in it with another use are left out below. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Public by its range, yet it is the platform's own service on every Azure machine. */
const azurePlatform = '168.63.129.16';

/**
 * Rules for addresses: those of the public internet, and `allowedNetworks` (CIDR). An IPv6 address that carries an IPv4 address to a
 * translator or tunnel must be allowed itself, and so must the address that it carries (security.md, "Outbound").
 */
export function createAddressRules(allowedNetworks: readonly string[]): AddressRules {
  const networks = allowedNetworks.map((network) => ipaddr.parseCIDR(network));
  const listings = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
    networks.filter((network) => contains(network, address));
  const isFine = (address: ipaddr.IPv4 | ipaddr.IPv6) => isGlobal(address) || listings(address).length > 0;
  return (text) => {
    // A zone names one of our own interfaces (RFC 4007 §11).
    if (isIP(text) === 0 || text.includes('%')) return false;
    const address = ipaddr.parse(text);
    if (address.kind() === 'ipv4') return isFine(address);
    const prefix = Math.max(...listings(address).map(([, bits]) => bits), 0);
    return isFine(address) && embeddedAddresses(address as ipaddr.IPv6, prefix).every(isFine);
  };
}

/** Whether it is of no special use, by the registries of RFC 6890 as ipaddr.js has them. */
function isGlobal(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return address.toString() !== azurePlatform;
  return contains(globalUnicast, address);
}

function contains([network, bits]: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}
