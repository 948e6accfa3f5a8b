import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fail } from '#lib/errors/fail.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createIssuer } from '../../services/console/sign-in/issuer.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { startConsoleSignIn } from '../support/instances/console-sign-in.ts';

let under: AuthUnderTest;
beforeAll(async () => {
  under = await startAuth();
});
afterAll(() => under.stop());

/** Renews the tokens of a new sign-in. @param readUser what the API says of the person then. */
async function renew(readUser: () => Promise<{ name: string; roles: string[] }>) {
  const { access, refresh } = await (await startConsoleSignIn(under)).tokensOf('admin');
  const issuer = createIssuer({
    issuerUrl: under.authUrl,
    client: { id: 'accord-console', secret: String(under.secrets.consoleClient[0]) },
    scopes: 'openid',
    redirectUri: `${under.baseUrl}/console/callback`,
    readUser,
    log: createLogger({ level: 'silent' }),
  });
  const before = { accessToken: access, refreshToken: refresh, idToken: '', name: 'admin', roles: ['admin'] };
  return { before, tokens: await issuer.renew(before) };
}

describe('the tokens of a session', () => {
  it('are replaced together with the name and roles of the person', async () => {
    const { before, tokens } = await renew(async () => ({ name: 'admin', roles: ['operator'] }));
    expect(tokens?.signedIn.roles).toEqual(['operator']);
    expect(tokens?.signedIn.refreshToken).not.toBe(before.refreshToken);
    expect(tokens?.renewAt.getTime()).toBeGreaterThan(Date.now());
  });

  it('are replaced while the API does not answer, because the former refresh token is used', async () => {
    const { before, tokens } = await renew(() => Promise.reject(fail('unavailable', 'Try again.')));
    expect(tokens?.signedIn).toMatchObject({ name: 'admin', roles: ['admin'] });
    expect(tokens?.signedIn.refreshToken).not.toBe(before.refreshToken);
  });

  it('end when the API refuses the person', async () => {
    const { tokens } = await renew(() => Promise.reject(fail('forbidden', 'Not any more.')));
    expect(tokens).toBeNull();
  });
});
