import { type Configuration, interactionPolicy, Provider } from 'oidc-provider';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { Database } from '#lib/db/database.ts';
import { portMark } from '#lib/http/cookies.ts';
import type { KeyedHash } from '../domain/api-keys.ts';
import type { AccountDirectory, SignIn } from '../operations/sign-in.ts';
import { createAdapter } from './adapter.ts';
import { type ConsoleClient, consoleClientId, remainingSeconds } from './console-client.ts';
import type { RenderIssuerError } from './pages.ts';
import { secondFactorClass } from './sign-in-pages.ts';
import { extraTokenClaims, grantWithoutConsent, passwordGrant, resourceServer } from './tokens.ts';

/** Lifetime of access tokens (docs/interface.md, "Limits"). */
const tokenSeconds = 300;

/**
 * Over TLS the prefix `__Host-` keeps other hosts of the domain from setting a session (RFC 6265bis §4.1.3).
 * The cookies of a sign-in have the path of their own page, so that tabs do not add up; that allows only
 * `__Secure-`.
 */
function cookies(authUrl: string, keys: readonly Uint8Array[]): Configuration['cookies'] {
  const isSecure = authUrl.startsWith('https:');
  const [host, secure] = isSecure ? ['__Host-', '__Secure-'] : ['', ''];
  const port = portMark(authUrl);
  const flags = { httpOnly: true, sameSite: 'lax', signed: true, secure: isSecure } as const;
  return {
    names: {
      session: `${host}accord_session${port}`,
      interaction: `${secure}accord_interaction${port}`,
      resume: `${secure}accord_resume${port}`,
    },
    keys: keys.map((key) => Buffer.from(key).toString('base64url')),
    // `__Host-` needs the path of the whole host.
    long: { ...flags, path: isSecure ? '/' : new URL(authUrl).pathname },
    // oidc-provider adds the path of the page that reads the cookie.
    short: flags,
  };
}

/** Lifetimes in seconds. */
const ttl: Configuration['ttl'] = {
  AccessToken: tokenSeconds,
  AuthorizationCode: 60,
  ClientCredentials: tokenSeconds,
  Grant: (ctx, { clientId }) =>
    clientId === consoleClientId ? remainingSeconds(ctx.oidc.session?.authTime() ?? 0) : 60 * 60,
  IdToken: tokenSeconds,
  // Anyone can start one, and each is stored: just long enough to sign in.
  Interaction: 10 * 60,
  // Renewing it does not make a session longer.
  RefreshToken: (_ctx, token) => remainingSeconds(token.authTime ?? 0),
  Session: 60 * 60,
};

export interface IssuerParts {
  db: Database;
  accounts: AccountDirectory;
  signIn: SignIn;
  keyedHash: KeyedHash;
  consoleClient: ConsoleClient;
  /** The first signs. */
  signingKeys: readonly PrivateKey[];
  cookieKeys: readonly Uint8Array[];
  settings: { baseUrl: string; authUrl: string; passwordGrant: boolean };
  renderError: RenderIssuerError;
}

/** Configures oidc-provider. Its development defaults print warnings, so everything is set here. */
export function createProvider(parts: IssuerParts): Provider {
  const { settings, signIn } = parts;
  const provider = new Provider(settings.authUrl, configure(parts));
  if (settings.passwordGrant)
    provider.registerGrantType(
      'password',
      passwordGrant({ signIn, audience: settings.baseUrl, tokenSeconds }),
      ['username', 'password', 'scope'],
    );
  // The stored secret is a keyed hash, so a copy of the database does not reveal it.
  provider.Client.prototype.compareClientSecret = function compareClientSecret(given: string) {
    if (this.clientId === consoleClientId) return parts.consoleClient.hasSecret(given);
    const stored = Buffer.from(this.clientSecret ?? '', 'base64url');
    return parts.keyedHash.matches(given, stored);
  };
  return provider;
}

function configure({
  db,
  accounts,
  consoleClient,
  signingKeys,
  cookieKeys,
  settings,
  renderError,
}: IssuerParts): Configuration {
  const path = new URL(settings.authUrl).pathname;
  return {
    adapter: createAdapter({ db, passwordGrant: settings.passwordGrant, consoleClient }),
    jwks: { keys: signingKeys.map((key) => ({ ...key, alg: 'ES256', use: 'sig' })) },
    cookies: cookies(settings.authUrl, cookieKeys),
    findAccount: findAccountIn(accounts),
    claims: { openid: ['sub', 'preferred_username', 'roles'] },
    scopes: ['openid'],
    acrValues: [secondFactorClass],
    responseTypes: ['code'],
    routes: { authorization: '/authorize', token: '/token', jwks: '/jwks', revocation: '/revoke' },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    extraClientMetadata: { properties: ['role'] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    pkce: { required: () => true },
    ...refreshTokens,
    extraTokenClaims: extraTokenClaims(accounts),
    features: features(settings.baseUrl),
    interactions: {
      policy: signInPolicy(),
      url: (_ctx, interaction) => `${path}/interaction/${interaction.uid}`,
    },
    loadExistingGrant: grantWithoutConsent(accounts, settings.baseUrl),
    // lib/http/security-headers.ts has decided before oidc-provider sees the request.
    clientBasedCORS: () => false,
    ttl,
    renderError,
  };
}

/**
 * Only the console gets refresh tokens. They outlive the issuer's own session. Each is valid once; if it is
 * used again, its grant ends (RFC 9700 §4.14.2).
 */
const refreshTokens: Configuration = {
  issueRefreshToken: (_ctx, client) => client.clientId === consoleClientId,
  expiresWithSession: (_ctx, source) => source.clientId !== consoleClientId,
  rotateRefreshToken: true,
};

/** Access tokens are JWTs for the API (RFC 8707, RFC 9068). Features that no client needs are off. */
function features(baseUrl: string): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    clientCredentials: { enabled: true },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
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

/**
 * Each authorization asks for the password: there is no single sign-on. The instance's own clients need no
 * consent.
 */
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
