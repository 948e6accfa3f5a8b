import ipaddr from 'ipaddr.js';
import type { Context, Middleware } from 'koa';
import { LRUCache } from 'lru-cache';

/**
 * Puts the client's address into `ctx.state.address`: the connection's remote address, or, behind proxies in
 * `trusted`, the last address in X-Forwarded-For that is no trusted proxy (docs/interface.md, "Limits").
 */
export function clientAddress(trusted: readonly string[]): Middleware {
  const networks = trusted.map((network) => ipaddr.parseCIDR(network));
  const isTrusted = (address: string) => {
    if (!ipaddr.isValid(address)) return false;
    return ipaddr.subnetMatch(ipaddr.process(address), { trusted: networks }) === 'trusted';
  };
  return async (ctx, next) => {
    let address = ctx.req.socket.remoteAddress ?? '';
    if (networks.length > 0) {
      const hops = ctx
        .get('x-forwarded-for')
        .split(',')
        .map((hop) => hop.trim())
        .filter((hop) => ipaddr.isValid(hop));
      while (isTrusted(address) && hops.length > 0) address = hops.pop() as string;
    }
    ctx.state.address = address;
    await next();
  };
}

/**
 * The network that an address is counted as. All of an IPv6 /64 counts as one, because a host may use any
 * address in it (RFC 6177).
 * @returns an IPv4 address (mapped ones too), the first 64 bits of IPv6, or the text itself if it is no
 * address.
 */
export function addressNetwork(address: string): string {
  const known = networks.get(address) ?? networkOf(address);
  networks.set(address, known);
  return known;
}

/** Clients send many requests from one address. */
const networks = new LRUCache<string, string>({ max: 1_000 });

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** The network that a request's client is counted as. */
export function clientNetwork(ctx: Context): string {
  return addressNetwork(ctx.state.address ?? ctx.ip);
}
