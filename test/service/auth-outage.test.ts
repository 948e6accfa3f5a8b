import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

let under: AuthUnderTest;
beforeAll(async () => {
  under = await startAuth();
});
afterAll(() => under.stop());

it('while the database is unavailable, operations that need it are a 503 with Retry-After', async () => {
  const token = await under.tokenOf('admin');
  const made = await under.fetch('/keys', {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'shop', scope: 'OWNER' }),
  });
  const { key } = (await made.json()) as { key: string };
  const fields = { grant_type: 'password', client_id: 'accord', username: 'admin', password: 'demo' };
  under.cutOff(true);

  const refused = await under.askToken(fields);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
  const unknownClient = await under.askToken({ ...fields, client_id: 'shop' });
  expect(unknownClient.status).toBe(503);
  expect((await under.fetch('/user', { headers: { CM_KEY: key } })).status).toBe(503);
  const page = await fetch(`${under.authUrl}/authorize?client_id=shop`, { headers: { Accept: 'text/html' } });
  expect(page.status).toBe(503);
  expect(await page.text()).toContain('<title>');

  // Tokens are judged without it.
  expect((await under.fetch('/user', { headers: { Authorization: `Bearer ${token}` } })).status).toBe(200);
  under.cutOff(false);
  expect((await under.askToken(fields)).status).toBe(200);
  expect((await under.fetch('/user', { headers: { CM_KEY: key } })).status).toBe(200);
});
