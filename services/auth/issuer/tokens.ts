import {
  type ClientCredentials,
  errors,
  type Grant,
  type InteractionResults,
  type KoaContextWithOIDC,
  type ResourceServer,
} from 'oidc-provider';
import type { AccountDirectory, SignIn } from '../operations/sign-in.ts';

/** What the sign-in page tells the authorization besides the account. */
export interface SignedIn {
  /** `changedAt` of the account whose password was verified. */
  changedAt?: string;
}

/**
 * Grants what the client asks for, without a consent page: all clients belong to the instance. Before the
 * person has signed in there is nothing to grant.
 */
export function grantWithoutConsent(accounts: AccountDirectory, resource: string) {
  return async (ctx: KoaContextWithOIDC): Promise<Grant | undefined> => {
    const { client, session, provider, params } = ctx.oidc;
    const { result } = ctx.oidc as { result?: InteractionResults & SignedIn };
    if (!client || !session?.accountId || !result?.login) return undefined;
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope('openid');
    grant.addResourceScope(resource, String(params?.scope ?? ''));
    await grant.save();
    // A change of the account that ends its sessions either sees the saved grant or is seen here.
    if (await accounts.isUnchanged(session.accountId, result.changedAt)) return grant;
    await grant.destroy();
    throw new errors.AccessDenied('the account has changed since the sign-in');
  };
}

/** The same for every reason, so that it reveals nothing. */
const refused =
  'The username or password is wrong, or there were too many failed attempts in the last 5 minutes.';

/**
 * The password grant (RFC 6749 §4.3) for existing scripts; PASSWORD_GRANT=false disables it
 * (docs/security.md, "Deviations").
 */
export function passwordGrant({
  signIn,
  audience,
  tokenSeconds,
}: {
  signIn: SignIn;
  audience: string;
  tokenSeconds: number;
}) {
  return async (ctx: KoaContextWithOIDC): Promise<void> => {
    const { client, params = {}, provider } = ctx.oidc;
    const { username, password } = params;
    if (typeof username !== 'string' || typeof password !== 'string')
      throw new errors.InvalidRequest('username and password are required');
    const found = await signIn(ctx, username, password);
    // This grant has no place for a second factor (RFC 9700 §2.4).
    if (found?.need !== 'nothing' || !client)
      throw Object.assign(new errors.InvalidGrant('refused'), { error_description: refused });
    const token = new provider.AccessToken({
      accountId: found.account.id,
      client,
      gty: 'password',
      // JWT access tokens are not stored, so they need no grant.
      grantId: '',
      resourceServer: new provider.ResourceServer(audience, resourceServer(audience, audience, tokenSeconds)),
    });
    ctx.oidc.entity('AccessToken', token);
    ctx.body = {
      access_token: await token.save(),
      token_type: token.tokenType,
      expires_in: token.expiration,
    };
  };
}

/**
 * The API as a resource (RFC 8707). Its access tokens are JWTs (RFC 9068) with the base URL as their
 * audience.
 */
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

/**
 * Claims of access tokens: a person's name, role and time of sign-in, and when the account had last
 * changed; a client's role without a name, so that it is not a subject.
 */
export function extraTokenClaims(accounts: AccountDirectory) {
  return async (ctx: KoaContextWithOIDC, token: { accountId?: string } | ClientCredentials) => {
    if ('accountId' in token && token.accountId) {
      const account = await accounts.findById(token.accountId);
      const auth_time = authTimeOf(ctx);
      if (!account) return undefined;
      const { name, role, changedAt } = account;
      return { preferred_username: name, roles: [role], auth_time, changed_at: changedAt };
    }
    const role = (token as ClientCredentials).client?.role;
    return { roles: typeof role === 'string' ? [role] : [] };
  };
}

/** When the person signed in, in epoch seconds: now with the password grant. */
function authTimeOf({ oidc }: KoaContextWithOIDC): number {
  const { RefreshToken: refreshToken, AuthorizationCode: code } = oidc.entities;
  return (refreshToken ?? code)?.authTime ?? Math.floor(Date.now() / 1000);
}
