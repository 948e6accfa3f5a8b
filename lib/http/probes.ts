import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Shortest time between two answers on a connection. A client that probes without pause would otherwise slow
 * others down (ADR 32), and no limit by address may make a probe fail.
 */
const pauseMs = 100;

/** Liveness and readiness probes of a process: `/livez` and `/readyz`. */
export interface Probes {
  /** Answers a probe. @returns false if the request is no probe. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** The process has started. @param check whether it can serve requests now. */
  ready(check: () => Promise<boolean>): void;
  /** The process drains: it is not ready any more. */
  stopping(): void;
}

/** `/livez` always answers 200: the process replaces lost consumers itself, so a restart would not help. */
export function createProbes(): Probes {
  let check: () => Promise<boolean> = async () => false;
  const nextAt = new WeakMap<Socket, number>();
  function afterPause({ socket }: IncomingMessage, work: () => void) {
    const now = performance.now();
    const at = Math.max(now, nextAt.get(socket) ?? 0);
    nextAt.set(socket, at + pauseMs);
    if (at === now) work();
    else setTimeout(work, at - now);
  }
  async function answerReady(response: ServerResponse) {
    const ready = await check();
    answer(response, ready ? 200 : 503, ready ? 'ready' : 'not ready');
  }
  return {
    handle(request, response) {
      const path = request.url?.split('?', 1)[0];
      if (path !== '/livez' && path !== '/readyz') return false;
      if (request.method !== 'GET' && request.method !== 'HEAD') rejectMethod(response);
      else
        afterPause(request, () =>
          path === '/livez' ? answer(response, 200, 'alive') : void answerReady(response),
        );
      return true;
    },
    ready(isReady) {
      check = isReady;
    },
    stopping() {
      check = async () => false;
    },
  };
}

function rejectMethod(response: ServerResponse): void {
  response.writeHead(405, { 'Content-Type': 'application/problem+json', Allow: 'GET, HEAD' });
  response.end(
    JSON.stringify({
      type: 'about:blank',
      code: 'method-not-allowed',
      title: 'Method not allowed',
      status: 405,
      detail: 'Method not allowed; allowed methods: GET, HEAD.',
    }),
  );
}

function answer(response: ServerResponse, status: number, state: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    ...(status === 503 ? { 'Retry-After': '1' } : {}),
  });
  response.end(JSON.stringify({ status: state }));
}
