import { describe, expect, it } from 'vitest';
import { readSettings, SettingsError } from '#lib/config/settings.ts';
import { authSpecs, checkAuthSettings, resolveAuthSettings } from '../../services/auth/config.ts';

const baseUrl = 'https://consent.example.org';

function read(environment: Record<string, string>, base: string | undefined = baseUrl) {
  return readSettings(environment, authSpecs, (settings) => checkAuthSettings(settings, base));
}
const faultsOf = (environment: Record<string, string>) => {
  try {
    read(environment);
    return [];
  } catch (error) {
    return (error as SettingsError).faults;
  }
};
const resolve = (environment: Record<string, string>) =>
  resolveAuthSettings(read(environment), { baseUrl, demo: false });

describe('settings of auth', () => {
  it('have an issuer of their own at /auth by default', () => {
    expect(resolve({})).toMatchObject({
      authUrl: `${baseUrl}/auth`,
      passwordGrant: true,
      outsideIssuer: null,
    });
  });

  it('take another path for the issuer', () => {
    expect(resolve({ AUTH_URL: `${baseUrl}/identity/` }).authUrl).toBe(`${baseUrl}/identity`);
  });

  it.each([
    ['https://login.example.org/auth', /must begin with BASE_URL/],
    [baseUrl, /must have a path/],
    [`${baseUrl}/consents/auth`, /\/consents is taken/],
    ['nowhere', /must be an http or https address/],
  ])('refuse AUTH_URL=%s', (AUTH_URL, reason) => {
    expect(faultsOf({ AUTH_URL })).toEqual([expect.stringMatching(reason)]);
  });

  it('want BASE_URL beside AUTH_URL when the address is not known before', () => {
    expect(() =>
      readSettings({ AUTH_URL: `${baseUrl}/auth` }, authSpecs, (settings) =>
        checkAuthSettings(settings, undefined),
      ),
    ).toThrow(SettingsError);
  });

  it('with an outside issuer want tokens that are meant for this instance, unless told otherwise', () => {
    const OIDC_ISSUER = 'https://login.example.org/realms/shop';
    expect(resolve({ OIDC_ISSUER })).toMatchObject({
      authUrl: OIDC_ISSUER,
      outsideIssuer: {
        issuer: OIDC_ISSUER,
        audience: null,
        paths: { roles: 'roles', subject: 'preferred_username' },
      },
    });
    expect(
      resolve({ OIDC_ISSUER, OIDC_AUDIENCE: 'accord', OIDC_ROLE_CLAIM: 'realm_access.roles' }).outsideIssuer,
    ).toMatchObject({ audience: 'accord', paths: { roles: 'realm_access.roles' } });
  });
});
