import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { readProblem } from '#lib/http/read-problem.ts';
import type { CallerTokens } from '#lib/internal/caller-tokens.ts';
import { createAddresses } from '#lib/internal/choose-address.ts';
import { NoReplyError, postJson, type Reply } from '#lib/internal/post-json.ts';
import { currentRequestId } from '#lib/observability/request-context.ts';

/** Where a service is, and how it is called. */
export interface CalledService {
  service: string;
  /** Of its internal port: one address, or those of its replicas. */
  addresses: readonly string[];
  tokens: CallerTokens;
  timeoutMs?: number;
}

/** Longer than PostgreSQL may take for a statement (lib/db/pool.ts), shorter than a reader's patience. */
const defaultTimeoutMs = 7_000;
/** Before each repetition of a call that got no answer: the first goes elsewhere at once, the others let a restart go by. */
const pausesMs = [0, 100, 400];

/**
 * Posts to a service over connections that are kept. A call whose connection cannot be made, or ends without an answer, or comes to a
 * replica that is not there yet, is repeated: all operations may be, so a replica that is restarted fails none.
 * @throws Failure `unavailable` if nobody answers, or not in time.
 */
export function createPoster(called: CalledService): (operation: string, body: string) => Promise<Reply> {
  const { service, tokens, timeoutMs = defaultTimeoutMs } = called;
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo' });
  const addresses = createAddresses(called.addresses);
  async function postTo(address: string, operation: string, body: string): Promise<Reply> {
    const url = `${address}/internal/${service}/${operation}`;
    const send = async () =>
      postJson(url, { agent, headers: await headersFor(called, address), body, timeoutMs });
    const reply = await send();
    if (reply.status !== 401 || readProblem(reply)) return reply;
    // A clock may be wrong, ours or this replica's; whoever checks tokens is right.
    tokens.followClock(address, reply.headers.date);
    return send();
  }

  return async (operation, body) => {
    const order = addresses.order();
    for (let attempt = 0; ; attempt += 1) {
      const address = order[attempt % order.length] as string;
      try {
        const reply = await postTo(address, operation, body);
        if (reply.status === 503 && !readProblem(reply)) throw new Error('the replica is starting');
        return reply;
      } catch (error) {
        addresses.avoid(address);
        const pauseMs = pausesMs[attempt];
        if (error instanceof NoReplyError || pauseMs === undefined) throw unreachable(service, error);
        if (pauseMs > 0) await wait(pauseMs);
      }
    }
  };
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
