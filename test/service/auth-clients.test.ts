import * as client from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import {
  addClient,
  describeClients,
  type NewClient,
  removeClient,
} from '../../services/auth/commands/clients.ts';
import { createKeyedHash, type KeyedHash } from '../../services/auth/domain/api-keys.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

let under: AuthUnderTest;
let keyedHash: KeyedHash;
beforeAll(async () => {
  under = await startAuth();
  keyedHash = createKeyedHash(under.secrets.keyPepper);
});
afterAll(() => under.stop());

const newClient = (changed: Partial<NewClient>): NewClient => ({
  id: 'robot',
  role: null,
  redirectUris: [],
  isPublic: false,
  ...changed,
});
async function add(changed: Partial<NewClient>): Promise<string> {
  const output = await addClient(under.db, keyedHash, newClient(changed));
  return output.split('\n')[1] ?? '';
}
const credentials = { grant_type: 'client_credentials' };
const basic = (id: string, secret: string) => ({
  Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

describe('a client with client credentials', () => {
  it('gets a token with its role and without a subject', async () => {
    const secret = await add({ id: 'robot', role: 'operator' });
    const config = await client.discovery(
      new URL(under.authUrl),
      'robot',
      undefined,
      client.ClientSecretBasic(secret),
      {
        execute: [client.allowInsecureRequests],
      },
    );
    const tokens = await client.clientCredentialsGrant(config);
    expect(tokens.expires_in).toBe(300);
    const response = await under.fetch('/user', {
      headers: { Authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await response.json()).toMatchObject({ name: 'robot', roles: ['operator', 'user'] });
    const found = await under.auth.operations.introspect({
      authorization: `Bearer ${tokens.access_token}`,
      browser: false,
    });
    expect(found).toMatchObject({ result: 'principal', principal: { name: 'robot', subject: undefined } });
  });

  it('can send its secret in the form', async () => {
    const secret = await add({ id: 'in-form', role: 'user' });
    const fields = { ...credentials, client_id: 'in-form', client_secret: secret };
    expect((await under.askToken(fields)).status).toBe(200);
  });

  it('is rejected with a wrong secret and with the stored hash', async () => {
    const secret = await add({ id: 'guarded', role: 'admin' });
    const { hash } = await under.db.one<{ hash: Buffer }>(
      sql`SELECT secret_hash AS hash FROM clients WHERE id = 'guarded'`,
    );
    for (const wrong of [`${secret}x`, 'guess', hash.toString('base64url'), hash.toString('hex')]) {
      const response = await under.askToken(credentials, '/auth', basic('guarded', wrong));
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Basic /);
    }
    expect((await under.askToken({ ...credentials, client_id: 'guarded' })).status).toBe(401);
  });

  it('cannot use other grants', async () => {
    const secret = await add({ id: 'narrow', role: 'operator' });
    const fields = { grant_type: 'password', username: 'admin', password: 'demo' };
    expect((await under.askToken(fields, '/auth', basic('narrow', secret))).status).toBe(400);
    for (const client_id of ['accord', 'cmclient'])
      expect((await under.askToken({ ...credentials, client_id })).status).toBe(400);
  });

  it('gets no tokens after its removal', async () => {
    const secret = await add({ id: 'former', role: 'operator' });
    await removeClient(under.db, 'former');
    expect((await under.askToken(credentials, '/auth', basic('former', secret))).status).toBe(401);
  });
});

describe('creating a client', () => {
  it.each<[string, Partial<NewClient>, RegExp]>([
    ['neither role nor redirect URI', {}, /needs --role or --redirect-uri/],
    ['an invalid id', { id: 'a b', role: 'user' }, /letters, digits/],
    ['the id of a built-in client', { id: 'accord', role: 'admin' }, /built in/],
    ['a role but no secret', { role: 'user', isPublic: true }, /needs a secret/],
    [
      'a redirect URI with another scheme',
      { redirectUris: ['javascript:alert(1)'] },
      /not an http or https URL/,
    ],
    ['a redirect URI with a fragment', { redirectUris: ['https://a.example/#x'] }, /without a fragment/],
  ])('rejects %s', async (_name, changed, reason) => {
    await expect(add(changed)).rejects.toThrow(reason);
  });

  it('rejects an existing id', async () => {
    await add({ id: 'twin', role: 'user' });
    await expect(add({ id: 'twin', role: 'user' })).rejects.toThrow(/already/);
  });

  it('lists it without its secret', async () => {
    const secret = await add({ id: 'listed', redirectUris: ['https://shop.example/callback'] });
    const list = await describeClients(under.db);
    expect(list).toContain('listed\t-\thttps://shop.example/callback');
    expect(list).not.toContain(secret);
  });
});
