import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { importJWK, SignJWT } from 'jose';
import {
  generatePrivateKey,
  type PrivateKey,
  publicPart,
  readPrivateKey,
} from '#lib/config/secret-values.ts';
import { signPeerRequest } from '../../../services/peers/domain/peer-token.ts';
import { lightFetch } from '../network/light-fetch.ts';

/** A partner that a test plays itself, by docs/federation.md: honest, or whatever the test makes of it. */
export interface OwnPeer {
  url: string;
  /** Signing keys: the first signs, the last vouches. */
  keys: PrivateKey[];
  sealing: PrivateKey;
  /**
   * Its self-description. @param changes what it says otherwise; `signedBy`: another key than the one that
   * vouches.
   */
  describe(changes?: Record<string, unknown>, signedBy?: PrivateKey): Promise<string>;
  /** Answers requests; by default it says who it is, and pairs with whoever asks. */
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
  /** Sends a signed request to an instance. */
  send(
    to: string,
    method: string,
    path: string,
    content?: unknown,
    changes?: Partial<Signature>,
  ): Promise<Response>;
  close(): Promise<void>;
}

interface Signature {
  issuer: string;
  audience: string;
  key: PrivateKey;
  id: string;
  now: Date;
  /** Sends this token instead. */
  token: string;
}

const draw = () => readPrivateKey(generatePrivateKey());

export async function startOwnPeer(): Promise<OwnPeer> {
  const server: Server = createServer((request, response) => {
    void (async () => peer.answer(request, response))().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const peer: OwnPeer = {
    url,
    keys: [draw()],
    sealing: draw(),
    async describe(changes = {}, signedBy = peer.keys.at(-1) as PrivateKey) {
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        iss: url,
        instance: url,
        name: 'A partner',
        versions: ['1'],
        iat: now,
        exp: now + 3600,
        jwks: {
          keys: [
            ...peer.keys.map((key) => ({ ...publicPart(key), use: 'sig', alg: 'ES256' })),
            { ...publicPart(peer.sealing), use: 'enc', alg: 'ECDH-ES' },
          ],
        },
        endpoints: {},
        ...changes,
      };
      return new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', typ: 'accord-instance+jwt', kid: signedBy.kid })
        .sign(await importJWK(signedBy, 'ES256'));
    },
    async answer(request, response) {
      const description = await peer.describe();
      if (request.url === '/.well-known/accord')
        return void response.writeHead(200, { 'Content-Type': 'application/jose' }).end(description);
      if (request.url !== '/federation/pairing') return void response.writeHead(404).end();
      request.resume();
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ description }));
    },
    async send(to, method, path, content, changes = {}) {
      const body = content === undefined ? '' : JSON.stringify(content);
      const token =
        changes.token ??
        (await signPeerRequest(
          { method, url: `${to}${path}`, body: Buffer.from(body) },
          {
            issuer: url,
            audience: to,
            key: peer.keys[0] as PrivateKey,
            ...changes,
          },
        ));
      return lightFetch(new URL(`${to}${path}`), {
        method,
        headers: { Authorization: `Peer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
        ...(body ? { body } : {}),
      });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return peer;
}
