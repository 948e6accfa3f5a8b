import { type Agent, type IncomingHttpHeaders, request } from 'node:http';

/** A whole answer. */
export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** The other side has not answered in time; whether it did the work is not known. */
export class NoReplyError extends Error {
  constructor(ms: number) {
    super(`no reply within ${ms} ms`);
    this.name = 'NoReplyError';
  }
}

/** Posts a JSON text and reads the whole answer. @throws NoReplyError, or the system's error if there is no connection (any more). */
export function postJson(
  url: string,
  {
    agent,
    headers,
    body,
    timeoutMs,
  }: { agent: Agent | false; headers: Record<string, string>; body: string; timeoutMs: number },
): Promise<Reply> {
  return new Promise((done, reject) => {
    const call = request(
      url,
      {
        method: 'POST',
        agent,
        headers: {
          ...headers,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', fail);
        response.once('end', () => {
          clearTimeout(timer);
          done({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          });
        });
      },
    );
    const timer = setTimeout(() => call.destroy(new NoReplyError(timeoutMs)), timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    call.once('error', fail);
    // As text it goes out together with the headers.
    call.end(body);
  });
}
