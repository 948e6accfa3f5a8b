import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Waits until a body that nobody reads has arrived, where the connection ends with the answer: closed while the client still
 * sends, it would be reset, and the answer be lost. `requestTimeout` bounds how long that lasts.
 */
export async function letBodyEnd(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const stays = response.shouldKeepAlive && response.getHeader('connection') !== 'close';
  if (stays || request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    request.once('close', () => resolve());
    request.resume();
  });
}
