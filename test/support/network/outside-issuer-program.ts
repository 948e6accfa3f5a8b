import Koa from 'koa';
import mount from 'koa-mount';
import { Provider } from 'oidc-provider';
import type { ConsoleClient } from './outside-issuer.ts';

// An issuer as an organisation has one: another process, with claims of its own. Each client but the
// console's stands for somebody.
const { url, keys, consoleClient } = JSON.parse(process.env.OUTSIDE_ISSUER ?? '{}') as {
  url: string;
  keys: object[];
  consoleClient?: ConsoleClient;
};
const audience = 'https://api.example.org/accord';
const secret = 'a secret of the outside issuer';
const { pathname, port } = new URL(url);
/** Path under which it is mounted. */
const root = pathname.replace(/\/$/, '');

const people: Record<string, Record<string, unknown>> = {
  jane: { preferred_username: 'jane', realm_access: { roles: ['operator', 'uma_authorization'] } },
  boss: { preferred_username: 'boss', realm_access: { roles: ['admin'] } },
  audrey: { preferred_username: 'audrey', realm_access: { roles: ['auditor', 'technician', 'visitor'] } },
  guest: { preferred_username: 'guest', realm_access: { roles: ['visitor'] } },
  una: {
    preferred_username: 'una',
    realm_access: { roles: ['user'] },
    email: 'Una.Own@example.org',
    email_verified: true,
    phone_number: '+33 6 39 98 00 07',
    phone_number_verified: true,
  },
  uri: {
    preferred_username: 'uri',
    realm_access: { roles: ['user'] },
    email: 'victim@example.org',
    email_verified: false,
    phone_number: '+33639980008',
  },
};

const ofConsole = consoleClient && {
  client_id: 'accord-console',
  client_secret: consoleClient.secret,
  grant_types: ['authorization_code', ...(consoleClient.hasRefreshTokens ? ['refresh_token'] : [])],
  response_types: ['code' as const],
  redirect_uris: [`${consoleClient.baseUrl}/console/callback`],
};

const provider: Provider = new Provider(url, {
  jwks: { keys: keys as never },
  clients: [
    ...[...Object.keys(people), 'elsewhere'].map((id) => ({
      client_id: id,
      client_secret: secret,
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
    })),
    ...(ofConsole ? [ofConsole] : []),
  ],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  extraTokenClaims: (_ctx, token) =>
    people[('accountId' in token ? token.accountId : undefined) ?? token.clientId ?? ''],
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_ctx, { uid }) => `${root}/interaction/${uid}` },
  issueRefreshToken: () => consoleClient?.hasRefreshTokens ?? false,
  // Nobody is asked for permission: the console belongs to the same organisation.
  loadExistingGrant: async (ctx) => {
    const { client, session } = ctx.oidc;
    const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
    grant.addOIDCScope('openid');
    grant.addResourceScope(audience, '');
    await grant.save();
    return grant;
  },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    revocation: { enabled: true },
    rpInitiatedLogout: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      defaultResource: (_ctx, client) =>
        client.clientId === 'elsewhere' ? 'https://elsewhere.example.org' : audience,
      getResourceServerInfo: (_ctx, resource) => ({
        scope: '',
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: consoleClient?.tokenSeconds ?? 300,
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});

/** The page that asks for a name: GET shows it, POST signs the person in. */
provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next();
  if (ctx.method === 'GET') {
    ctx.type = 'html';
    ctx.body = `<form method="post" action="${root}${ctx.path}"><input name="username"></form>`;
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer);
  const accountId = new URLSearchParams(Buffer.concat(chunks).toString()).get('username') ?? '';
  await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId } });
  ctx.respond = false;
});
const app = root === '' ? provider : new Koa().use(mount(root, provider));
app.listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
