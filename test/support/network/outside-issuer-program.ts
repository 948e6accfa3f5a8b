import { Provider } from 'oidc-provider';

// An issuer as an organisation has one: another process, with claims of its own. Each client stands for
// somebody.
const { port, keys } = JSON.parse(process.env.OUTSIDE_ISSUER ?? '{}') as { port: number; keys: object[] };
const audience = 'https://api.example.org/accord';
const secret = 'a secret of the outside issuer';

const people: Record<string, Record<string, unknown>> = {
  jane: { preferred_username: 'jane', realm_access: { roles: ['operator', 'uma_authorization'] } },
  boss: { preferred_username: 'boss', realm_access: { roles: ['admin'] } },
  guest: { preferred_username: 'guest', realm_access: { roles: ['visitor'] } },
};

const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys: keys as never },
  clients: [...Object.keys(people), 'elsewhere'].map((id) => ({
    client_id: id,
    client_secret: secret,
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    id_token_signed_response_alg: 'ES256',
  })),
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  extraTokenClaims: (_ctx, token) => people[token.clientId ?? ''],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_ctx, client) =>
        client.clientId === 'elsewhere' ? 'https://elsewhere.example.org' : audience,
      getResourceServerInfo: (_ctx, resource) => ({
        scope: '',
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 300,
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});
provider.listen(port, '127.0.0.1', () => process.send?.('ready'));
