import { type Configuration, interactionPolicy, Provider } from 'oidc-provider';
import type { PrivateKey } from '#lib/config/private-key.ts';
import type { Database } from '#lib/db/database.ts';
import type { KeyedHash } from '../domain/keyed-hash.ts';
import type { AccountDirectory } from '../operations/create-account-directory.ts';
import type { SignIn } from '../operations/create-sign-in.ts';
import { createAdapter } from './create-adapter.ts';
import { grantWithoutConsent } from './grant-without-consent.ts';
import { passwordGrant } from './password-grant.ts';
import type { RenderIssuerError } from './render-error.ts';
import { extraTokenClaims, resourceServer } from './token-claims.ts';

/** Access tokens last 5 minutes (interface.md, "Limits"). */
const tokenSeconds = 300;

const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const;

/** In seconds. */
const ttl = {
  AccessToken: tokenSeconds,
  AuthorizationCode: 60,
  ClientCredentials: tokenSeconds,
  Grant: 60 * 60,
  IdToken: tokenSeconds,
  // Anyone can begin one, and each is stored: long enough to type a password.
  Interaction: 10 * 60,
  Session: 60 * 60,
};

/** What the built-in issuer works with. */
export interface IssuerParts {
  db: Database;
  accounts: AccountDirectory;
  signIn: SignIn;
  keyedHash: KeyedHash;
  /** The first signs. */
  signingKeys: readonly PrivateKey[];
  cookieKeys: readonly Uint8Array[];
  settings: { baseUrl: string; authUrl: string; passwordGrant: boolean };
  renderError: RenderIssuerError;
}

/** Configures oidc-provider. Everything is set here: its defaults are made for trying out, and say so on standard output. */
export function createProvider(parts: IssuerParts): Provider {
  const { settings, signIn } = parts;
  const provider = new Provider(settings.authUrl, configure(parts));
  if (settings.passwordGrant)
    provider.registerGrantType(
      'password',
      passwordGrant({ signIn, audience: settings.baseUrl, tokenSeconds }),
      ['username', 'password', 'scope'],
    );
  // A stored client's secret is a keyed hash: whoever reads the database cannot be the client.
  provider.Client.prototype.compareClientSecret = function compareClientSecret(given: string) {
    const stored = Buffer.from(this.clientSecret ?? '', 'base64url');
    return parts.keyedHash.matches(given, stored);
  };
  return provider;
}

function configure({
  db,
  accounts,
  signingKeys,
  cookieKeys,
  settings,
  renderError,
}: IssuerParts): Configuration {
  const path = new URL(settings.authUrl).pathname;
  return {
    adapter: createAdapter({ db, passwordGrant: settings.passwordGrant }),
    jwks: { keys: signingKeys.map((key) => ({ ...key, alg: 'ES256', use: 'sig' })) },
    cookies: {
      names: { session: 'accord_session', interaction: 'accord_interaction', resume: 'accord_resume' },
      keys: cookieKeys.map((key) => Buffer.from(key).toString('base64url')),
      long: { ...cookie, path },
      // oidc-provider gives each of these the path of the one page that it is for.
      short: cookie,
    },
    findAccount: findAccountIn(accounts),
    claims: { openid: ['sub', 'preferred_username', 'roles'] },
    scopes: ['openid'],
    responseTypes: ['code'],
    routes: { authorization: '/authorize', token: '/token', jwks: '/jwks' },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    extraClientMetadata: { properties: ['role'] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    pkce: { required: () => true },
    extraTokenClaims: extraTokenClaims(accounts),
    features: features(settings.baseUrl),
    interactions: {
      policy: signInPolicy(),
      url: (_ctx, interaction) => `${path}/interaction/${interaction.uid}`,
    },
    loadExistingGrant: (ctx) => grantWithoutConsent(ctx, settings.baseUrl),
    // Decided by lib/http/cors.ts before oidc-provider sees the request.
    clientBasedCORS: () => false,
    ttl,
    renderError,
  };
}

/** Access tokens are JWTs for the API (RFC 8707, RFC 9068); nothing is on that no client of ours needs. */
function features(baseUrl: string): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => baseUrl,
      getResourceServerInfo: (_ctx, resource) => resourceServer(resource, baseUrl, tokenSeconds),
      useGrantedResource: () => true,
    },
  };
}

function findAccountIn(accounts: AccountDirectory): Configuration['findAccount'] {
  return async (_ctx, id) => {
    const account = await accounts.findById(id);
    if (!account) return undefined;
    const claims = { sub: account.id, preferred_username: account.name, roles: [account.role] };
    return { accountId: account.id, claims: () => claims };
  };
}

/** The issuer keeps nobody signed in: each authorization asks for the password. Its clients are our own, so none asks for consent. */
function signInPolicy() {
  const policy = interactionPolicy.base();
  policy.remove('consent');
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check('fresh_sign_in', 'the person must sign in', (ctx) =>
        ctx.oidc.result?.login
          ? interactionPolicy.Check.NO_NEED_TO_PROMPT
          : interactionPolicy.Check.REQUEST_PROMPT,
      ),
    );
  return policy;
}
