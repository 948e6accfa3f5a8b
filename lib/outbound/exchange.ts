import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { OutboundRequest, OutboundResponse } from '#lib/outbound/outbound-client.ts';
import { OutboundFailed, OutboundRefused } from '#lib/outbound/outbound-errors.ts';
import type { Target } from '#lib/outbound/read-target.ts';

interface Means {
  agent: http.Agent;
  connectMs: number;
  maxBytes: number;
  /** Its reason is what the exchange then fails with. */
  signal: AbortSignal;
}

/** Headers that are the connection's business (RFC 9110 §7.6.1), or decided here. */
const withheld = new Set([
  ...['host', 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['content-length', 'accept-encoding', 'proxy-authorization', 'proxy-connection'],
]);

/** More than that is no answer to us. */
const maxHeaderSize = 16 * 1024;

/** One request and its answer over a connection of `agent`. @throws OutboundRefused, OutboundFailed */
export function exchange(target: Target, request: OutboundRequest, means: Means): Promise<OutboundResponse> {
  const { signal, connectMs, maxBytes } = means;
  return new Promise((resolve, reject) => {
    const outgoing = open(target, request, means.agent);
    const stage = watchStage(outgoing, target.secure, connectMs);
    const end = (error: unknown) => {
      reject(readFailure(error, stage.failure));
      outgoing.destroy();
    };
    let answered = false;
    outgoing.on('error', end);
    outgoing.once('response', (incoming) => {
      answered = true;
      readAnswer(incoming, maxBytes).then(resolve, end);
    });
    // Some ends are no error to Node, such as an answer that goes over to another protocol (101).
    outgoing.once('close', () => {
      if (!answered) end(new OutboundFailed('closed'));
    });
    outgoing.end(request.body);
    signal.addEventListener('abort', () => end(signal.reason), { once: true });
    if (signal.aborted) end(signal.reason);
  });
}

function open({ secure, hostname, port, path }: Target, request: OutboundRequest, agent: http.Agent) {
  const { method, body } = request;
  const given = Object.entries(request.headers).filter(([name]) => !withheld.has(name.toLowerCase()));
  const headers = {
    ...Object.fromEntries(given),
    // Nothing is decompressed, so nothing small can become large.
    'Accept-Encoding': 'identity',
    ...(body ? { 'Content-Length': body.byteLength } : {}),
  };
  const options = { method, hostname, path, headers, agent, maxHeaderSize, insecureHTTPParser: false };
  return (secure ? https : http).request({ ...options, ...(port ? { port } : {}) });
}

/** Connections that have come about: Node says so of those that were idle only, and not of one that a request has waited for. */
const opened = new WeakSet<Socket>();

/** Follows how far a connection has come: what goes wrong is named by it. */
function watchStage(outgoing: ClientRequest, secure: boolean, connectMs: number) {
  const stage: { failure: 'connect' | 'tls' | 'closed' } = { failure: 'connect' };
  outgoing.once('socket', (socket) => {
    const proceed = () => {
      opened.add(socket);
      stage.failure = 'closed';
      clearTimeout(timer);
    };
    const timer = setTimeout(() => outgoing.destroy(new OutboundFailed('timeout')), connectMs);
    outgoing.once('close', () => clearTimeout(timer));
    if (opened.has(socket)) return proceed();
    socket.once('connect', () => {
      if (secure) stage.failure = 'tls';
      else proceed();
    });
    socket.once('secureConnect', proceed);
  });
  return stage;
}

async function readAnswer(incoming: IncomingMessage, maxBytes: number): Promise<OutboundResponse> {
  const status = incoming.statusCode as number;
  if (status >= 300 && status < 400) throw new OutboundRefused('redirect');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new OutboundRefused('too-large');
    chunks.push(chunk);
  }
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
  return { status, headers: Object.fromEntries(headers), body: new Uint8Array(Buffer.concat(chunks)) };
}

/** Node's errors are not passed on: they may hold the answer's bytes or the URL. */
function readFailure(error: unknown, stage: 'connect' | 'tls' | 'closed'): OutboundRefused | OutboundFailed {
  if (error instanceof OutboundRefused || error instanceof OutboundFailed) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'HPE_HEADER_OVERFLOW' ? new OutboundRefused('too-large') : new OutboundFailed(stage, code);
}
