import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { generateSharedSecret, readSharedSecret } from '#lib/config/secret-values.ts';
import { sql } from '#lib/db/sql.ts';
import { drawApiKey } from '../../services/auth/domain/api-keys.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { patience } from '../support/run/patience.ts';

interface Key {
  id: string;
  name: string;
  key: string;
  creationDate: number;
  lastAccessDate?: number;
}

let under: AuthUnderTest;
let admin: Record<string, string>;
beforeAll(async () => {
  under = await startAuth();
  admin = { Authorization: `Bearer ${await under.tokenOf('admin')}` };
});
afterAll(() => under.stop());

const post = (body: unknown, headers = admin) =>
  under.fetch('/keys', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const make = async (name = 'shop', scope = 'OWNER') => (await (await post({ name, scope })).json()) as Key;
const revoke = (id: string, headers = admin) => under.fetch(`/keys/${id}`, { method: 'DELETE', headers });
const list = async (query = '') => {
  const response = await under.fetch(`/keys${query}`, { headers: admin });
  return { keys: (await response.json()) as Key[], link: response.headers.get('link') };
};
const callWith = (headers: Record<string, string>) => under.fetch('/user', { headers });

describe('an API key', () => {
  it('is shown in the answer that makes it, and nowhere else', async () => {
    const response = await post({ name: ' The shop ', scope: 'OWNER' });
    expect(response.status).toBe(201);
    const made = (await response.json()) as Key;
    expect(made).toMatchObject({ name: 'The shop', scope: 'OWNER', key: expect.stringMatching(/^acc_/) });
    expect(response.headers.get('location')).toBe(`${under.baseUrl}/keys/${made.id}`);
    const { keys } = await list();
    expect(keys).toContainEqual({
      id: made.id,
      name: 'The shop',
      scope: 'OWNER',
      creationDate: made.creationDate,
      hint: made.key.slice(0, 20),
      creator: 'admin',
    });
    const stored = await under.db.one<{ row: string }>(
      sql`SELECT row_to_json(k)::text AS row FROM api_keys AS k WHERE k.id = ${made.id}`,
    );
    const secret = made.key.split('_')[2] as string;
    expect(stored.row).not.toContain(secret);
    expect(under.logged()).not.toContain(secret);
  });

  it('is rejected from its last moment on, and stays in the list', async () => {
    const expirationDate = Date.now() + 60_000;
    const made = (await (await post({ name: 'for a day', scope: 'OWNER', expirationDate })).json()) as Key;
    expect(made).toMatchObject({ expirationDate });
    expect((await callWith({ CM_KEY: made.key })).status).toBe(200);
    await under.db.query(sql`UPDATE api_keys SET expires_at = accord_now() WHERE id = ${made.id}`);
    // Asked of auth itself: services remember an answer for 5 s.
    expect(await under.auth.operations.introspect({ apiKey: made.key, browser: false })).toMatchObject({
      result: 'refused',
      code: 'unauthorized',
    });
    expect((await list()).keys.map(({ id }) => id)).toContain(made.id);
  });

  it.each([
    ['in the past', { scope: 'OWNER', expirationDate: 1 }],
    ['in no calendar', { scope: 'OWNER', expirationDate: 9_007_199_254_740_991 }],
    ['of a key for a partner, which has its own', { scope: 'PEER', expirationDate: Date.now() + 60_000 }],
  ])('cannot end at a time %s', async (_, body) => {
    const response = await post({ name: 'x', ...body });
    expect(response.status).toBe(422);
    expect(((await response.json()) as { errors: object[] }).errors).toMatchObject([
      { pointer: '/expirationDate' },
    ]);
  });

  it.each(['CM_KEY', 'CM-Key', 'cm_key'])('calls as itself in the header %s', async (header) => {
    const { key, name } = await make('calls');
    const response = await callWith({ [header]: key });
    expect(await response.json()).toMatchObject({ name, username: name, roles: ['key'], admin: false });
  });

  it('calls as itself after Basic, as it is or as curl writes it', async () => {
    const { key } = await make();
    for (const value of [key, Buffer.from(`${key}:`).toString('base64')])
      expect((await callWith({ Authorization: `Basic ${value}` })).status).toBe(200);
  });

  it('stands beside an Authorization header that is malformed, expired or another’s', async () => {
    const { key } = await make();
    for (const Authorization of [
      'Bearer',
      'Bearer ',
      'Bearer null',
      'nonsense',
      'Bearer a.b.c',
      'Basic amFuZTpq',
    ]) {
      const response = await callWith({ CM_KEY: key, Authorization });
      expect(await response.json()).toMatchObject({ roles: ['key'] });
    }
  });

  it('together with a person has both rights, and the person’s name', async () => {
    const { key } = await make();
    const response = await callWith({ CM_KEY: key, ...admin });
    expect(await response.json()).toMatchObject({
      name: 'admin',
      roles: ['key', 'admin', 'operator', 'user'],
      admin: true,
    });
  });

  it('that is invalid is rejected, even beside valid credentials', async () => {
    const { key } = await make();
    for (const bad of [drawApiKey('0197a1f0-58c1-7b1e-9c1d-3f0c2b8f4a11'), `${key}x`, 'garbage', 'acc_'])
      for (const beside of [{}, admin, { Authorization: `Basic ${key}` }])
        expect((await callWith({ CM_KEY: bad, ...beside })).status).toBe(401);
    const wrongDigit = key.endsWith('0') ? '1' : '0';
    const mistyped = `Basic ${key.slice(0, -1)}${wrongDigit}`;
    expect((await callWith({ CM_KEY: key, Authorization: mistyped })).status).toBe(401);
  });

  it.each(['Origin', 'Sec-Fetch-Site'])('is forbidden in a browser page, which sends %s', async (header) => {
    const { key } = await make();
    const response = await callWith({
      CM_KEY: key,
      [header]: header === 'Origin' ? 'https://shop.example' : 'same-origin',
    });
    expect(response.status).toBe(403);
  });

  it('of scope PEER is known and may call nothing; beside a person it takes nothing away', async () => {
    const { key } = await make('partner', 'PEER');
    expect((await callWith({ CM_KEY: key })).status).toBe(403);
    expect((await callWith({ CM_KEY: `${key}x` })).status).toBe(401);
    const both = await callWith({ CM_KEY: key, ...admin });
    expect(await both.json()).toMatchObject({ name: 'admin', roles: ['admin', 'operator', 'user'] });
  });

  it('may neither make nor list nor revoke keys; nor may an operator', async () => {
    const { key, id } = await make();
    const operator = { Authorization: `Bearer ${await under.tokenOf('operator')}` };
    for (const headers of [{ CM_KEY: key }, operator] as Record<string, string>[]) {
      expect((await post({ name: 'x', scope: 'OWNER' }, headers)).status).toBe(403);
      expect((await under.fetch('/keys', { headers })).status).toBe(403);
      expect((await revoke(id, headers)).status).toBe(403);
    }
    expect((await under.fetch('/keys')).status).toBe(401);
  });

  it('records its last use', async () => {
    const { key, id } = await make('seldom used');
    await callWith({ CM_KEY: key });
    await vi.waitFor(async () => {
      const found = (await list()).keys.find((each) => each.id === id);
      expect(found?.lastAccessDate).toBeGreaterThanOrEqual(found?.creationDate ?? Number.NaN);
    }, patience);
  });

  it('stays valid after a change of the pepper while the former one is available', async () => {
    const { key } = await make();
    const next = readSharedSecret(generateSharedSecret());
    await under.restart({ secrets: { keyPepper: [next, ...under.secrets.keyPepper] } });
    expect((await callWith({ CM_KEY: key })).status).toBe(200);
    await under.restart({ secrets: { keyPepper: [next] } });
    expect((await callWith({ CM_KEY: key })).status).toBe(401);
    await under.restart();
  });
});

describe('revoking a key', () => {
  it('invalidates it at once and removes it from the list', async () => {
    const { key, id } = await make();
    expect((await callWith({ CM_KEY: key })).status).toBe(200);
    expect((await revoke(id)).status).toBe(204);
    await vi.waitFor(async () => expect((await callWith({ CM_KEY: key })).status).toBe(401), patience);
    expect((await callWith({ CM_KEY: key, ...admin })).status).toBe(401);
    expect((await list()).keys.map((each) => each.id)).not.toContain(id);
    expect((await revoke(id)).status).toBe(404);
  });

  it.each(['0197a1f0-58c1-7b1e-9c1d-3f0c2b8f4a11', 'x', '%00', '..%2F'])(
    'that does not exist (%s) is a 404',
    async (id) => {
      expect((await revoke(id)).status).toBe(404);
    },
  );

  it('publishes an event, as creating one does', async () => {
    const { id } = await make();
    await revoke(id);
    await vi.waitFor(() => {
      const told = under.events.filter(({ subject }) => subject === id);
      expect(told.map(({ type, data }) => [type, data])).toEqual([
        ['io.accord.key.created.v1', { key: id, scope: 'OWNER', version: 1 }],
        ['io.accord.key.revoked.v1', { key: id, scope: 'OWNER', version: 2 }],
      ]);
      expect(told[0]).toMatchObject({ source: under.baseUrl, time: expect.stringMatching(/^\d{4}-/) });
    }, patience);
  });
});

describe('the list of keys', () => {
  it('is sorted newest first and paginated', async () => {
    const made = [];
    for (const n of [1, 2, 3, 4, 5]) made.unshift((await make(`page ${n}`)).name);
    const seen: string[] = [];
    let next: string | undefined = '?limit=2';
    while (next !== undefined) {
      const { keys, link } = await list(next);
      expect(keys.length).toBeLessThanOrEqual(2);
      seen.push(...keys.map(({ name }) => name));
      next = /<[^>]*(\?[^>]*)>; rel="next"/.exec(link ?? '')?.[1];
    }
    expect(seen.slice(0, 5)).toEqual(made);
    expect(new Set(seen).size).toBeGreaterThanOrEqual(5);
  });

  it.each(['?cursor=x', '?cursor=WyJ4IiwieSJd', '?limit=0', '?limit=201', '?limit=x'])(
    '%s is a 400',
    async (query) => {
      expect((await under.fetch(`/keys${query}`, { headers: admin })).status).toBe(400);
    },
  );
});

describe('a request for a key', () => {
  it.each([
    [{ name: '', scope: 'OWNER' }, 422, ['/name']],
    [{ name: '   ', scope: 'ADMIN' }, 422, ['/name', '/scope']],
    [{ name: 'x'.repeat(256), scope: 'PEER' }, 422, ['/name']],
    [{ name: 'x' }, 400, ['/scope']],
    [{ name: 7, scope: 'OWNER' }, 400, ['/name']],
  ])('%j is a %i', async (body, status, pointers) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    const problem = (await response.json()) as { errors: { pointer: string }[] };
    expect(problem.errors.map(({ pointer }) => pointer)).toEqual(pointers);
  });

  it.each([
    '{',
    '{"name":"\\u0000","scope":"OWNER"}',
    '{"name":"\\ud800","scope":"OWNER"}',
    '[]',
    '{"__proto__":{},"name":"x","scope":"OWNER"}',
  ])('with the body %s is a 400', async (body) => {
    expect((await post(body)).status).toBe(400);
  });
});
