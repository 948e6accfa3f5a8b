import { setTimeout as wait } from 'node:timers/promises';
import { Agent } from 'undici';
import { backoffMs } from '#lib/async/timing.ts';
import type { InternalOperations } from '#lib/contracts/operations.ts';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { readProblem } from '#lib/http/problem.ts';
import type { CallerTokens } from '#lib/internal/caller-tokens.ts';
import { currentRequestId } from '#lib/observability/logger.ts';
import { currentTraceparent, runInChildSpan } from '#lib/observability/tracing.ts';

/** A service and how it is called. */
interface CalledService {
  service: string;
  /** Addresses of the internal port: one, or one for each replica. */
  addresses: readonly string[];
  tokens: CallerTokens;
  /** Operations that may be repeated ({@link readOperations}). */
  reads?: readonly string[];
  timeoutMs?: number;
  /** Time-out of the first attempt of a read, within `timeoutMs`. */
  firstMs?: number;
}

/**
 * Operations that are repeated on another replica after a short time-out: they read, or only mark entries as
 * answered.
 */
export const readOperations: {
  readonly [Service in keyof InternalOperations]: readonly (keyof InternalOperations[Service])[];
} = {
  auth: ['introspect', 'auditProof'],
  forms: [
    'resolveLayout',
    'describeForm',
    'checkAnswers',
    'checkSubmission',
    'checkImported',
    'activeVersions',
    'withCommas',
    'versionsAt',
    'exportModels',
    'renderPage',
    'renderText',
    'renderMessage',
    'readForm',
    'sharedEntries',
    'auditProof',
  ],
  transactions: ['readSubmissions', 'readDecision', 'auditProof'],
  webhooks: ['auditProof'],
};

/** Longer than the statement time-out of PostgreSQL (lib/db/pool.ts). */
const defaultTimeoutMs = 7_000;
/** A slower response means that PostgreSQL is in trouble or the replica hangs. */
const defaultFirstMs = 2_000;
/** Waits before the retries of a call without a response: the first retry goes to another replica at once. */
const pausesMs = [0, 100, 400];

type Operation = (input: unknown) => Promise<unknown>;

/**
 * The operations of another service over its internal port, with the same values and Failures as in one
 * process (ADR 7).
 */
export function createInternalClient<T extends object>(called: CalledService): T {
  const { service } = called;
  const post = createPoster(called);

  async function call(operation: string, input: unknown): Promise<unknown> {
    const reply = await post(operation, JSON.stringify(input ?? null));
    if (reply.status === 200) return JSON.parse(reply.text);
    throw readProblem(reply) ?? unexpected(service, operation, reply.status);
  }

  const operations = new Map<string, Operation>();
  return new Proxy({} as T, {
    get(_target, name) {
      // `await` looks for `then`.
      if (typeof name !== 'string' || name === 'then') return undefined;
      const known = operations.get(name) ?? ((input: unknown) => call(name, input));
      operations.set(name, known);
      return known;
    },
  });
}

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** The replica has not responded in time; it may have executed the operation. */
class NoReplyError extends Error {
  override name = 'NoReplyError';
}

/**
 * Posts to a service over kept connections. Connection errors and 503s of starting replicas are retried: all
 * operations are idempotent. After a time-out only reads are retried, once and on new connections, because
 * behind one name these may lead to another replica.
 * @throws Failure `unavailable` if no replica answers in time.
 */
function createPoster(called: CalledService): (operation: string, body: string) => Promise<Reply> {
  const { service, reads = [], timeoutMs = defaultTimeoutMs, firstMs = defaultFirstMs } = called;
  const addresses = createAddresses(called.addresses);
  let agent = createAgent();

  async function attempt(address: string, call: Call): Promise<Reply> {
    try {
      const reply = await post(called, address, call);
      if (reply.status === 503 && !readProblem(reply)) throw new Error('the replica is starting');
      addresses.trust(address);
      return reply;
    } catch (error) {
      addresses.avoid(address);
      throw error;
    }
  }

  return async (operation, body) => {
    const order = addresses.order();
    let retriesTimeout = reads.includes(operation);
    let limitMs = retriesTimeout ? firstMs : timeoutMs;
    for (let attempts = 0; ; attempts += 1) {
      const used = agent;
      try {
        const address = order[attempts % order.length] as string;
        return await attempt(address, { operation, body, agent: used, timeoutMs: limitMs });
      } catch (error) {
        const pauseMs = pausesMs[attempts];
        if (error instanceof NoReplyError) {
          if (!retriesTimeout) throw unreachable(service, error);
          retriesTimeout = false;
          limitMs = timeoutMs - firstMs;
          if (agent === used) {
            agent = createAgent();
            void used.close();
          }
        }
        if (pauseMs === undefined) throw unreachable(service, error);
        if (pauseMs > 0) await wait(pauseMs);
      }
    }
  };
}

/** Without the time-outs of undici, because each call has a time-out of its own. */
function createAgent(): Agent {
  return new Agent({ headersTimeout: 0, bodyTimeout: 0, allowH2: false });
}

interface Call {
  operation: string;
  body: string;
  agent: Agent;
  timeoutMs: number;
}

/** @throws NoReplyError, or the error of the connection. */
async function post(called: CalledService, address: string, call: Call): Promise<Reply> {
  const send = () => sendInSpan(called, address, call);
  const reply = await send();
  if (reply.status !== 401 || readProblem(reply)) return reply;
  // Our clock differs from this replica's, which checks the tokens.
  called.tokens.followClock(address, reply.headers.date?.toString());
  return send();
}

function sendInSpan(called: CalledService, address: string, call: Call): Promise<Reply> {
  const { operation } = call;
  const name = `POST /internal/${called.service}/${operation}`;
  return runInChildSpan({ name, kind: 'client', fields: { operation, method: 'POST' } }, async (fields) => {
    const reply = await send(called, address, call);
    fields.status = reply.status;
    return reply;
  });
}

async function send(
  { service, tokens }: CalledService,
  address: string,
  { operation, body, agent, timeoutMs }: Call,
): Promise<Reply> {
  const requestId = currentRequestId();
  const traceparent = currentTraceparent();
  const token = await tokens.tokenFor(service, address);
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new NoReplyError(`no reply within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const response = await agent.request({
      origin: address,
      path: `/internal/${service}/${operation}`,
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        ...(requestId ? { 'X-Request-Id': requestId } : {}),
        ...(traceparent ? { traceparent } : {}),
      },
      body,
      signal: timeout.signal,
    });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  } finally {
    clearTimeout(timer);
  }
}

function unreachable(service: string, cause: unknown): Failure {
  return fail('unavailable', 'A part of the instance does not answer at the moment. Please try again.', {
    cause: new Error(`${service} does not answer`, { cause }),
    headers: { 'Retry-After': '1' },
  });
}

/** Wrong secrets, or incompatible releases: an error of the instance, not of its client. */
function unexpected(service: string, operation: string, status: number): Failure {
  return fail('internal', 'Please try again later. The error has been logged.', {
    cause: new Error(`${service} answered a call of ${operation} with ${status}`),
  });
}

/** The replicas of a service. */
export interface Addresses {
  /** All addresses, in the order in which one call tries them. */
  order(): string[];
  /** The address did not respond: others are preferred for a while, longer after each failure. */
  avoid(address: string): void;
  /** The address has answered. */
  trust(address: string): void;
}

/** The upper bound limits how often calls wait for an unresponsive replica. */
const avoidance = { minMs: 2_000, maxMs: 16_000 };

/** Uses addresses in turn. Behind a load balancer there is only one address. */
export function createAddresses(addresses: readonly string[]): Addresses {
  const avoided = new Map<string, { until: number; failures: number }>();
  let turn = 0;
  return {
    order() {
      turn = (turn + 1) % addresses.length;
      const rotated = [...addresses.slice(turn), ...addresses.slice(0, turn)];
      if (avoided.size === 0) return rotated;
      const now = performance.now();
      const until = (address: string) => Math.max(now, avoided.get(address)?.until ?? 0);
      // Avoided addresses come last, in the order in which their pauses end.
      return rotated.sort((a, b) => until(a) - until(b));
    },
    avoid(address) {
      const now = performance.now();
      const known = avoided.get(address);
      // Concurrent calls fail together and count once.
      if (known && known.until > now) return;
      const failures = (known?.failures ?? 0) + 1;
      avoided.set(address, { until: now + backoffMs(failures, avoidance), failures });
    },
    trust(address) {
      if (avoided.size > 0) avoided.delete(address);
    },
  };
}
