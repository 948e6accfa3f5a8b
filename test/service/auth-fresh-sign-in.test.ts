import { importJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import { sql } from '#lib/db/sql.ts';
import { callerWithToken } from '../support/instances/account-callers.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { startConsoleSignIn } from '../support/instances/console-sign-in.ts';

const challenge = 'Bearer error="insufficient_user_authentication", max_age="600"';
const key = { name: 'shop', scope: 'OWNER' };

let under: AuthUnderTest;
beforeAll(async () => {
  under = await startAuth();
});
afterAll(() => under.stop());

const now = () => Math.floor(Date.now() / 1000);
/** Makes a key with an access token. */
const createKey = (token: string) => callerWithToken(under, token).send('POST', '/keys', key);
/** An access token of a demo account, as the issuer makes them, but for the time of the sign-in. */
async function tokenOfSignIn(auth_time: unknown, name = 'admin'): Promise<string> {
  const [signing] = under.secrets.issuerSigning as [PrivateKey];
  const standard = { iss: under.authUrl, aud: under.baseUrl, sub: `demo-${name}` };
  return new SignJWT({ ...standard, preferred_username: name, roles: [name], auth_time })
    .setIssuedAt()
    .setExpirationTime('5 min')
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: signing.kid })
    .sign(await importJWK(signing, 'ES256'));
}

describe('an operation that requires a recent sign-in', () => {
  it('accepts ten minutes, and then asks to sign in again', async () => {
    expect((await createKey(await tokenOfSignIn(now() - 590))).status).toBe(201);
    const refused = await createKey(await tokenOfSignIn(now() - 601));
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe(challenge);
  });

  it('accepts tokens that do not tell the time of the sign-in', async () => {
    for (const authTime of [undefined, null, 'yesterday'])
      expect((await createKey(await tokenOfSignIn(authTime))).status).toBe(201);
  });

  it('accepts a token of the password grant', async () => {
    expect((await createKey(await under.tokenOf('admin'))).status).toBe(201);
  });

  it('is refused in a renewed session of the console, until the person signs in again', async () => {
    const console = await startConsoleSignIn(under);
    const { refresh, access } = await console.tokensOf('admin');
    expect((await createKey(access)).status).toBe(201);
    // As if the sign-in had been eleven minutes ago.
    await under.db.query(sql`
      UPDATE issuer_items SET payload = jsonb_set(payload, '{authTime}', to_jsonb((payload ->> 'authTime')::int - 660))
       WHERE model = 'RefreshToken'`);
    const renewed = await console.refresh(refresh);
    expect((await createKey(renewed.access)).headers.get('www-authenticate')).toBe(challenge);
    expect((await createKey((await console.tokensOf('admin')).access)).status).toBe(201);
  });

  it('tells a caller without the right that it is not allowed, whenever the sign-in was', async () => {
    const token = await tokenOfSignIn(now() - 3_600, 'operator');
    expect((await createKey(token)).status).toBe(403);
  });

  it('does not become less strict by an API key beside the token', async () => {
    const made = (await (await createKey(await under.tokenOf('admin'))).json()) as { key: string };
    const response = await under.fetch('/keys', {
      method: 'POST',
      headers: {
        CM_KEY: made.key,
        Authorization: `Bearer ${await tokenOfSignIn(now() - 3_600)}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(key),
    });
    expect(response.headers.get('www-authenticate')).toBe(challenge);
  });
});

describe('an operation without that requirement', () => {
  it('accepts an old sign-in, also to revoke a key', async () => {
    const { id } = (await (await createKey(await under.tokenOf('admin'))).json()) as { id: string };
    const admin = callerWithToken(under, await tokenOfSignIn(now() - 3_600));
    expect((await admin.send('GET', '/accounts')).status).toBe(200);
    expect((await admin.send('DELETE', `/keys/${id}`)).status).toBe(204);
  });
});
