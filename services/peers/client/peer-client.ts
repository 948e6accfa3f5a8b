import type { PrivateKey } from '#lib/config/secret-values.ts';
import { type Failure, fail, invalidMember } from '#lib/errors/fail.ts';
import { parseForeignJson } from '#lib/json/check-json.ts';
import type { OutboundClient, OutboundRequest, OutboundResponse } from '#lib/outbound/outbound-client.ts';
import { OutboundRefused } from '#lib/outbound/targets.ts';
import { descriptionFaults, type PeerDescription, readDescription } from '../domain/description.ts';
import { signPeerRequest } from '../domain/peer-token.ts';

export interface PeerReply {
  status: number;
  /** Parsed JSON; undefined if the body is not JSON. */
  content: unknown;
}

/** A reply as a text. */
export interface TextReply {
  status: number;
  text: string;
}

/** Calls other instances through the guarded client (lib/outbound), with signed requests. */
export interface PeerClient {
  /** Fetches an instance's self-description. @throws Failure `invalid` at /url, or `unavailable`. */
  describe(url: string): Promise<PeerDescription>;
  /** Sends a signed request. @throws Failure `unavailable` (no reply), `invalid` (forbidden address). */
  send(request: {
    method: string;
    url: string;
    path: string;
    /** JSON. */
    body?: Uint8Array;
    /** Limit of the reply's body; default 2 MiB. */
    maxBytes?: number;
  }): Promise<PeerReply>;
  /** Sends a signed POST with a text. @throws Failure as `send`. */
  sendText(request: { url: string; path: string; body: string }): Promise<TextReply>;
}

interface Options {
  outbound: Pick<OutboundClient, 'request'>;
  baseUrl: string;
  signingKey: PrivateKey;
  /** Thumbprints of all keys of this instance. */
  ownKids: ReadonlySet<string>;
  /** Called with the `Date` of each reply to a signed request. */
  onDate: (url: string, at: Date | undefined) => void;
}

export function createPeerClient({ outbound, baseUrl, signingKey, ownKids, onDate }: Options): PeerClient {
  const request: OutboundClient['request'] = (options) =>
    outbound.request(options).catch((error: unknown) => {
      throw failureOf(error);
    });

  async function sendSigned({
    method,
    url,
    path,
    ...rest
  }: Pick<OutboundRequest, 'method' | 'url' | 'headers' | 'body' | 'maxBytes'> & { path: string }) {
    const target = `${url}${path}`;
    const signed = { method, url: target, body: rest.body ?? new Uint8Array() };
    const token = signPeerRequest(signed, { issuer: baseUrl, audience: url, key: signingKey });
    const headers = { Authorization: `Peer ${token}`, ...rest.headers };
    const reply = await request({ ...rest, method, url: target, headers, continuesTrace: true });
    onDate(url, reply.headers.date === undefined ? undefined : new Date(reply.headers.date));
    return reply;
  }

  return {
    async describe(url) {
      const reply = await request({
        method: 'GET',
        url: `${url}/.well-known/accord`,
        headers: { Accept: 'application/jose' },
      });
      if (reply.status === 429 || reply.status >= 500)
        throw peerUnavailable(`The peer answered ${reply.status}.`);
      if (reply.status !== 200)
        throw addressFault(`The address does not belong to an instance: it answered ${reply.status}.`);
      const jws = Buffer.from(reply.body).toString('utf8').trim();
      const read = readDescription(jws, { url, now: new Date(), ownKids });
      if ('fault' in read) throw addressFault(descriptionFaults[read.fault]);
      return read.description;
    },
    async send({ method, url, path, body, maxBytes }) {
      const headers = {
        Accept: 'application/json',
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      };
      const reply = await sendSigned({ method, url, path, body, maxBytes, headers });
      return { status: reply.status, content: parse(reply.body) };
    },
    async sendText({ url, path, body }) {
      const headers = { Accept: 'text/plain', 'Content-Type': 'text/plain' };
      const reply = await sendSigned({ method: 'POST', url, path, body: Buffer.from(body), headers });
      return textOf(reply);
    },
  };
}

const refusals: Partial<Record<OutboundRefused['reason'], string>> = {
  address:
    'The address is in a private network. If the peer is in this network, add it to OUTBOUND_ALLOWED_NETWORKS.',
  redirect: 'The address redirects. Use the address that it redirects to.',
  'too-large': 'The answer of the instance at this address is too large.',
};

function failureOf(error: unknown): Failure {
  if (error instanceof OutboundRefused)
    return addressFault(refusals[error.reason] ?? 'The address must not be called.', error);
  return peerUnavailable('The peer cannot be reached.', error);
}

/** @param detail what failed, without advice. Deliveries show only this, because they are retried anyway. */
export function peerUnavailable(detail: string, cause: unknown = new Error(detail)): Failure {
  const headers = { 'Retry-After': '30' };
  return fail('unavailable', `${detail} Nothing was changed. Try again later.`, { headers, cause });
}

/** A fault of the address that an administrator entered. */
export function addressFault(detail: string, cause?: unknown): Failure {
  return invalidMember('This instance cannot be paired with.', '/url', detail, cause);
}

/** A POST of a text. */
export function textPost(url: string, body: string): OutboundRequest {
  const headers = { Accept: 'text/plain', 'Content-Type': 'text/plain' };
  return { method: 'POST', url, headers, body: Buffer.from(body) };
}

/** The status and the text of a reply. */
export function textOf({ status, body }: OutboundResponse): TextReply {
  return { status, text: Buffer.from(body).toString('utf8') };
}

function parse(body: Uint8Array): unknown {
  try {
    return parseForeignJson(body);
  } catch {
    return undefined;
  }
}
