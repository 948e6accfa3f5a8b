import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

/**
 * Whom an address is counted as: a host with IPv6 has a whole /64 to take addresses from (RFC 6177), so all of it counts as one.
 * @returns an IPv4 address, mapped ones too, or the first 64 bits; what is no address is left as it is.
 */
export function addressNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** Whom a request's client is counted as. */
export function clientNetwork(ctx: Context): string {
  return addressNetwork(ctx.state.address ?? ctx.ip);
}
