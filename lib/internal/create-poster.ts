import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { readProblem } from '#lib/http/problem.ts';
import type { CallerTokens } from '#lib/internal/caller-tokens.ts';
import { type Addresses, createAddresses } from '#lib/internal/choose-address.ts';
import { NoReplyError, postJson, type Reply } from '#lib/internal/post-json.ts';
import { currentRequestId } from '#lib/observability/logger.ts';

/** Where a service is, and how it is called. */
export interface CalledService {
  service: string;
  /** Of its internal port: one address, or those of its replicas. */
  addresses: readonly string[];
  tokens: CallerTokens;
  /** Operations that change nothing. */
  reads?: readonly string[];
  timeoutMs?: number;
  /** How much of that the first try of a read may take. */
  firstMs?: number;
}

/** Longer than PostgreSQL may take for a statement (lib/db/pool.ts), shorter than a reader's patience. */
const defaultTimeoutMs = 7_000;
/** No answer takes that long unless PostgreSQL is in trouble too, or the replica is asleep. */
const defaultFirstMs = 2_000;
/** Before each repetition of a call that got no answer: the first goes elsewhere at once, the others let a restart go by. */
const pausesMs = [0, 100, 400];

/**
 * Posts to a service over connections that are kept. A call whose connection cannot be made, or ends without an answer, or comes to a
 * replica that is not there yet, is repeated: all operations may be, so a replica that is restarted fails none. A read that gets no answer in
 * time is asked once more, elsewhere where there is an elsewhere, on a connection of its own: behind one name it may lead to another replica.
 * @throws Failure `unavailable` if nobody answers, or not in time.
 */
export function createPoster(called: CalledService): (operation: string, body: string) => Promise<Reply> {
  const { service, reads = [], timeoutMs = defaultTimeoutMs, firstMs = defaultFirstMs } = called;
  const kept = new Agent({ keepAlive: true, scheduling: 'lifo' });
  const addresses = createAddresses(called.addresses);
  const tryAt = createTry(called, addresses);

  return async (operation, body) => {
    const order = addresses.order();
    const twice = reads.includes(operation);
    let how: How = { agent: kept, timeoutMs: twice ? firstMs : timeoutMs };
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await tryAt(order[attempt % order.length] as string, { operation, body }, how);
      } catch (error) {
        const pauseMs = pausesMs[attempt];
        if (error instanceof NoReplyError) {
          if (!twice || how.agent === false) throw unreachable(service, error);
          forgetConnections(kept);
          how = { agent: false, timeoutMs: timeoutMs - firstMs };
        }
        if (pauseMs === undefined) throw unreachable(service, error);
        if (pauseMs > 0) await wait(pauseMs);
      }
    }
  };
}

interface Call {
  operation: string;
  body: string;
}

interface How {
  /** false: a connection of its own. */
  agent: Agent | false;
  timeoutMs: number;
}

/** Makes a call at one address. @throws if it got no answer, or comes too early. */
function createTry(called: CalledService, addresses: Addresses) {
  async function post(address: string, { operation, body }: Call, how: How): Promise<Reply> {
    const url = `${address}/internal/${called.service}/${operation}`;
    const send = async () => postJson(url, { ...how, headers: await headersFor(called, address), body });
    const reply = await send();
    if (reply.status !== 401 || readProblem(reply)) return reply;
    // A clock may be wrong, ours or this replica's; whoever checks tokens is right.
    called.tokens.followClock(address, reply.headers.date);
    return send();
  }
  return async (address: string, call: Call, how: How): Promise<Reply> => {
    try {
      const reply = await post(address, call, how);
      if (reply.status === 503 && !readProblem(reply)) throw new Error('the replica is starting');
      addresses.trust(address);
      return reply;
    } catch (error) {
      addresses.avoid(address);
      throw error;
    }
  };
}

/** Others may lead to the same replica, which is asleep. Those in use are left alone. */
function forgetConnections({ freeSockets }: Agent): void {
  for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

async function headersFor(
  { service, tokens }: CalledService,
  address: string,
): Promise<Record<string, string>> {
  const requestId = currentRequestId();
  return {
    Authorization: `Bearer ${await tokens.tokenFor(service, address)}`,
    ...(requestId ? { 'X-Request-Id': requestId } : {}),
  };
}

function unreachable(service: string, cause: unknown): Failure {
  return fail('unavailable', 'A part of the instance does not answer at the moment. Please try again.', {
    cause: new Error(`${service} does not answer`, { cause }),
    headers: { 'Retry-After': '1' },
  });
}
