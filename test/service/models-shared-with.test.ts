import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { pairInstances } from '../support/peers/pair-instances.ts';

type Entry = components['schemas']['Entry'];

let clinic: TestInstance;
let lab: TestInstance;
let admin: Caller;
let partner: string;
beforeAll(async () => {
  [clinic, lab] = await Promise.all([startTestInstance(), startTestInstance()]);
  admin = await signIn(lab, 'admin');
  partner = (await pairInstances(clinic, lab)).here.id;
}, 60_000);
afterAll(async () => {
  await clinic?.stop();
  await lab?.stop();
});

const create = (sharedWith: string[]) =>
  admin.send('POST', '/models', { type: 'processing', name: 'A study', shared: true, sharedWith });
const made = async (sharedWith: string[]) => (await (await create(sharedWith)).json()) as Entry;
const change = ({ id, name }: Entry, sharedWith: string[]) =>
  admin.send('PUT', `/models/${id}`, { name, sharedWith });

describe('the peers that an entry is shared with', () => {
  it('can be listed as soon as they are paired, also when the entry is created', async () => {
    expect(await made([partner])).toMatchObject({ sharedWith: [partner] });
    const entry = await made([]);
    expect(await (await change(entry, [partner])).json()).toMatchObject({ sharedWith: [partner] });
  });

  it('are rejected with a pointer if they are unknown, and nothing changes', async () => {
    const entry = await made([]);
    for (const response of [
      await change(entry, [partner, randomUUID()]),
      await create([partner, 'somebody']),
    ]) {
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        errors: [{ pointer: '/sharedWith/1', code: 'unknown-peer' }],
      });
    }
    expect(await (await admin.get(`/models/${entry.id}`)).json()).toMatchObject({ sharedWith: [] });
  });

  it('may stay listed after their removal, but cannot be added again', async () => {
    const [before, after] = [await made([partner]), await made([])];
    expect((await admin.send('DELETE', `/peers/${partner}`)).status).toBe(204);
    expect((await change(before, [partner])).status).toBe(200);
    expect((await change(after, [partner])).status).toBe(422);
  });
});
