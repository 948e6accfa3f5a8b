import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** So many requests of a connection may wait before no more are read from it. */
const maxWaiting = 8;

/**
 * Works on the requests of one connection one after the other, as they are answered. Node.js starts all that a client has sent without
 * waiting for answers (RFC 9112 §9.3.2), so that a few connections could keep everybody else waiting.
 */
export function oneAtATime(handler: RequestListener): RequestListener {
  /** Requests that wait, by connection; a connection is there while one of its requests is worked on. */
  const busy = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();

  function start(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    response.once('close', () => {
      const waiting = busy.get(socket);
      const next = waiting?.shift();
      if (waiting?.length === maxWaiting - 1) socket.resume();
      // Not at once: some requests are answered without a turn of the event loop, and then nobody else would have one until the last.
      if (next && !socket.destroyed) setImmediate(start, ...next);
      else busy.delete(socket);
    });
    handler(request, response);
  }

  return (request, response) => {
    const { socket } = request;
    const waiting = busy.get(socket);
    if (!waiting) {
      busy.set(socket, []);
      start(request, response);
    } else if (waiting.push([request, response]) === maxWaiting) socket.pause();
  };
}
