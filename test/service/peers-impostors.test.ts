import { createSecretKey, randomUUID } from 'node:crypto';
import { CompactSign, importJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generatePrivateKey, publicPart, readPrivateKey } from '#lib/config/secret-values.ts';
import { sql } from '#lib/db/sql.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { signPeerRequest } from '../../services/peers/domain/peer-token.ts';
import { bodyDigest } from '../../services/peers/domain/signatures.ts';
import {
  type DeliveringInstance,
  samplePart,
  startDelivering,
} from '../support/instances/delivering-instance.ts';
import { signReceipt } from '../support/peers/own-owner.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';

let lab: DeliveringInstance;
let clinic: OwnPeer;
let other: OwnPeer;
let stranger: OwnPeer;
const sid = randomId();
beforeAll(async () => {
  [lab, clinic, other, stranger] = await Promise.all([
    startDelivering(),
    startOwnPeer(),
    startOwnPeer(),
    startOwnPeer(),
  ]);
  await lab.pairWith(clinic);
  await lab.pairWith(other);
});
afterAll(async () => {
  for (const peer of [clinic, other, stranger]) await peer?.close();
  await lab?.stop();
});

interface Message {
  method: string;
  path: string;
  content?: object;
}
const messages: [string, () => Message][] = [
  [
    'a part of answers',
    () => ({
      method: 'PUT',
      path: `/federation/submissions/${sid}`,
      content: samplePart(clinic.url, lab.url).submission,
    }),
  ],
  [
    'a decision',
    () => ({
      method: 'POST',
      path: `/federation/submissions/${sid}/decision`,
      content: { decision: 'commit' },
    }),
  ],
  ['a question', () => ({ method: 'GET', path: `/federation/decisions/${sid}` })],
];

const soon = (seconds: number) => ({ now: new Date(Date.now() + seconds * 1000) });
const changes: [string, () => object][] = [
  ['by a stranger', () => ({ issuer: stranger.url, key: stranger.keys[0] })],
  ['with a stranger’s key, in the name of the peer', () => ({ key: stranger.keys[0] })],
  ['with a key of nobody', () => ({ key: readPrivateKey(generatePrivateKey()) })],
  ['with the sealing key', () => ({ key: clinic.sealing })],
  ['with another peer’s key, in the name of this one', () => ({ key: other.keys[0] })],
  ['in the name of another peer', () => ({ issuer: other.url })],
  ['in our own name', () => ({ issuer: lab.url })],
  ['for another instance', () => ({ audience: other.url })],
  ['for itself', () => ({ audience: clinic.url })],
  ['that is over', () => soon(-91)],
  ['that is ten minutes old', () => soon(-600)],
  ['from the future', () => soon(90)],
  ['with an id that is too short', () => ({ id: 'x' })],
  ['with no token', () => ({ token: '' })],
  ['with a token that is none', () => ({ token: 'a.b.c' })],
  ['with an endless token', () => ({ token: 'x'.repeat(5_000) })],
];

/** A token that the clinic has signed, for this request unless told otherwise. */
const signed = (message: Message, otherwise: { method?: string; path?: string; body?: string } = {}) =>
  signPeerRequest(
    {
      method: otherwise.method ?? message.method,
      url: `${lab.url}${otherwise.path ?? message.path}`,
      body: Buffer.from(otherwise.body ?? (message.content ? JSON.stringify(message.content) : '')),
    },
    { issuer: clinic.url, audience: lab.url, key: clinic.keys[0] as (typeof clinic.keys)[0] },
  );

/** What a good token of the clinic says of a request. */
function claimsOf({ method, path, content }: Message) {
  const iat = Math.floor(Date.now() / 1000);
  return {
    iss: clinic.url,
    aud: lab.url,
    htm: method,
    htu: `${lab.url}${path}`,
    jti: randomUUID(),
    bd: bodyDigest(Buffer.from(content ? JSON.stringify(content) : '')),
    iat,
    exp: iat + 60,
  };
}
const header = (changes: object = {}) => ({
  alg: 'ES256',
  typ: 'accord-peer+jwt',
  kid: clinic.keys[0]?.kid,
  ...changes,
});
const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const unsigned = (message: Message, changes: object) =>
  `${encoded(header(changes))}.${encoded(claimsOf(message))}.`;
/** A token with a good signature over whatever it says. */
const forge = async (message: Message, claims: object, headers = {}, key = clinic.keys[0]) =>
  new CompactSign(Buffer.from(JSON.stringify({ ...claimsOf(message), ...claims })))
    .setProtectedHeader(header(headers))
    .sign(await importJWK(key as (typeof clinic.keys)[0], 'ES256'));
const forgeries: [string, (message: Message) => string | Promise<string>][] = [
  ['without an algorithm', (message) => unsigned(message, { alg: 'none' })],
  ['without its signature', async (message) => (await forge(message, {})).replace(/[^.]+$/, '')],
  ['with the algorithm of another kind of key', (message) => unsigned(message, { alg: 'EdDSA' })],
  [
    'signed with the public key as a shared secret',
    (message) =>
      new CompactSign(Buffer.from(JSON.stringify(claimsOf(message))))
        .setProtectedHeader(header({ alg: 'HS256' }))
        .sign(
          createSecretKey(Buffer.from(JSON.stringify(publicPart(clinic.keys[0] as (typeof clinic.keys)[0])))),
        ),
  ],
  [
    'with a key of its own',
    (message) =>
      forge(message, {}, { jwk: publicPart(stranger.keys[0] as (typeof clinic.keys)[0]) }, stranger.keys[0]),
  ],
  [
    'with an extension that is to be understood',
    (message) => unsigned(message, { crit: ['b64'], b64: true }),
  ],
  ['that is of the kind of a receipt', (message) => forge(message, {}, { typ: 'accord-receipt+jwt' })],
  ['that is of no kind', (message) => forge(message, {}, { typ: undefined })],
  ['with a self-description in place of a token', () => clinic.describe()],
  [
    'with a receipt in place of a token',
    (message) => signReceipt(clinic, { sid, digest: claimsOf(message).bd, from: lab.url }, {}),
  ],
  [
    'that is good for a year',
    (message) => forge(message, { exp: Math.floor(Date.now() / 1000) + 31_536_000 }),
  ],
  [
    'that is good for a minute and a second',
    (message) => forge(message, { exp: claimsOf(message).iat + 62 }),
  ],
  ['that is good for ever', (message) => forge(message, { exp: undefined })],
  ['for two instances', (message) => forge(message, { aud: [lab.url, other.url] })],
  ['of nobody', (message) => forge(message, { iss: undefined })],
  [
    'whose words were changed',
    async (message) => {
      const [head, , signature] = (await forge(message, {})).split('.');
      return [head, encoded(claimsOf(message)), signature].join('.');
    },
  ],
];

const send = ({ method, path, content }: Message, otherwise: object) =>
  clinic.send(lab.url, method, path, content, otherwise);
const done = () => [...lab.transactions.accepted, ...lab.transactions.decided].length;

describe.each(messages)('%s', (_name, message) => {
  it.each(changes)('%s is refused', async (_how, otherwise) => {
    const before = done();
    expect((await send(message(), otherwise())).status).toBe(401);
    expect(done()).toBe(before);
  });

  it.each(forgeries)('%s is refused', async (_how, token) => {
    const before = done();
    expect((await send(message(), { token: await token(message()) })).status).toBe(401);
    expect(done()).toBe(before);
  });

  it.each<[string, () => object]>([
    ['another method', () => ({ method: 'DELETE' })],
    ['another submission', () => ({ path: message().path.replace(sid, randomId()) })],
    ['another address', () => ({ path: '/federation/ping' })],
    ['another body', () => ({ body: '{"decision":"rollback"}' })],
  ])('with a signature that is over %s is refused', async (_what, otherwise) => {
    const before = done();
    const token = await signed(message(), otherwise());
    expect((await send(message(), { token })).status).toBe(401);
    expect(done()).toBe(before);
  });

  it('that is sent again as it was is refused, however quickly', async () => {
    const token = await signed(message());
    const replies = await Promise.all([1, 2, 3].map(() => send(message(), { token })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it('with credentials of people or API keys is rejected', async () => {
    const { method, path, content } = message();
    for (const headers of [{}, { CM_KEY: 'whatever' }, { Authorization: 'Bearer whatever' }]) {
      const response = await lab.fetch(path, {
        method,
        headers: { ...headers, ...(content ? { 'Content-Type': 'application/json' } : {}) },
        ...(content ? { body: JSON.stringify(content) } : {}),
      });
      expect(response.status).toBe(401);
    }
  });
});

it.each<[string, () => OwnPeer]>([
  ['another peer', () => other],
  ['itself', () => ({ ...other, url: lab.url })],
  ['a stranger', () => stranger],
])('a part of a known peer that names %s as the one that showed the form is refused', async (_who, named) => {
  const before = done();
  const content = samplePart(named().url, lab.url).submission;
  const sent = await clinic.send(lab.url, 'PUT', `/federation/submissions/${randomId()}`, content);
  expect(sent.status).toBe(403);
  expect(done()).toBe(before);
});

it('counts every refusal by its reason', async () => {
  const metrics = await lab.metrics();
  for (const reason of ['unknown-key', 'audience', 'clock', 'claims', 'method', 'address', 'body', 'replay'])
    expect(metrics).toMatch(new RegExp(`accord_peer_refused_total\\{reason="${reason}"\\} \\d+`));
});

it('a peer whose keys wait for confirmation is rejected with each of them', async () => {
  const quarantined = await startOwnPeer();
  const id = await lab.pairWith(quarantined);
  await lab.db.query(sql`UPDATE peers SET state = 'QUARANTINED' WHERE id = ${id}`);
  const before = done();
  for (const [, message] of messages) {
    const { method, path, content } = message();
    expect((await quarantined.send(lab.url, method, path, content)).status).toBe(403);
  }
  expect(done()).toBe(before);
  await quarantined.close();
});
