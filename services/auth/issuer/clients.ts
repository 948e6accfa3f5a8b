import type { ClientMetadata } from 'oidc-provider';
import type { ClientRow } from '../queries/clients.ts';

/** Where tools on one's own machine listen, on any port (RFC 8252 §7.3). */
const loopbackUris = ['http://127.0.0.1/callback', 'http://[::1]/callback', 'http://localhost/callback'];

const common = {
  // Never form_post: its page submits itself with an inline script.
  response_modes: ['query'],
  id_token_signed_response_alg: 'ES256',
} as const;

/** The metadata of a public client (OpenID Connect Registration §2). */
export function publicClient(id: string, passwordGrant: boolean): ClientMetadata {
  return {
    ...common,
    client_id: id,
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    grant_types: passwordGrant ? ['authorization_code', 'password'] : ['authorization_code'],
    response_types: ['code'],
    redirect_uris: loopbackUris,
  };
}

/** The metadata of a client that an operator made; in place of the secret stands its hash, which only compareClientSecret reads. */
export function storedClient({ id, role, secretHash, redirectUris }: ClientRow): ClientMetadata {
  const signsIn = redirectUris.length > 0;
  return {
    ...common,
    client_id: id,
    ...(secretHash
      ? { client_secret: secretHash.toString('base64url'), token_endpoint_auth_method: 'client_secret_basic' }
      : { token_endpoint_auth_method: 'none' }),
    application_type: 'web',
    grant_types: [...(signsIn ? ['authorization_code'] : []), ...(role ? ['client_credentials'] : [])],
    response_types: signsIn ? ['code'] : [],
    redirect_uris: redirectUris,
    ...(role ? { role } : {}),
  };
}
