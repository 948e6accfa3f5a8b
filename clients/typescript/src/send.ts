import { readRetryAfter } from './problem.ts';

/** How requests are sent and repeated. */
export interface SendOptions {
  fetch?: typeof fetch;
  /** How often a request is repeated. Default: 3. */
  retries?: number;
  /** The longest wait in seconds; a response that asks for more is not repeated. Default: 60. */
  maxRetryDelay?: number;
  /** Seconds that one attempt may take. Default: 30. */
  timeout?: number;
}

/** A request that can be sent again: its body is not a stream. */
export interface Sendable extends RequestInit {
  method: string;
  headers: Record<string, string>;
}

const idempotent = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/**
 * Sends a request. 429 and 503 mean that nothing was done, so every request is repeated after these; after a
 * failure of the network, 502 and 504 only those that can be repeated without effect.
 */
export async function send(url: URL, request: Sendable, options: SendOptions): Promise<Response> {
  const { fetch: send = globalThis.fetch, retries = 3, maxRetryDelay = 60, timeout = 30 } = options;
  for (let attempt = 0; ; attempt += 1) {
    const limit = AbortSignal.timeout(timeout * 1000);
    const signal = request.signal ? firstOf([request.signal, limit]) : limit;
    const outcome = await send(url, { ...request, signal }).catch((error: Error) => error);
    const delay = delayBefore(request.method, outcome, attempt);
    if (attempt < retries && delay <= maxRetryDelay && !request.signal?.aborted) {
      if ('status' in outcome) await outcome.body?.cancel();
      await wait(delay, request.signal);
    } else if ('status' in outcome) return outcome;
    else throw outcome;
  }
}

function firstOf(signals: AbortSignal[]): AbortSignal {
  if ('any' in AbortSignal) return AbortSignal.any(signals);
  // Node.js 20.0 and browsers of 2023.
  const first = new AbortController();
  for (const each of signals) {
    const stop = () => first.abort(each.reason);
    if (each.aborted) stop();
    else each.addEventListener('abort', stop, { once: true, signal: first.signal });
  }
  return first.signal;
}

/** @returns seconds before the next attempt; Infinity if there should be none. */
function delayBefore(method: string, outcome: Response | Error, attempt: number): number {
  const response = 'status' in outcome ? outcome : undefined;
  const status = response?.status;
  const isRefused = status === 429 || status === 503;
  const isLost = status === undefined || status === 502 || status === 504;
  if (!isRefused && !(isLost && idempotent.has(method))) return Number.POSITIVE_INFINITY;
  const asked = response && readRetryAfter(response.headers);
  return asked ?? 0.5 * 2 ** attempt * (0.5 + Math.random() / 2);
}

function wait(seconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
