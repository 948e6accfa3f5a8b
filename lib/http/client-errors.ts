import { createHash } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum size of a request's target and headers together, cookies included; nginx takes as much. */
export const maxHeaderSize = 32 * 1024;

interface Refusal {
  status: number;
  /** A problem code (docs/interface.md, "Errors"). */
  code: string;
  detail: string;
}

const refusals: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'too-large',
    detail: `The address and headers of the request, including cookies, are larger than ${maxHeaderSize / 1024} KiB. In a browser, delete the cookies of this site and of its parent domain, and load the page again.`,
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'too-large',
    detail: 'The chunk extensions of the request are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'malformed',
    detail: 'The request did not arrive in time. Please try again.',
  },
};

const notHttp: Refusal = {
  status: 400,
  code: 'malformed',
  detail: 'The request is not valid HTTP/1.1.',
};

/** The HTML of a refusal, and the policy that allows its script alone. */
function pageOf({ status, code, detail }: Refusal) {
  // Not in a file: the request for it would be refused for the same reason.
  const script = `(window.parent===window?window.opener:window.parent)?.postMessage({type:'accord:error',code:'${code}'},'*')`;
  const hash = createHash('sha256').update(script).digest('base64');
  return {
    type: 'text/html; charset=utf-8',
    policy: `default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'sha256-${hash}'`,
    body:
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">` +
      `<meta name="color-scheme" content="light dark"><title>${STATUS_CODES[status]}</title>` +
      `<h1>${STATUS_CODES[status]}</h1><p>${detail}</p><script>${script}</script></html>`,
  };
}

function problemOf({ status, code, detail }: Refusal) {
  return {
    type: 'application/problem+json',
    policy: `default-src 'none'; frame-ancestors 'none'`,
    body: JSON.stringify({ type: 'about:blank', code, title: STATUS_CODES[status], status, detail }),
  };
}

/**
 * Answers requests that the HTTP parser of Node.js refuses, with a body that tells the cause. No middleware
 * sees these requests.
 * @param isAnswering whether a response has begun on a connection; a second one would corrupt it.
 */
export function answerClientErrors(server: Server, isAnswering: (socket: Socket) => boolean): void {
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) return socket.destroy();
    const refusal = refusals[error.code ?? ''] ?? notHttp;
    // What was read last usually begins with the request line and has the headers before the cookies.
    const wantsPage = /^accept:[^\r\n]*text\/html/im.test(error.rawPacket?.toString('latin1') ?? '');
    const { type, policy, body } = wantsPage ? pageOf(refusal) : problemOf(refusal);
    const head = [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      `Content-Type: ${type}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `Content-Security-Policy: ${policy}`,
      'Cross-Origin-Embedder-Policy: require-corp',
      'Cross-Origin-Resource-Policy: cross-origin',
      'Cache-Control: no-store',
      'Referrer-Policy: no-referrer',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  });
}
