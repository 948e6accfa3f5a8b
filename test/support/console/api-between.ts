import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Reachable } from '../instances/callers.ts';

/** What a test answers in place of the instance. */
export interface GivenAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

/**
 * Starts an API in front of an instance, for the console to call.
 * @param answer called with path and query; undefined passes the call on to the instance.
 * @param rewrite changes path and query of calls that are passed on.
 */
export async function startApiBetween(
  instance: Reachable,
  answer: (target: string) => GivenAnswer | undefined | Promise<GivenAnswer | undefined>,
  rewrite = (target: string) => target,
): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const given = await answer(request.url ?? '');
    await (given
      ? send(response, given)
      : passOn(instance.url + rewrite(request.url ?? ''), request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function send(response: ServerResponse, { status = 200, headers, body }: GivenAnswer): Promise<void> {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(body ?? {}));
}

async function passOn(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { authorization = '', accept = '*/*', 'content-type': type } = request.headers;
  // The console gives up after ten seconds.
  const body = await buffer(request).catch(() => undefined);
  if (!body) return;
  const answer = await fetch(url, {
    method: request.method ?? 'GET',
    headers: { authorization, accept, ...(type && { 'content-type': type }) },
    body: body.length > 0 ? body : null,
    redirect: 'manual',
  });
  const passed = ['content-type', 'etag', 'location', 'link'];
  response.writeHead(
    answer.status,
    Object.fromEntries([...answer.headers].filter(([name]) => passed.includes(name))),
  );
  response.end(Buffer.from(await answer.arrayBuffer()));
}
