import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CompactSign, importJWK } from 'jose';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { OwnPeer } from './peer-of-our-own.ts';

/** A request that has come to an owner of our own. */
export interface Came {
  method: string;
  path: string;
  sid: string;
  body: string;
  /** SHA-256 of the body, base64url. */
  digest: string;
  /** Base URL of who sent it, as its token says. */
  from: string;
}

/**
 * An owner that a test plays: it accepts parts, unless the test defines another behaviour.
 */
export interface OwnOwner {
  /** Requests that came, oldest first. */
  came: Came[];
  /** Requests that are being answered, and the largest number of them at a time. */
  busy: Set<Came>;
  most: number;
  /** The verdict on a request; default: `committed`. */
  verdict: (came: Came) => object;
  /** Answers the request itself, or returns false for the usual answer; a promise delays the request. */
  instead: (response: ServerResponse, came: Came) => unknown;
}

/** Makes a partner accept parts of answers, as docs/federation.md, "Answers", says. */
export function takeParts(partner: OwnPeer): OwnOwner {
  const owner: OwnOwner = {
    came: [],
    busy: new Set(),
    most: 0,
    verdict: () => ({ verdict: 'committed', id: 'theirs' }),
    instead: () => false,
  };
  const before = partner.answer;
  partner.answer = async (request, response) => {
    const match = /^\/federation\/(submissions|decisions)\/(\w+)/.exec(request.url ?? '');
    if (!match) return before(request, response);
    const came = await read(request, match[2] as string);
    owner.came.push(came);
    owner.busy.add(came);
    owner.most = Math.max(owner.most, owner.busy.size);
    response.once('close', () => owner.busy.delete(came));
    if ((await owner.instead(response, came)) !== false) return;
    sendReceipt(response, await signReceipt(partner, came, owner.verdict(came)));
  };
  return owner;
}

async function read(request: IncomingMessage, sid: string): Promise<Came> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const token = (request.headers.authorization ?? '').replace(/^Peer /, '');
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}');
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    sid,
    body: raw.toString(),
    digest: createHash('sha256').update(raw).digest('base64url'),
    from: claims.iss,
  };
}

export function sendReceipt(response: ServerResponse, receipt: unknown): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ receipt }));
}

/** Signs a receipt as a partner does. @param how what is not as it should be. */
export async function signReceipt(
  partner: OwnPeer,
  { sid, digest, from }: Pick<Came, 'sid' | 'digest' | 'from'>,
  content: object,
  how: { key?: PrivateKey; header?: Record<string, unknown>; payload?: string } = {},
): Promise<string> {
  const key = how.key ?? (partner.keys[0] as PrivateKey);
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: partner.url, aud: from, sid, digest, iat, ...content };
  return new CompactSign(Buffer.from(how.payload ?? JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256', typ: 'accord-receipt+jwt', kid: key.kid, ...how.header })
    .sign(await importJWK(key, 'ES256'));
}
