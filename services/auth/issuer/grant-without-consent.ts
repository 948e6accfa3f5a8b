import type { Grant, KoaContextWithOIDC } from 'oidc-provider';

/** Grants what a client asks for: the instance's own clients need no consent of the person to speak for them to the instance. */
export async function grantWithoutConsent(
  ctx: KoaContextWithOIDC,
  resource: string,
): Promise<Grant | undefined> {
  const { client, session, provider, params } = ctx.oidc;
  if (!client || !session?.accountId) return undefined;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope('openid');
  grant.addResourceScope(resource, String(params?.scope ?? ''));
  await grant.save();
  return grant;
}
