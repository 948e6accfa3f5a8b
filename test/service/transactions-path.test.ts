import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../support/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instance.ts';

let instance: TestInstance;
beforeAll(async () => {
  instance = await startTestInstance();
});
afterAll(() => instance?.stop());

it('lets a key create, and a token answer', async () => {
  const shop = await createKey(instance);
  const made = await shop.send('POST', '/consents', { subject: 'alice', layout: 'layout.001' });
  expect(made.status).toBe(201);
});
