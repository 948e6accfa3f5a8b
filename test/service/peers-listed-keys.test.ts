import { randomUUID } from 'node:crypto';
import { decodeJwt, type JWK } from 'jose';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  generatePrivateKey,
  type PrivateKey,
  publicPart,
  readPrivateKey,
} from '#lib/config/secret-values.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';

type Peer = components['schemas']['Peer'];

let lab: TestInstance;
let admin: Caller;
let database: pg.Client;
beforeAll(async () => {
  lab = await startTestInstance();
  admin = await signIn(lab, 'admin');
  database = new pg.Client({ connectionString: lab.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await lab?.stop();
});

let owner: OwnPeer;
let squatter: OwnPeer;
beforeEach(async () => {
  [owner, squatter] = await Promise.all([startOwnPeer(), startOwnPeer()]);
});
afterEach(async () => void (await Promise.all([owner.close(), squatter.close()])));

const draw = () => readPrivateKey(generatePrivateKey());
const known = async ({ url }: OwnPeer) =>
  ((await (await admin.get('/peers')).json()) as Peer[]).find((each) => each.url === url);
const pair = async (partner: OwnPeer) =>
  partner.send(lab.url, 'POST', '/federation/pairing', {
    pairing: randomUUID(),
    apiKey: (await createKey(lab, 'partner', 'PEER')).key,
    description: await partner.describe(),
  });
const ask = async (partner: OwnPeer, changes = {}) =>
  (await partner.send(lab.url, 'GET', '/federation/models', undefined, changes)).status;
/** As if a peer's keys had not been asked for since: the next look is due. */
const passMinutes = (minutes: number) =>
  database.query(`UPDATE peers.peers SET described_at = described_at - interval '${minutes} minutes'`);

const kinds: [string, (key: PrivateKey) => JWK][] = [
  ['signing', (key) => ({ ...publicPart(key), use: 'sig', alg: 'ES256' })],
  ['sealing', (key) => ({ ...publicPart(key), use: 'enc', alg: 'ECDH-ES' })],
];

/** From now on the squatter lists this public key of somebody else among its own. */
async function list(stolen: JWK): Promise<void> {
  const { jwks } = decodeJwt<{ jwks: { keys: JWK[] } }>(await squatter.describe());
  const describeItself = squatter.describe;
  squatter.describe = (changes = {}, ...more) =>
    describeItself({ jwks: { keys: [...jwks.keys, stolen] }, ...changes }, ...more);
}

describe.each(kinds)('a peer that lists the %s key of another instance', (kind, listed) => {
  const keyOf = (partner: OwnPeer) =>
    kind === 'signing' ? (partner.keys[0] as PrivateKey) : partner.sealing;

  it('does not keep its owner from pairing, in either direction', async () => {
    await list(listed(keyOf(owner)));
    expect((await pair(squatter)).status).toBe(200);
    expect((await pair(owner)).status).toBe(200);
    expect(await known(owner)).toMatchObject({ state: 'PAIRED', thumbprints: [owner.keys[0]?.kid] });
    expect(await ask(owner)).toBe(200);
    const invited = await admin.send('POST', '/peers', { url: owner.url, apiKey: 'of-the-owner' });
    expect(invited.status).toBe(200);
  });

  it('does not keep its owner from changing keys', async () => {
    expect((await pair(owner)).status).toBe(200);
    const [old, fresh] = [owner.keys[0] as PrivateKey, draw()];
    await list(listed(fresh));
    expect((await pair(squatter)).status).toBe(200);
    if (kind === 'signing') owner.keys = [fresh, old];
    else {
      owner.sealing = fresh;
      owner.keys = [draw(), old];
    }
    await passMinutes(1);
    expect(await ask(owner)).toBe(200);
    await passMinutes(10);
    expect(await ask(owner, { key: draw() })).toBe(401);
    expect(await known(owner)).toMatchObject({
      state: 'PAIRED',
      thumbprints: owner.keys.map(({ kid }) => kid),
    });
    expect(await ask(owner)).toBe(200);
  });

  it('does not put its owner into quarantine when it lists the key later', async () => {
    expect((await pair(owner)).status).toBe(200);
    expect((await pair(squatter)).status).toBe(200);
    await list(listed(keyOf(owner)));
    await passMinutes(10);
    await ask(squatter, { key: draw() });
    expect(await known(owner)).toMatchObject({ state: 'PAIRED' });
    expect(await ask(owner)).toBe(200);
  });
});

it('A peer that lists the signing key of another cannot speak in the name of the other, nor the other in its name', async () => {
  expect((await pair(owner)).status).toBe(200);
  await list((kinds[0] as (typeof kinds)[number])[1](owner.keys[0] as PrivateKey));
  expect((await pair(squatter)).status).toBe(200);
  expect(await ask(squatter)).toBe(200);
  expect(await ask(squatter, { issuer: owner.url })).toBe(401);
  expect(await ask(squatter, { issuer: owner.url, key: squatter.sealing })).toBe(401);
  // A token that the owner has signed stays the owner's, whoever delivers it.
  expect(await ask(owner)).toBe(200);
});
