import { isIP } from 'node:net';
import type { AddressRules } from '#lib/outbound/address-rules.ts';
import { OutboundRefused } from '#lib/outbound/outbound-errors.ts';

/** Where a request goes. */
export interface Target {
  secure: boolean;
  /** A name, or an address without brackets. */
  hostname: string;
  /** Empty for the scheme's own. */
  port: string;
  path: string;
}

/**
 * Reads a URL as browsers do (WHATWG URL): every way to write an IPv4 address has become the one with four decimal parts then.
 * @throws OutboundRefused if nothing is called there whatever its name resolves to.
 */
export function readTarget(text: string, isAllowed: AddressRules): Target {
  const url = URL.parse(text);
  if (!url) throw new OutboundRefused('url');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new OutboundRefused('scheme');
  if (url.username || url.password) throw new OutboundRefused('credentials');
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  // Node resolves names only, so addresses are judged here.
  if (isIP(hostname) !== 0 && !isAllowed(hostname)) throw new OutboundRefused('address');
  return { secure: url.protocol === 'https:', hostname, port: url.port, path: url.pathname + url.search };
}
