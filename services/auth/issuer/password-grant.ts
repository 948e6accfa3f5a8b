import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { SignIn } from '../operations/create-sign-in.ts';
import { resourceServer } from './token-claims.ts';

/** One sentence for every fault, so that it tells nothing. */
const refused = 'The username or the password is wrong, or there were too many wrong tries within 5 minutes.';

/**
 * The password grant (RFC 6749 §4.3), which existing scripts use (interface.md, "Authentication"). RFC 9700 advises against it:
 * the authorization code stands beside it, and PASSWORD_GRANT=false switches it off.
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
    const account = await signIn(ctx, username, password);
    if (!account || !client)
      throw Object.assign(new errors.InvalidGrant('refused'), { error_description: refused });
    const token = new provider.AccessToken({
      accountId: account.id,
      client,
      gty: 'password',
      // A token that is a JWT is stored nowhere, so there is no grant to find it by.
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
