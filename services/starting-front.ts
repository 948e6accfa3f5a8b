import type { RequestListener, ServerResponse } from 'node:http';
import type { Probes } from '#lib/http/probes.ts';

/** The front address of standalone mode, with its probes (docs/operations.md, "Settings"). */
export interface StartingFront {
  handle: RequestListener;
  open(handler: RequestListener): void;
}

/** Everything but probes is 503 until the services are there. */
export function createStartingFront(probes: Probes): StartingFront {
  let handler: RequestListener = (_request, response) => refuse(response);
  return {
    handle(request, response) {
      if (!probes.handle(request, response)) handler(request, response);
    },
    open(services) {
      handler = services;
    },
  };
}

/** A problem document like everywhere (docs/interface.md). */
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
