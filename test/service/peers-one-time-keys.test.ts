import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generatePrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
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
/** None is closed before the end: another partner on its port would be the peer that was there before. */
const partners: OwnPeer[] = [];
afterAll(async () => {
  await Promise.all(partners.map((partner) => partner.close()));
  await database?.end();
  await lab?.stop();
});

async function startPartner(): Promise<OwnPeer> {
  const partner = await startOwnPeer();
  partners.push(partner);
  return partner;
}
/** A pairing id and a fresh one-time key. */
const invitation = async () => ({
  pairing: randomUUID(),
  apiKey: (await createKey(lab, 'partner', 'PEER')).key,
});
const pair = async (partner: OwnPeer, given: object) =>
  partner.send(lab.url, 'POST', '/federation/pairing', { ...given, description: await partner.describe() });
const peers = async () => (await (await admin.get('/peers')).json()) as Peer[];
const known = async ({ url }: OwnPeer) => (await peers()).find((each) => each.url === url);
const expectUsed = async (response: Response) => {
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ errors: [{ pointer: '/apiKey', code: 'used' }] });
};

describe('a one-time key that was used', () => {
  it('is refused from another instance, also with the same pairing id', async () => {
    const [first, second] = [await startPartner(), await startPartner()];
    const given = await invitation();
    expect((await pair(first, given)).status).toBe(200);
    await expectUsed(await pair(second, given));
    expect(await known(second)).toBeUndefined();
    expect(await known(first)).toMatchObject({ state: 'PAIRED' });
  });

  it('is refused from the same address with another signing key', async () => {
    const partner = await startPartner();
    const given = await invitation();
    expect((await pair(partner, given)).status).toBe(200);
    partner.keys = [readPrivateKey(generatePrivateKey())];
    await expectUsed(await pair(partner, given));
  });

  it('may be presented again by the same peer for ten minutes', async () => {
    const partner = await startPartner();
    const given = await invitation();
    for (const _ of [1, 2]) expect((await pair(partner, given)).status).toBe(200);
    await database.query("UPDATE auth.api_keys SET used_at = used_at - interval '10 minutes'");
    await expectUsed(await pair(partner, given));
    expect(await known(partner)).toMatchObject({ state: 'PAIRED' });
  });

  it('does not bring back a peer that an administrator has removed', async () => {
    const partner = await startPartner();
    const given = await invitation();
    expect((await pair(partner, given)).status).toBe(200);
    expect((await admin.send('DELETE', `/peers/${(await known(partner))?.id}`)).status).toBe(204);
    await expectUsed(await pair(partner, given));
    expect(await known(partner)).toBeUndefined();
    expect((await pair(partner, await invitation())).status).toBe(200);
  });

  it('does not bring back a peer that has ended the pairing itself', async () => {
    const partner = await startPartner();
    const given = await invitation();
    expect((await pair(partner, given)).status).toBe(200);
    expect((await partner.send(lab.url, 'DELETE', '/federation/pairing')).status).toBe(204);
    await expectUsed(await pair(partner, given));
    expect(await known(partner)).toMatchObject({ state: 'ENDED' });
  });
});

describe('a one-time key that twenty instances present at once', () => {
  it.each([
    ['with the same pairing id', (given: object) => given],
    ['each with its own pairing id', (given: object) => ({ ...given, pairing: randomUUID() })],
  ])('%s pairs exactly one of them', async (_name, ofOne) => {
    const twenty = await Promise.all(Array.from({ length: 20 }, startPartner));
    const given = await invitation();
    const before = (await peers()).length;
    const replies = await Promise.all(twenty.map((partner) => pair(partner, ofOne(given))));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(403)]);
    expect(await peers()).toHaveLength(before + 1);
  });
});
