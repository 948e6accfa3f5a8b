import { type ClientCredentials, errors, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider';
import type { AccountDirectory } from '../operations/create-account-directory.ts';

/** The API as a resource (RFC 8707): its access tokens are JWTs (RFC 9068) that name it as their audience. */
export function resourceServer(resource: string, baseUrl: string, tokenSeconds: number): ResourceServer {
  if (resource !== baseUrl) throw new errors.InvalidTarget();
  return {
    audience: baseUrl,
    scope: 'accord',
    accessTokenTTL: tokenSeconds,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'ES256' } },
  };
}

/** Claims of access tokens: a person's name and role; a program's role, and no name, so that it is nobody's subject. */
export function extraTokenClaims(accounts: AccountDirectory) {
  return async (_ctx: KoaContextWithOIDC, token: { accountId?: string } | ClientCredentials) => {
    if ('accountId' in token && token.accountId) {
      const account = await accounts.findById(token.accountId);
      return account && { preferred_username: account.name, roles: [account.role] };
    }
    const role = (token as ClientCredentials).client?.role;
    return { roles: typeof role === 'string' ? [role] : [] };
  };
}
