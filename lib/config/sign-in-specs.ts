import type { Settings } from '#lib/config/read-settings.ts';
import { flag, httpUrl } from '#lib/config/validators.ts';

/** Where people sign in: for the service that does it, and for those that say where (docs/operations.md, "Settings"). */
export const signInSpecs = {
  AUTH_URL: httpUrl({ default: undefined }),
  PASSWORD_GRANT: flag({ default: true }),
  OIDC_ISSUER: httpUrl({ default: undefined }),
};

/** @param baseUrl the address of the instance, known when it listens. */
export function resolveSignIn(
  read: Settings<typeof signInSpecs>,
  baseUrl: string,
): { authUrl: string; hasPasswordGrant: boolean } {
  return {
    authUrl: read.AUTH_URL ?? read.OIDC_ISSUER ?? `${baseUrl}/auth`,
    hasPasswordGrant: !read.OIDC_ISSUER && read.PASSWORD_GRANT,
  };
}
