import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generatePrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signPeerRequest } from '../../services/peers/domain/peer-token.ts';
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

let peer: OwnPeer;
beforeEach(async () => {
  peer = await startOwnPeer();
});
afterEach(() => peer.close());

const draw = () => readPrivateKey(generatePrivateKey());
const pairingKey = async () => (await createKey(lab, 'partner', 'PEER')).key;
const introduce = async (changes: Record<string, unknown> = {}, apiKey?: string, by = peer) =>
  by.send(lab.url, 'POST', '/federation/pairing', {
    pairing: randomUUID(),
    apiKey: apiKey ?? (await pairingKey()),
    description: await by.describe(),
    ...changes,
  });
const known = async (url = peer.url) =>
  ((await (await admin.get('/peers')).json()) as Peer[]).find((each) => each.url === url);
const endIt = (changes = {}) => peer.send(lab.url, 'DELETE', '/federation/pairing', undefined, changes);
/** As if a minute had passed since the peer was last asked who it is. */
const passMinute = () =>
  database.query("UPDATE peers.peers SET described_at = described_at - interval '61 seconds'");

describe('an instance that introduces itself', () => {
  it('receives our self-description and is a peer from then on', async () => {
    const response = await introduce();
    expect(response.status).toBe(200);
    const shown = await lab.fetch('/.well-known/accord', { headers: { Accept: 'application/jose' } });
    const [, claims] = (await shown.text()).split('.') as [string, string];
    const [, told] = ((await response.json()) as { description: string }).description.split('.') as [
      string,
      string,
    ];
    const instanceOf = (payload: string) => JSON.parse(Buffer.from(payload, 'base64url').toString()).jwks;
    expect(instanceOf(told)).toEqual(instanceOf(claims));
    expect(await known()).toMatchObject({ name: 'A partner', state: 'PAIRED' });
  });

  it('that lost the reply may repeat its introduction without a second peer', async () => {
    const introduction = { pairing: randomUUID(), apiKey: await pairingKey() };
    for (const _ of [1, 2, 3]) expect((await introduce(introduction)).status).toBe(200);
    expect(
      ((await (await admin.get('/peers')).json()) as Peer[]).filter(({ url }) => url === peer.url),
    ).toHaveLength(1);
  });

  it.each<[string, number, () => Promise<Record<string, unknown>>]>([
    ['a description that is none', 422, async () => ({ description: 'a.b.c' })],
    [
      'a description of another instance',
      422,
      async () => ({ description: await peer.describe({ instance: 'https://other.example' }) }),
    ],
    [
      'a description in another’s name',
      401,
      async () => ({
        description: await peer.describe({ iss: 'https://other.example', instance: 'https://other.example' }),
      }),
    ],
    [
      'a description of this instance',
      422,
      async () => ({ description: await peer.describe({ iss: lab.url, instance: lab.url }) }),
    ],
    [
      'a description signed by a key that is not in it',
      422,
      async () => ({ description: await peer.describe({}, draw()) }),
    ],
    [
      'a description that is over',
      422,
      async () => ({ description: await peer.describe({ iat: 1, exp: 2 }) }),
    ],
    [
      'a description that never ends',
      422,
      async () => ({ description: await peer.describe({ exp: 9_999_999_999 }) }),
    ],
    [
      'a description without keys',
      422,
      async () => ({ description: await peer.describe({ jwks: { keys: [] } }) }),
    ],
    [
      'a description with a name of control characters',
      422,
      async () => ({ description: await peer.describe({ name: 'a\nb' }) }),
    ],
    ...[' ', '\u200b', '\u202eLab', 'Lab\u2066'].map(
      (name): [string, number, () => Promise<Record<string, unknown>>] => [
        `a description with a name that cannot be read as it stands (${JSON.stringify(name)}, ${name.length})`,
        422,
        async () => ({ description: await peer.describe({ name }) }),
      ],
    ),
    [
      'a key of this instance among its own',
      422,
      async () => {
        const shown = await lab.fetch('/.well-known/accord', { headers: { Accept: 'application/jose' } });
        const { jwks } = decodeJwt<{ jwks: { keys: object[] } }>(await shown.text());
        const own = decodeJwt<{ jwks: typeof jwks }>(await peer.describe()).jwks;
        return { description: await peer.describe({ jwks: { keys: [...own.keys, jwks.keys[0]] } }) };
      },
    ],
    [
      'another version of the protocol',
      422,
      async () => ({ description: await peer.describe({ versions: ['9'] }) }),
    ],
    [
      'a private key among its keys',
      422,
      async () => ({
        description: await peer.describe({ jwks: { keys: [{ ...peer.keys[0], use: 'sig' }] } }),
      }),
    ],
    ['no key for pairing', 401, async () => ({ apiKey: 'guessed' })],
    ['an OWNER key', 422, async () => ({ apiKey: (await createKey(lab)).key })],
    ['a pairing that is no UUID', 400, async () => ({ pairing: 'x' })],
  ])('with %s is refused, and nothing is kept', async (_name, status, changes) => {
    const before = await (await admin.get('/peers')).json();
    expect((await introduce(await changes())).status).toBe(status);
    expect(await (await admin.get('/peers')).json()).toEqual(before);
  });

  it('must sign the request with the key of its description, for this address, body and time', async () => {
    for (const changes of [
      { key: draw() },
      { audience: 'https://other.example' },
      { issuer: 'https://other.example' },
      { now: new Date(Date.now() - 600_000) },
      { token: 'nothing' },
    ]) {
      const content = {
        pairing: randomUUID(),
        apiKey: await pairingKey(),
        description: await peer.describe(),
      };
      expect((await peer.send(lab.url, 'POST', '/federation/pairing', content, changes)).status).toBe(401);
    }
    expect(await known()).toBeUndefined();
  });

  it('does not replace a peer unless the address publishes the new keys', async () => {
    expect((await introduce()).status).toBe(200);
    const [first] = peer.keys as [ReturnType<typeof draw>];
    const impostor = { ...peer, keys: [draw()] };
    const describeAsPeer = await peer.describe({}, first);
    peer.keys = impostor.keys;
    const forged = await peer.describe();
    peer.answer = (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'application/jose' }).end(describeAsPeer);
    expect((await introduce({ description: forged })).status).toBe(403);
    expect((await known())?.thumbprints).toEqual([first.kid]);
    peer.answer = async (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'application/jose' }).end(await peer.describe());
    expect((await introduce()).status).toBe(200);
    expect((await known())?.thumbprints).toEqual([peer.keys[0]?.kid]);
  });
});

describe('a message of a peer', () => {
  beforeEach(async () => {
    expect((await introduce()).status).toBe(200);
  });

  it('is accepted once', async () => {
    const id = randomUUID();
    const sent = { id, now: new Date() };
    const both = await Promise.all([endIt(sent), endIt(sent)]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 401]);
  });

  it.each<[string, () => object]>([
    ['no signature', () => ({ token: '' })],
    ['a signature of a stranger', () => ({ key: draw() })],
    ['another audience', () => ({ audience: 'https://other.example' })],
    ['another sender’s name', () => ({ issuer: 'https://other.example' })],
    ['a time that is over', () => ({ now: new Date(Date.now() - 300_000) })],
    ['a time to come', () => ({ now: new Date(Date.now() + 300_000) })],
    ['an id that is too short', () => ({ id: 'x' })],
  ])('with %s is refused', async (_name, changes) => {
    expect((await endIt(changes())).status).toBe(401);
    expect(await known()).toMatchObject({ state: 'PAIRED' });
  });

  it('in the name of another peer is refused, whatever it is signed with', async () => {
    const other = await startOwnPeer();
    expect((await introduce({}, undefined, other)).status).toBe(200);
    expect((await endIt({ issuer: other.url })).status).toBe(401);
    expect((await endIt({ key: other.keys[0] })).status).toBe(401);
    await other.close();
  });

  it('with a body that its token does not sign is rejected', async () => {
    const sign = () =>
      signPeerRequest(
        { method: 'POST', url: `${lab.url}/federation/ping`, body: Buffer.alloc(0) },
        {
          issuer: peer.url,
          audience: lab.url,
          key: peer.keys[0] as OwnPeer['keys'][number],
        },
      );
    const ping = async (content?: string) =>
      (await peer.send(lab.url, 'POST', '/federation/ping', content, { token: await sign() })).status;
    expect(await ping('more')).toBe(401);
    expect(await ping()).toBe(204);
  });

  it('does not give access to operations of people and API keys', async () => {
    for (const path of ['/records', '/peers', '/transactions'])
      expect((await peer.send(lab.url, 'GET', path)).status).toBe(401);
  });

  it('is rejected after the end of the pairing, also by a process that has cached its key', async () => {
    const ended = await known();
    expect((await peer.send(lab.url, 'GET', '/federation/models')).status).toBe(200);
    expect((await admin.send('DELETE', `/peers/${ended?.id}`)).status).toBe(204);
    expect((await endIt()).status).toBe(401);
  });

  it('ends a pairing only by its signature, not by credentials of people or API keys', async () => {
    for (const headers of [admin.headers, { CM_KEY: (await createKey(lab)).key }, {}])
      expect((await lab.fetch('/federation/pairing', { method: 'DELETE', headers })).status).toBe(401);
  });
});

describe('new keys of a peer', () => {
  beforeEach(async () => {
    expect((await introduce()).status).toBe(200);
    await passMinute();
  });

  it('are pinned if a pinned key vouches for them', async () => {
    const old = peer.keys[0];
    peer.keys = [draw(), ...peer.keys];
    expect((await endIt()).status).toBe(204);
    expect(old).toBeDefined();
    expect(await known()).toMatchObject({ state: 'ENDED' });
  });

  it('replace the old ones, also in a process that has cached one of those', async () => {
    const old = peer.keys[0] as OwnPeer['keys'][number];
    const asked = (key: typeof old) => peer.send(lab.url, 'GET', '/federation/models', undefined, { key });
    expect((await asked(old)).status).toBe(200);
    const drawn = draw();
    peer.keys = [drawn, ...peer.keys];
    expect((await asked(drawn)).status).toBe(200);
    peer.keys = [drawn];
    await passMinute();
    expect((await asked(draw())).status).toBe(401);
    expect((await asked(old)).status).toBe(401);
    expect((await asked(drawn)).status).toBe(200);
  });

  it('replace removed ones after ten minutes at most, also without any message', async () => {
    const old = peer.keys[0] as OwnPeer['keys'][number];
    const drawn = draw();
    peer.keys = [drawn, old];
    const asked = async (key: typeof old) =>
      (await peer.send(lab.url, 'GET', '/federation/models', undefined, { key })).status;
    expect([await asked(drawn), await asked(old)]).toEqual([200, 200]);
    peer.keys = [drawn];
    await database.query("UPDATE peers.peers SET described_at = described_at - interval '10 minutes'");
    await database.query('UPDATE peers.catalogues SET due_at = now()');
    await expect.poll(() => asked(old), { timeout: 20_000 }).toBe(401);
    expect(await asked(drawn)).toBe(200);
  });

  it('without a trusted signature wait for an administrator, and messages with them are rejected', async () => {
    const before = await known();
    peer.keys = [draw()];
    expect((await endIt()).status).toBe(401);
    const waiting = await known();
    expect(waiting).toMatchObject({
      state: 'QUARANTINED',
      thumbprints: before?.thumbprints,
      announcedThumbprints: peer.keys.map(({ kid }) => kid),
    });
    const wrong = await admin.send('PUT', `/peers/${waiting?.id}`, { thumbprints: [draw().kid] });
    expect(wrong.status).toBe(422);
    const right = await admin.send('PUT', `/peers/${waiting?.id}`, {
      thumbprints: waiting?.announcedThumbprints,
    });
    expect(await right.json()).toMatchObject({
      state: 'PAIRED',
      comparedDate: expect.any(Number),
      thumbprints: peer.keys.map(({ kid }) => kid),
    });
    expect((await endIt()).status).toBe(204);
  });

  it('that are gone again are dropped when an administrator confirms the pinned ones', async () => {
    const pinned = peer.keys;
    peer.keys = [draw()];
    expect((await endIt()).status).toBe(401);
    peer.keys = pinned;
    const asked = async () => (await peer.send(lab.url, 'GET', '/federation/models')).status;
    expect(await asked()).toBe(403);
    const thumbprints = pinned.map(({ kid }) => kid);
    const confirmed = await admin.send('PUT', `/peers/${(await known())?.id}`, { thumbprints });
    const shown = await confirmed.json();
    expect(shown).toMatchObject({ state: 'PAIRED', thumbprints });
    expect(shown).not.toHaveProperty('announcedThumbprints');
    expect(await asked()).toBe(200);
  });

  it('are fetched at most once a minute', async () => {
    let asked = 0;
    const answer = peer.answer;
    peer.answer = (request, response) => {
      if (request.url === '/.well-known/accord') asked += 1;
      return answer(request, response);
    };
    await Promise.all([1, 2, 3, 4, 5].map(() => endIt({ key: draw() })));
    expect(asked).toBe(1);
  });

  it('are not fetched for unknown instances', async () => {
    const stranger = await startOwnPeer();
    let asked = 0;
    stranger.answer = (_request, response) => {
      asked += 1;
      response.end();
    };
    await stranger.send(lab.url, 'DELETE', '/federation/pairing');
    expect(asked).toBe(0);
    await stranger.close();
  });
});
