import ipaddr from 'ipaddr.js';

/** A range whose addresses carry IPv4 addresses, and where: four positions in the sixteen bytes each. */
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
 * The IPv4 addresses within an IPv6 address.
 * @param prefix length of the allowed network that it is in: a translator of one's own (RFC 8215) puts the IPv4 address
 *   behind its prefix, and how long that is only its operator knows.
 */
export function embeddedAddresses(address: ipaddr.IPv6, prefix: number): ipaddr.IPv4[] {
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

/** Where RFC 6052 §2.2 puts the four bytes; byte 8 is kept free. */
function translatedPositions(prefix: number): number[] {
  if (prefix >= 96) return atEnd;
  if (prefix >= 64) return [9, 10, 11, 12];
  if (prefix >= 56) return [7, 9, 10, 11];
  return [6, 7, 9, 10];
}

/** RFC 5214 §6.1: under any prefix, an interface identifier that carries the IPv4 address. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return ((parts[4] as number) & ~0x0200) === 0 && parts[5] === 0x5efe;
}

/** RFC 4291 §2.5.5.1; `::` and `::1` are none. */
function isCompatible(bytes: number[]): boolean {
  return bytes.slice(0, 12).every((byte) => byte === 0) && bytes[12] !== 0;
}
