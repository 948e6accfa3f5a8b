import type { JWK } from 'jose';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { parseForeignJson } from '#lib/json/check-json.ts';
import { signPeerRequest } from '../domain/peer-token.ts';
import { type DescriptionFault, type PeerDescription, readDescription } from '../domain/read-description.ts';

/** A request to a peer's address, and what came back, within the bounds of the guarded outbound client (security.md, "Outbound"). */
export type Ask = (request: {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array;
  /** Of the answer's body; 2 MiB if not given. */
  maxBytes?: number;
}) => Promise<{ status: number; headers: Record<string, string>; body: Uint8Array }>;

export interface PeerReply {
  status: number;
  /** Parsed JSON; undefined if it was none. */
  content: unknown;
  /** How long the answer was. */
  bytes: number;
}

/** Speaks to other instances; every request is signed. */
export interface PeerClient {
  /** Asks an instance what it says of itself. @throws Failure `invalid` at /url, or `unavailable`. */
  describe(url: string): Promise<{ jws: string; description: PeerDescription }>;
  /** Sends a signed request. @throws Failure `unavailable` if there was no reply, `invalid` if the address is not for us to call. */
  send(request: {
    method: string;
    url: string;
    path: string;
    /** Sent as JSON. */
    content?: unknown;
    /** JSON that is sent as it is, instead of `content`. */
    body?: Uint8Array;
    maxBytes?: number;
  }): Promise<PeerReply>;
}

/** Why a description is not one to pair with, as an administrator reads it. */
const explanations: Readonly<Record<DescriptionFault, string>> = {
  form: 'What is at this address is no self-description of an instance.',
  algorithm: 'The self-description at this address is not signed as it should be.',
  keys: 'The self-description at this address lacks keys, or has ones that are not what they are called.',
  'own-keys': 'The self-description at this address has a key of this instance, which nobody else has.',
  signature: 'The signature of the self-description at this address is not right.',
  instance: 'The instance at this address says that it has another address; use that one.',
  lifetime: 'The self-description at this address is out of date; compare the clocks of both machines.',
  name: 'The instance at this address has no usable name.',
  version: 'The instance at this address speaks no version of the protocol that this one speaks.',
};

/** A failure of the address that an administrator gave. */
export function addressFault(detail: string, cause?: unknown): Failure {
  return fail('invalid', 'This instance cannot be paired with.', {
    errors: [{ pointer: '/url', code: 'invalid', detail }],
    cause,
  });
}

export function createPeerClient({
  ask,
  baseUrl,
  signingKey,
  ownKids,
  now = () => new Date(),
  onDate = () => {},
}: {
  ask: Ask;
  baseUrl: string;
  signingKey: JWK & { kid: string };
  /** Of all keys of this instance. */
  ownKids: ReadonlySet<string>;
  now?: () => Date;
  /** Told what time it is at a peer, by what it answers to a signed request. */
  onDate?: (url: string, at: Date | undefined) => void;
}): PeerClient {
  return {
    async describe(url) {
      const reply = await ask({
        method: 'GET',
        url: `${url}/.well-known/accord`,
        headers: { Accept: 'application/jose' },
      });
      if (reply.status !== 200)
        throw addressFault(`There is no instance at this address: it answered ${reply.status}.`);
      const jws = Buffer.from(reply.body).toString('utf8').trim();
      const read = await readDescription(jws, { url, now: now(), ownKids });
      if (!read.valid) throw addressFault(explanations[read.fault]);
      return { jws, description: read.description };
    },
    async send({ method, url, path, content, body: raw, maxBytes }) {
      const given = raw ?? (content === undefined ? undefined : Buffer.from(JSON.stringify(content)));
      const request = { method, url: `${url}${path}`, body: given ?? new Uint8Array() };
      const token = await signPeerRequest({
        request,
        issuer: baseUrl,
        audience: url,
        key: signingKey,
        id: newUuid(),
        now: now(),
      });
      const reply = await ask({
        method,
        url: request.url,
        headers: {
          Authorization: `Peer ${token}`,
          Accept: 'application/json',
          ...(given ? { 'Content-Type': 'application/json' } : {}),
        },
        ...(given ? { body: given } : {}),
        ...(maxBytes === undefined ? {} : { maxBytes }),
      });
      onDate(url, reply.headers.date === undefined ? undefined : new Date(reply.headers.date));
      return { status: reply.status, content: parse(reply.body), bytes: reply.body.byteLength };
    },
  };
}

function parse(body: Uint8Array): unknown {
  try {
    return parseForeignJson(body);
  } catch {
    return undefined;
  }
}
