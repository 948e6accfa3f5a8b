import type { IncomingMessage, ServerResponse } from 'node:http';

/** `/livez` and `/readyz` through the life of a process: busy starting, at work, stopping (reliability.md, "Lifecycle"). */
export interface Probes {
  /** Answers if a probe is asked for. @returns whether it was. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** The process is at work. @param check whether it can work at this moment. */
  ready(check: () => Promise<boolean>): void;
  /** The process wants no more work. */
  stopping(): void;
}

/** That there is an answer at all is what `/livez` tells: consumers that are lost are replaced within the process. */
export function createProbes(): Probes {
  let check: () => Promise<boolean> = async () => false;
  async function answerReady(response: ServerResponse) {
    const ready = await check();
    answer(response, ready ? 200 : 503, ready ? 'ready' : 'not ready');
  }
  return {
    handle(request, response) {
      const path = request.url?.split('?', 1)[0];
      if (path !== '/livez' && path !== '/readyz') return false;
      if (request.method !== 'GET' && request.method !== 'HEAD') refuseMethod(response);
      else if (path === '/livez') answer(response, 200, 'alive');
      else void answerReady(response);
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

function refuseMethod(response: ServerResponse): void {
  response.writeHead(405, { 'Content-Type': 'application/problem+json', Allow: 'GET, HEAD' });
  response.end(
    JSON.stringify({
      type: 'about:blank',
      title: 'Method not allowed',
      status: 405,
      detail: 'This address takes GET, HEAD.',
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
