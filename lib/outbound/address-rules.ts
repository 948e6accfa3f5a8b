import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Whether an address may be connected to. @param address in standard notation; any other text is refused. */
export type AddressRules = (address: string) => boolean;

/** Global unicast addresses (RFC 4291 §2.4); special ranges within it are excluded below. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** In a public range, but a service of the platform on every Azure machine. */
const azurePlatform = '168.63.129.16';

/**
 * Allows addresses of the public internet and of `allowedNetworks` (CIDR). If an IPv6 address embeds an IPv4
 * address for a translator or tunnel, both must be allowed (docs/security.md).
 */
export function createAddressRules(allowedNetworks: readonly string[]): AddressRules {
  const networks = allowedNetworks.map((network) => ipaddr.parseCIDR(network));
  const listings = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
    networks.filter((network) => contains(network, address));
  const isPermitted = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
    isGlobal(address) || listings(address).length > 0;
  return (text) => {
    // A zone refers to a local interface (RFC 4007 §11).
    if (isIP(text) === 0 || text.includes('%')) return false;
    const address = ipaddr.parse(text);
    if (address.kind() === 'ipv4') return isPermitted(address);
    const prefix = Math.max(...listings(address).map(([, bits]) => bits), 0);
    return isPermitted(address) && embeddedAddresses(address as ipaddr.IPv6, prefix).every(isPermitted);
  };
}

/** Whether the address has no special purpose (RFC 6890, as implemented by ipaddr.js). */
function isGlobal(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return address.toString() !== azurePlatform;
  return contains(globalUnicast, address);
}

function contains([network, bits]: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

/** A range whose addresses embed IPv4 addresses, and the positions of their four bytes among the sixteen. */
interface Embedding {
  network: [ipaddr.IPv4 | ipaddr.IPv6, number];
  positions: readonly (readonly number[])[];
  /** The bytes are inverted (RFC 4380 §4). */
  inverted?: boolean;
}

const atEnd = [12, 13, 14, 15];

const embeddings: readonly Embedding[] = [
  // IPv4-compatible and IPv4-mapped (RFC 4291 §2.5.5), IPv4-translated (RFC 2765 §2.1)
  { network: ipaddr.parseCIDR('::ffff:0:0/96'), positions: [atEnd] },
  { network: ipaddr.parseCIDR('::ffff:0:0:0/96'), positions: [atEnd] },
  // NAT64 (RFC 6052 §2.1)
  { network: ipaddr.parseCIDR('64:ff9b::/96'), positions: [atEnd] },
  // 6to4 (RFC 3056 §2)
  { network: ipaddr.parseCIDR('2002::/16'), positions: [[2, 3, 4, 5]] },
  // Teredo: server and client (RFC 4380 §4)
  { network: ipaddr.parseCIDR('2001::/32'), positions: [[4, 5, 6, 7]] },
  { network: ipaddr.parseCIDR('2001::/32'), positions: [atEnd], inverted: true },
];

const localTranslation = ipaddr.parseCIDR('64:ff9b:1::/48');

/**
 * Extracts the IPv4 addresses embedded in an IPv6 address.
 * @param prefix length of the allowed network that contains it: a local translator (RFC 8215) puts the IPv4
 * address after its prefix, whose length only its operator knows.
 */
function embeddedAddresses(address: ipaddr.IPv6, prefix: number): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const take = (positions: readonly number[], mask = 0) =>
    new ipaddr.IPv4(positions.map((position) => (bytes[position] as number) ^ mask));
  const found = embeddings
    .filter(({ network: [network, bits] }) => address.match(network, bits))
    .flatMap(({ positions, inverted }) => positions.map((each) => take(each, inverted ? 0xff : 0)));
  if (address.match(...localTranslation)) found.push(take(translatedPositions(prefix)));
  if (isIsatap(address) || isCompatible(bytes)) found.push(take(atEnd));
  return found;
}

/** The positions of RFC 6052 §2.2; byte 8 is reserved. */
function translatedPositions(prefix: number): number[] {
  if (prefix >= 96) return atEnd;
  if (prefix >= 64) return [9, 10, 11, 12];
  if (prefix >= 56) return [7, 9, 10, 11];
  return [6, 7, 9, 10];
}

/** RFC 5214 §6.1: under any prefix, an interface identifier that embeds the IPv4 address. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return ((parts[4] as number) & ~0x0200) === 0 && parts[5] === 0x5efe;
}

/** RFC 4291 §2.5.5.1; except `::` and `::1`. */
function isCompatible(bytes: number[]): boolean {
  return bytes.slice(0, 12).every((byte) => byte === 0) && bytes[12] !== 0;
}
