import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { startOwnPeer } from '../support/peers/peer-of-our-own.ts';

type Peer = components['schemas']['Peer'];

let clinic: TestInstance;
let lab: TestInstance;
let clinicAdmin: Caller;
let labAdmin: Caller;
beforeAll(async () => {
  [clinic, lab] = await Promise.all([
    startTestInstance({ INSTANCE_NAME: 'Lakeside Clinic' }),
    startTestInstance({ INSTANCE_NAME: 'Northern Lab' }),
  ]);
  [clinicAdmin, labAdmin] = await Promise.all([signIn(clinic, 'admin'), signIn(lab, 'admin')]);
});
afterAll(async () => {
  await clinic?.stop();
  await lab?.stop();
});

const peersOf = async (admin: Caller) => (await (await admin.get('/peers')).json()) as Peer[];
const invite = async (url = lab.url) => {
  const { key } = await createKey(lab, 'for the clinic', 'PEER');
  return { url, apiKey: key, withCounterPart: true };
};
const thumbprint = (instance: TestInstance) => instance.secrets.instanceSigning.map(({ kid }) => kid);
const errorsOf = async (response: Response) =>
  ((await response.json()) as { errors: { pointer: string; code: string; detail: string }[] }).errors;

describe('two instances', () => {
  it('are paired by one call, each with the other’s name, address and keys', async () => {
    const response = await clinicAdmin.send('POST', '/peers', await invite());
    expect(response.status).toBe(201);
    const paired = (await response.json()) as Peer;
    expect(response.headers.get('location')).toBe(`${clinic.url}/peers/${paired.id}`);
    expect(paired).toMatchObject({
      url: lab.url,
      name: 'Northern Lab',
      state: 'PAIRED',
      thumbprints: thumbprint(lab),
    });
    expect(await (await clinicAdmin.get(`/peers/${paired.id}`)).json()).toEqual(paired);
    expect(await peersOf(labAdmin)).toEqual([
      expect.objectContaining({
        url: clinic.url,
        name: 'Lakeside Clinic',
        state: 'PAIRED',
        thumbprints: thumbprint(clinic),
      }),
    ]);
  });

  it('are paired once by repeated and concurrent calls', async () => {
    const invitation = await invite();
    const calls = await Promise.all([1, 2, 3, 4].map(() => clinicAdmin.send('POST', '/peers', invitation)));
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await peersOf(clinicAdmin)).toHaveLength(1);
    expect(await peersOf(labAdmin)).toHaveLength(1);
  });

  it('can pair from both sides at the same time', async () => {
    const [there, back] = [
      await invite(),
      { url: clinic.url, apiKey: (await createKey(clinic, 'lab', 'PEER')).key },
    ];
    const calls = await Promise.all([
      clinicAdmin.send('POST', '/peers', there),
      labAdmin.send('POST', '/peers', back),
    ]);
    expect(calls.map(({ status }) => status)).toEqual([200, 200]);
    expect([await peersOf(clinicAdmin), await peersOf(labAdmin)].map(({ length }) => length)).toEqual([1, 1]);
  });

  it('are both unpaired when one of them ends the pairing', async () => {
    const [peer] = (await peersOf(clinicAdmin)) as [Peer];
    expect((await clinicAdmin.send('DELETE', `/peers/${peer.id}`)).status).toBe(204);
    expect(await peersOf(clinicAdmin)).toEqual([]);
    expect(await peersOf(labAdmin)).toEqual([
      expect.objectContaining({ url: clinic.url, state: 'ENDED', thumbprints: [] }),
    ]);
    expect((await clinicAdmin.get(`/peers/${peer.id}`)).status).toBe(404);
  });

  it('can pair again afterwards', async () => {
    expect((await clinicAdmin.send('POST', '/peers', await invite())).status).toBe(201);
    expect((await peersOf(labAdmin)).map(({ state }) => state)).toEqual(['PAIRED']);
  });
});

describe('a peer’s subjects', () => {
  it('get the prefix that an administrator gives them', async () => {
    const [peer] = (await peersOf(clinicAdmin)) as [Peer];
    const changed = await clinicAdmin.send('PUT', `/peers/${peer.id}`, { subjectPrefix: 'lab:' });
    expect(await changed.json()).toMatchObject({ subjectPrefix: 'lab:', state: 'PAIRED' });
    const refused = await clinicAdmin.send('PUT', `/peers/${peer.id}`, {
      subjectPrefix: `${'x'.repeat(101)}`,
    });
    expect(refused.status).toBe(422);
    expect((await clinicAdmin.send('PUT', `/peers/${peer.id}`, { thumbprints: ['x'] })).status).toBe(422);
  });
});

describe('the notification of a peer', () => {
  it('is none until an administrator names an email, and none again for an empty key', async () => {
    const [peer] = (await peersOf(clinicAdmin)) as [Peer];
    expect(peer).not.toHaveProperty('notification');
    const put = (changes: object) => clinicAdmin.send('PUT', `/peers/${peer.id}`, changes);
    const named = await (await put({ notification: 'email.001' })).json();
    expect(named).toMatchObject({ notification: 'email.001', subjectPrefix: peer.subjectPrefix });
    expect(await (await put({ subjectPrefix: 'lab:' })).json()).toMatchObject({ notification: 'email.001' });
    for (const notification of ['e', 'e mail', 'email.001@lab.example', 'x'.repeat(256)]) {
      const refused = await put({ notification });
      expect(refused.status).toBe(422);
      expect(await errorsOf(refused)).toEqual([expect.objectContaining({ pointer: '/notification' })]);
    }
    expect(await (await put({ notification: '' })).json()).not.toHaveProperty('notification');
  });
});

describe('an address that cannot be paired with', () => {
  it.each([
    ['no URL', 'lab'],
    ['a path', 'https://lab.example/consent'],
    ['a query', 'https://lab.example/?a=b'],
    ['an empty query', 'https://lab.example?'],
    ['a fragment', 'https://lab.example/#x'],
    ['credentials', 'https://me:secret@lab.example'],
    ['a user name', 'https://me@lab.example'],
    ['http elsewhere', 'http://lab.example'],
    ['a file', 'file:///etc/passwd'],
    ['a script', 'javascript:alert(1)'],
    ['a private network by http', 'http://10.0.0.1'],
    ['nothing', ''],
  ])('an address with %s is refused with its place', async (_name, url) => {
    const response = await clinicAdmin.send('POST', '/peers', await invite(url));
    expect(response.status).toBe(422);
    expect(await errorsOf(response)).toEqual([expect.objectContaining({ pointer: '/url' })]);
  });

  it('is the instance itself', async () => {
    const { key } = await createKey(clinic, 'self', 'PEER');
    const response = await clinicAdmin.send('POST', '/peers', { url: clinic.url, apiKey: key });
    expect(response.status).toBe(422);
    expect((await errorsOf(response))[0]?.detail).toContain('own peer');
  });

  it('publishes a key of this instance', async () => {
    const peer = await startOwnPeer();
    const shown = await clinic.fetch('/.well-known/accord', { headers: { Accept: 'application/jose' } });
    const [[ours], theirs] = [await shown.text(), await peer.describe()].map(
      (jws) => decodeJwt<{ jwks: { keys: object[] } }>(jws).jwks.keys,
    ) as [object[], object[]];
    const describe = peer.describe;
    peer.describe = () => describe({ jwks: { keys: [...theirs, ours] } });
    const response = await clinicAdmin.send('POST', '/peers', await invite(peer.url));
    expect(response.status).toBe(422);
    expect((await errorsOf(response))[0]?.detail).toContain('a key of this instance');
    await peer.close();
  });

  it('does not know the key, or the key has scope OWNER or was used by another instance', async () => {
    const owner = await createKey(lab, 'shop', 'OWNER');
    const used = await invite();
    const third = await startTestInstance();
    await (await signIn(third, 'admin')).send('POST', '/peers', used);
    await third.stop();
    for (const [apiKey, code] of [
      [owner.key, 'not-for-pairing'],
      [used.apiKey, 'used'],
      ['acc_nonsense', 'unknown'],
    ]) {
      const response = await clinicAdmin.send('POST', '/peers', { url: lab.url, apiKey });
      expect(response.status).toBe(422);
      expect(await errorsOf(response)).toEqual([expect.objectContaining({ pointer: '/apiKey', code })]);
    }
  });

  it('does not answer: nothing changes, and the request may be repeated', async () => {
    // Times of contact change meanwhile.
    const known = async () => (await peersOf(clinicAdmin)).map(({ url, state }) => ({ url, state }));
    const before = await known();
    const response = await clinicAdmin.send('POST', '/peers', await invite('http://localhost:9'));
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBeTruthy();
    expect(await known()).toEqual(before);
  });
});

it('a key of scope PEER can only pair', async () => {
  const { key } = await createKey(lab, 'for the clinic', 'PEER');
  expect((await lab.fetch('/records', { headers: { CM_KEY: key } })).status).toBe(403);
});
