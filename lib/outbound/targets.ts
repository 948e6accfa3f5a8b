import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { within } from '#lib/async/timing.ts';
import { type AddressRules, createAddressRules } from '#lib/outbound/address-rules.ts';

const refusals = {
  scheme: 'Only http and https addresses are called.',
  credentials: 'Addresses that contain a user name or password are not called.',
  address: 'The address is in a network that must not be called.',
  redirect: 'The answer was a redirect; redirects are not followed.',
  'too-large': 'The answer was too large.',
  url: 'The address is not a valid URL.',
};

const failures = {
  dns: 'The name could not be resolved',
  connect: 'No connection could be made',
  tls: 'No secure connection could be made',
  timeout: 'There was no answer in time',
  closed: 'The connection ended before the answer was complete',
};

/** What the client says that it refuses, or that has failed, by its code; a code of Node may follow. */
export const outboundTexts = { ...refusals, ...failures };

/**
 * The client refuses the URL or the response: private address, scheme, credentials in the URL, redirect or
 * too large a response. The caller decides whether to retry. The message is for logs and people; like that of
 * {@link OutboundFailed} it quotes neither the URL nor any data.
 */
export class OutboundRefused extends Error {
  readonly reason: keyof typeof refusals;

  constructor(reason: keyof typeof refusals) {
    super(refusals[reason]);
    this.name = 'OutboundRefused';
    this.reason = reason;
  }
}

/** A transient failure: the target could not be reached, or did not answer in time. */
export class OutboundFailed extends Error {
  readonly reason: keyof typeof failures;
  readonly code: string | undefined;

  /** @param code of the underlying error, such as ECONNREFUSED; that error itself may quote the answer. */
  constructor(reason: keyof typeof failures, code?: string) {
    super(`${failures[reason]}${code ? ` (${code})` : ''}.`);
    this.name = 'OutboundFailed';
    this.reason = reason;
    this.code = code;
  }
}

/** Where a request goes. */
interface Target {
  origin: string;
  /** A name, or an address without brackets. */
  hostname: string;
  path: string;
}

/**
 * Parses a URL as browsers do (WHATWG URL), which normalises every spelling of an IPv4 address.
 * @throws OutboundRefused if the URL must not be called, to whatever address its name resolves.
 */
export function readTarget(text: string, isAllowed: AddressRules): Target {
  const url = URL.parse(text);
  if (!url) throw new OutboundRefused('url');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new OutboundRefused('scheme');
  if (url.username || url.password) throw new OutboundRefused('credentials');
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  // Addresses are not looked up, so the guarded lookup does not see them.
  if (isIP(hostname) !== 0 && !isAllowed(hostname)) throw new OutboundRefused('address');
  return { origin: url.origin, hostname, path: url.pathname + url.search };
}

/** Resolves a name to all its addresses. Rejects if that fails. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const pendingLookups = new Map<string, Promise<readonly string[]>>();

/**
 * Resolves names as the machine does (getaddrinfo), including /etc/hosts and search domains. A look-up
 * occupies one of a few threads, so concurrent look-ups of a name share one.
 */
export const resolveBySystem: Resolve = (hostname) => {
  const lookup =
    pendingLookups.get(hostname) ??
    dns
      .lookup(hostname, { all: true })
      .then((found) => found.map(({ address }) => address))
      .finally(() => pendingLookups.delete(hostname));
  pendingLookups.set(hostname, lookup);
  return lookup;
};

/**
 * The `lookup` of a socket, called once per connection. It returns allowed addresses only and the socket
 * connects to one of them, which prevents DNS rebinding.
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

const resolveMs = 2_000;

/**
 * Checks an address when it is entered, to report a refusal early. Every call checks again, because a name
 * may resolve differently by then. A name that cannot be resolved now is accepted.
 * @returns a function that resolves with the refusal, or with undefined.
 */
export function createUrlCheck({
  allowedNetworks,
  resolve = resolveBySystem,
}: {
  allowedNetworks: readonly string[];
  resolve?: Resolve;
}): (url: string) => Promise<OutboundRefused | undefined> {
  const isAllowed = createAddressRules(allowedNetworks);
  return async (url) => {
    try {
      const { hostname } = readTarget(url, isAllowed);
      if (isIP(hostname) !== 0) return undefined;
      const addresses = await within(resolveMs, resolve(hostname)).catch(() => []);
      const refused = addresses.length > 0 && !addresses.some(isAllowed);
      return refused ? new OutboundRefused('address') : undefined;
    } catch (error) {
      if (error instanceof OutboundRefused) return error;
      throw error;
    }
  };
}
