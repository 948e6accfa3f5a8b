import { createAddressRules } from '#lib/outbound/address-rules.ts';
import { createConnections } from '#lib/outbound/connections.ts';
import { exchange } from '#lib/outbound/exchange.ts';
import { createGate } from '#lib/outbound/gate.ts';
import { createGuardedLookup, type Resolve, resolveBySystem } from '#lib/outbound/guarded-lookup.ts';
import { OutboundFailed } from '#lib/outbound/outbound-errors.ts';
import { readTarget } from '#lib/outbound/read-target.ts';

export interface OutboundRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array;
  /** For all of it, waiting for a free connection included; 5 s if not given. */
  timeoutMs?: number;
  /** Of the answer's body; 2 MiB if not given. */
  maxBytes?: number;
}

export interface OutboundResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Calls addresses that somebody else chose: webhooks and peers. */
export interface OutboundClient {
  /** @throws OutboundRefused if it is not to be called, OutboundFailed if it could not be reached. */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Breaks off what is under way, and closes all connections. */
  stop(): Promise<void>;
}

interface Options {
  /** CIDRs that may be called beside the public internet. */
  allowedNetworks: readonly string[];
  resolve?: Resolve;
  /** Certificates of the authorities to trust instead of those that come with Node. */
  ca?: string;
  /** Until a connection is open: name, TCP and TLS. */
  connectMs?: number;
  /** How many requests are under way at once, and how many connections are open. */
  limits?: { perHost: number; inAll: number };
}

/**
 * The guarded client (security.md, "Outbound"): http and https to allowed addresses only; no redirects, no proxy,
 * no decompression; bounded in time, in bytes and in connections.
 */
export function createOutboundClient({
  allowedNetworks,
  resolve = resolveBySystem,
  ca,
  connectMs = 2_000,
  limits = { perHost: 8, inAll: 64 },
}: Options): OutboundClient {
  const isAllowed = createAddressRules(allowedNetworks);
  const lookup = createGuardedLookup(resolve, isAllowed);
  const gate = createGate(limits);
  const connections = createConnections({ lookup, ca, limits });
  const running = new Map<AbortController, Promise<unknown>>();
  let stopped = false;

  async function send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    const target = readTarget(request.url, isAllowed);
    const leave = await gate.enter(target.hostname, signal);
    try {
      const agent = connections.agentFor(target);
      const { maxBytes = 2 * 1024 * 1024 } = request;
      return await exchange(target, request, { agent, connectMs, maxBytes, signal });
    } finally {
      leave();
    }
  }

  return {
    async request(request) {
      if (stopped) throw new OutboundFailed('closed');
      const controller = new AbortController();
      const timer = setTimeout(
        () => controller.abort(new OutboundFailed('timeout')),
        request.timeoutMs ?? 5_000,
      );
      const sent = send(request, controller.signal);
      running.set(controller, sent);
      try {
        return await sent;
      } finally {
        clearTimeout(timer);
        running.delete(controller);
      }
    },
    async stop() {
      stopped = true;
      const last = [...running.values()];
      for (const controller of running.keys()) controller.abort(new OutboundFailed('closed'));
      await Promise.allSettled(last);
      connections.close();
    },
  };
}
