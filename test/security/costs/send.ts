import { Agent, type OutgoingHttpHeaders, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

/** A request as it is sent: with nothing added, because `fetch` would parse and check it. */
export interface Sent {
  method: string;
  path: string;
  headers: OutgoingHttpHeaders;
  body?: Buffer | string;
}

/** @returns the status. A redirect may name the whole address again. */
export function sendTo(url: string, { method, path, headers, body }: Sent): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const sent = request(
      { hostname, port, agent, method, path, headers: { ...headers, ...length }, maxHeaderSize: 256 * 1024 },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
        response.once('error', reject);
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}
