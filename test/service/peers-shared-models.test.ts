import { randomUUID } from 'node:crypto';
import { decodeJwt, importJWK, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { publicPart } from '#lib/config/secret-values.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Page = components['schemas']['SharedModels'];
type Entry = components['schemas']['Entry'];

let lab: TestInstance;
let admin: Caller;
let clinic: OwnPeer;
let stranger: OwnPeer;
beforeAll(async () => {
  lab = await startTestInstance();
  admin = await signIn(lab, 'admin');
  [clinic, stranger] = await Promise.all([startOwnPeer(), startOwnPeer()]);
  for (const peer of [clinic, stranger]) await introduce(peer);
});
afterAll(async () => {
  await Promise.all([clinic?.close(), stranger?.close()]);
  await lab?.stop();
});

async function introduce(peer: OwnPeer): Promise<void> {
  const content = {
    pairing: randomUUID(),
    apiKey: (await createKey(lab, 'partner', 'PEER')).key,
    description: await peer.describe(),
  };
  await peer.send(lab.url, 'POST', '/federation/pairing', content);
}
const ask = async (query = '', peer = clinic) =>
  (await (await peer.send(lab.url, 'GET', `/federation/models${query}`)).json()) as Page;
async function all(peer = clinic): Promise<Record<string, Record<string, unknown>>> {
  const found: Record<string, Record<string, unknown>> = {};
  let page = await ask('', peer);
  for (;;) {
    for (const jws of page.entries) {
      const claims = decodeJwt(jws);
      found[claims.key as string] = claims;
    }
    if (page.next === null) return found;
    page = await ask(`?cursor=${page.next}`, peer);
  }
}
async function share(key: string, changes: Partial<Entry>): Promise<void> {
  const entry = (await (await admin.get(`/models/serials/${key}`)).json()) as Entry;
  const changed = await admin.send('PUT', `/models/${entry.id}`, { name: entry.name, ...changes });
  expect(changed.status).toBe(200);
}

it('the catalogue of a new peer is read when it reads ours, because earlier it may not have pinned our keys', async () => {
  const partner = await startOwnPeer();
  const asked: unknown[] = [];
  partner.answer = (request, response) => {
    asked.push(request.url);
    response.writeHead(503).end();
  };
  await introduce(partner);
  expect(asked).toEqual([]);
  // So that it is for no other reason.
  await runInDatabase(lab, `UPDATE peers.catalogues SET due_at = 'infinity' WHERE url = '${partner.url}'`);
  await ask('', partner);
  await vi.waitFor(() => expect(asked).not.toEqual([]), 10_000);
  await partner.close();
});

describe('the catalogue for a peer', () => {
  it('is the default information at first, and every ACTIVE element that is shared', async () => {
    expect(Object.keys(await all())).toEqual(['information.001']);
    await share('processing.001', { shared: true });
    const found = await all();
    expect(Object.keys(found)).toEqual(['information.001', 'processing.001']);
    expect(found['processing.001']).toMatchObject({
      iss: lab.url,
      type: 'processing',
      serial: '1.0',
      defaultLanguage: 'en',
      data: { en: expect.any(Object), fr: expect.any(Object), ar: expect.any(Object) },
    });
  });

  it('is signed by this instance, entry by entry', async () => {
    const [jws] = (await ask()).entries as [string];
    const key = await importJWK(
      publicPart(lab.secrets.instanceSigning[0] as (typeof lab.secrets.instanceSigning)[number]),
      'ES256',
    );
    const { protectedHeader } = await jwtVerify(jws, key, { issuer: lab.url });
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'accord-model+jwt' });
  });

  it('may be for named peers alone', async () => {
    const peers = (await (await admin.get('/peers')).json()) as { id: string; url: string }[];
    const id = peers.find(({ url }) => url === clinic.url)?.id as string;
    await share('preference.001', { shared: true, sharedWith: [id] });
    expect(Object.keys(await all())).toContain('preference.001');
    expect(Object.keys(await all(stranger))).not.toContain('preference.001');
  });

  it('is unchanged for a peer that has its state, until something changes', async () => {
    const { state } = await ask();
    expect(await ask(`?since=${state}`)).toMatchObject({ state, unchanged: true, entries: [], next: null });
    await share('processing.001', { shared: false });
    const after = await ask(`?since=${state}`);
    expect(after.unchanged).toBe(false);
    expect(after.state).not.toBe(state);
    expect(Object.keys(await all())).not.toContain('processing.001');
  });

  it('has another state after a restore from a backup and another change', async () => {
    await share('processing.002', { shared: true, description: 'One' });
    const { state } = await ask();
    await runInDatabase(lab, "UPDATE forms.models SET revision = revision - 1 WHERE key = 'processing.002'");
    await share('processing.002', { shared: true, description: 'Another' });
    expect((await ask(`?since=${state}`)).unchanged).toBe(false);
  });

  it('comes in pages with each entry once', async () => {
    for (const key of ['processing.001', 'processing.002', 'processing.003'])
      await share(key, { shared: true });
    const made = await Promise.all(
      Array.from({ length: 25 }, () => makeLiveModel(admin, 'preference', { en: sampleContent.preference })),
    );
    for (const { key } of made) await share(key, { shared: true });
    const first = await ask();
    expect(first.entries).toHaveLength(20);
    expect(first.next).not.toBeNull();
    const keys = Object.keys(await all());
    expect(keys).toHaveLength(new Set(keys).size);
    expect(keys).toEqual(expect.arrayContaining(made.map(({ key }) => key)));
  });

  it('is returned to peers only', async () => {
    for (const headers of [admin.headers, { CM_KEY: (await createKey(lab)).key }, {}])
      expect((await lab.fetch('/federation/models', { headers })).status).toBe(401);
    expect((await clinic.send(lab.url, 'GET', '/federation/models?cursor=%00')).status).toBe(400);
  });
});
