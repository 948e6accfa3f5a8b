import { Agent, request } from 'node:http';

export interface Reply {
  status: number;
  location: string | undefined;
  body: string;
}

/** Sends requests to one server over connections that stay open. */
export interface HttpClient {
  get(path: string, headers: Record<string, string>): Promise<Reply>;
  post(path: string, headers: Record<string, string>, body: string): Promise<Reply>;
  close(): void;
}

/** @param connections at most. */
export function createHttpClient({ port, connections }: { port: number; connections: number }): HttpClient {
  // Idle connections end here before the server ends them: a request would meet that end.
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: 2_000 });
  function send(method: string, path: string, headers: Record<string, string>, body?: string) {
    return new Promise<Reply>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, location: response.headers.location, body: text }),
        );
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
  return {
    get: (path, headers) => send('GET', path, headers),
    post: (path, headers, body) =>
      send('POST', path, { ...headers, 'Content-Length': String(Buffer.byteLength(body)) }, body),
    close: () => agent.destroy(),
  };
}
