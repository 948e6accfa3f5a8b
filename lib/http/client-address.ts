import ipaddr from 'ipaddr.js';
import type { Middleware } from 'koa';

/**
 * Puts the client's address into `ctx.state.address`: the connection's peer, or what a proxy in `trusted` reports in
 * X-Forwarded-For (docs/interface.md, "Limits"): the last address in it that is no trusted proxy.
 */
export function clientAddress(trusted: readonly string[]): Middleware {
  const networks = trusted.map((network) => ipaddr.parseCIDR(network));
  const isTrusted = (address: string) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return networks.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network as never, bits),
    );
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
