import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** The front address through the life of a process: busy starting, at work, stopping. */
export interface StartingFront {
  handle: RequestListener;
  ready(handler: RequestListener, isReady: () => Promise<boolean>): void;
  stopping(): void;
}

/** Answers `/livez` and `/readyz` itself (decisions.md §12); everything else is 503 until the services are there. */
export function createStartingFront(): StartingFront {
  let handler: RequestListener | undefined;
  let check: () => Promise<boolean> = async () => false;
  async function answerReady(response: ServerResponse) {
    const ready = handler !== undefined && (await check());
    answer(response, ready ? 200 : 503, ready ? 'ready' : 'not ready');
  }
  return {
    handle(request: IncomingMessage, response: ServerResponse) {
      const path = request.url?.split('?', 1)[0];
      const probe = path === '/livez' || path === '/readyz';
      if (probe && request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response);
      if (path === '/livez') return answer(response, 200, 'alive');
      if (path === '/readyz') return void answerReady(response);
      if (handler) return handler(request, response);
      refuse(response);
    },
    ready(services, isReady) {
      handler = services;
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

/** A problem document like everywhere (decisions.md §15). */
function refuse(response: ServerResponse): void {
  response.writeHead(503, {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    'Retry-After': '1',
  });
  response.end(
    JSON.stringify({
      type: 'about:blank',
      title: 'Not available at the moment',
      status: 503,
      detail: 'The instance is starting.',
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
