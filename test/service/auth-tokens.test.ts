import { createSecretKey } from 'node:crypto';
import { exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  generatePrivateKey,
  type PrivateKey,
  publicPart,
  readPrivateKey,
} from '#lib/config/secret-values.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

let under: AuthUnderTest;
let key: PrivateKey;
beforeAll(async () => {
  under = await startAuth();
  key = under.secrets.issuerSigning[0] as PrivateKey;
});
afterAll(() => under.stop());

const callWith = (token: string) => under.fetch('/user', { headers: { Authorization: `Bearer ${token}` } });

/** A token as the issuer makes them, but for what is given. */
function claims(changed: Record<string, unknown> = {}) {
  const now = Math.floor(Date.now() / 1000);
  const usual = { iss: under.authUrl, aud: under.baseUrl, sub: 'demo-admin', iat: now, exp: now + 300 };
  return { ...usual, roles: ['admin'], preferred_username: 'admin', ...changed };
}
async function sign(
  payload: Record<string, unknown>,
  { by = key, header = {} }: { by?: PrivateKey; header?: object } = {},
) {
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid, ...header })
    .sign(await importJWK(by, 'ES256'));
}

describe('an access token', () => {
  it('of the issuer identifies the caller', async () => {
    const response = await callWith(await under.tokenOf('operator'));
    expect(await response.json()).toEqual({
      name: 'operator',
      username: 'operator',
      roles: ['operator', 'user'],
      admin: false,
      operator: true,
    });
  });

  it('is a signed JWT that lasts five minutes, and is meant for this instance', async () => {
    const [header, payload] = (await under.tokenOf('admin'))
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: key.kid });
    expect(payload).toMatchObject({
      iss: under.authUrl,
      aud: under.baseUrl,
      roles: ['admin'],
      preferred_username: 'admin',
    });
    expect(payload.exp - payload.iat).toBe(300);
  });

  it("made like the issuer's is accepted, so the forgeries below fail only for their fault", async () => {
    expect((await callWith(await sign(claims()))).status).toBe(200);
  });

  it('without a signature is refused', async () => {
    const unsecured = new UnsecuredJWT(claims()).encode();
    expect((await callWith(unsecured)).status).toBe(401);
    const [, payload] = unsecured.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt', kid: key.kid })).toString(
      'base64url',
    );
    expect((await callWith(`${header}.${payload}.`)).status).toBe(401);
  });

  it('signed with the public key as if it were a shared secret is refused', async () => {
    const publicKey = await importJWK({ ...publicPart(key), ext: true }, 'ES256', { extractable: true });
    const secrets = [
      await exportSPKI(publicKey as Parameters<typeof exportSPKI>[0]),
      JSON.stringify(publicPart(key)),
      key.x,
    ];
    for (const secret of secrets) {
      const token = await new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: key.kid })
        .sign(createSecretKey(Buffer.from(secret)));
      expect((await callWith(token)).status).toBe(401);
    }
  });

  it.each<[string, () => Promise<string>]>([
    ['that is expired', () => sign(claims({ exp: Math.floor(Date.now() / 1000) - 1 }))],
    ['without an end', () => sign(claims({ exp: undefined }))],
    ['of another issuer', () => sign(claims({ iss: 'https://login.example.org' }))],
    ['for another audience', () => sign(claims({ aud: 'https://shop.example.org' }))],
    ['for no audience', () => sign(claims({ aud: undefined }))],
    ['that is not good yet', () => sign(claims({ nbf: Math.floor(Date.now() / 1000) + 60 }))],
    ['of another type', () => sign(claims(), { header: { typ: 'JWT' } })],
    ['of another key', () => sign(claims(), { by: readPrivateKey(generatePrivateKey()) })],
    [
      'with its own key in its header',
      async () => {
        const own = readPrivateKey(generatePrivateKey());
        return sign(claims(), { by: own, header: { jwk: publicPart(own), kid: own.kid } });
      },
    ],
    [
      'with a changed letter',
      // The first letter of the signature: the last one carries bits that base64url does not use.
      async () => (await sign(claims())).replace(/(?<=\..*\.)./, (first) => (first === 'A' ? 'B' : 'A')),
    ],
    [
      'that is an ID token',
      async () => sign(claims({ aud: 'accord', nonce: 'x' }), { header: { typ: 'JWT' } }),
    ],
  ])('%s is refused', async (_name, make) => {
    const response = await callWith(await make());
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  it('without a known role identifies the caller, without rights', async () => {
    expect((await callWith(await sign(claims({ roles: ['key', 'root'] })))).status).toBe(403);
  });

  it('of a former signing key is accepted while the key is published', async () => {
    const token = await under.tokenOf('admin');
    const next = readPrivateKey(generatePrivateKey());
    await under.restart({ secrets: { issuerSigning: [next, key] } });
    const { keys } = (await (await fetch(`${under.authUrl}/jwks`)).json()) as {
      keys: Record<string, string>[];
    };
    expect(keys.map(({ kid }) => kid)).toEqual([next.kid, key.kid]);
    expect(keys.flatMap(Object.keys)).not.toContain('d');
    expect((await callWith(token)).status).toBe(200);
    const fresh = await under.tokenOf('admin');
    expect(JSON.parse(Buffer.from(fresh.split('.')[0] as string, 'base64url').toString()).kid).toBe(next.kid);
    await under.restart({ secrets: { issuerSigning: [next] } });
    expect((await callWith(token)).status).toBe(401);
    expect((await callWith(fresh)).status).toBe(200);
    await under.restart();
  });

  it('of a demo account is rejected outside demo mode', async () => {
    const token = await under.tokenOf('admin');
    await under.restart({ settings: { demo: false } });
    expect((await callWith(token)).status).toBe(401);
    const fields = { grant_type: 'password', client_id: 'accord', username: 'admin', password: 'demo' };
    expect((await under.askToken(fields)).status).toBe(400);
    await under.restart();
  });
});
