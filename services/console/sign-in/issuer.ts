import * as oidc from 'openid-client';
import { Failure, fail } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Tokens } from '../sessions/store.ts';

/** What is asked of a person at the issuer. */
export interface Asked {
  /** Only if the issuer knows the person already. */
  silent: boolean;
  /** Seconds within which the person must have signed in. */
  maxAge?: number;
  /** Whether the person sets a second factor up at the built-in issuer (`acr_values`). */
  factor?: boolean;
}

/** What the callback of a sign-in needs. */
export interface Attempt extends Asked {
  nonce: string;
  verifier: string;
}

/** The issuer with which people sign in. */
export interface Issuer {
  /**
   * @param stateOf makes the parameter `state`, which comes back to the callback.
   * @returns where the browser is sent.
   */
  begin(asked: Asked, stateOf: (attempt: Attempt) => string): Promise<URL>;
  /**
   * Exchanges the code of the callback.
   * @throws Failure `malformed` if the issuer or the checks of the answer refuse the sign-in.
   */
  finish(callback: URL, attempt: Attempt & { state: string }): Promise<{ person: string; tokens: Tokens }>;
  /**
   * Uses the refresh token. Name and roles stay as they were if the API does not tell them.
   * @returns null if the issuer has ended the grant or gave no refresh token, or the API refuses the person.
   */
  renew(tokens: Tokens['signedIn']): Promise<Tokens | null>;
  /**
   * Ends the grant as far as the issuer answers; a failure is logged.
   * @returns where the browser ends the issuer's own session, if it has such a page.
   */
  end(tokens: Tokens['signedIn']): Promise<URL | undefined>;
  /** Origins of the issuer's pages: forms may be redirected there. */
  origins(): Promise<readonly string[]>;
}

interface Options {
  /** The issuer's URL in its tokens. */
  issuerUrl: string;
  /** Where the built-in issuer is called; undefined for an outside one. */
  calledAt?: string;
  client: { id: string; secret?: string };
  scopes: string;
  redirectUri: string;
  /** The person's name and roles, as the API knows them. @throws Failure if the API refuses the token. */
  readUser: (accessToken: string) => Promise<User>;
  log: Logger;
}

type User = Pick<Tokens['signedIn'], 'name' | 'roles'>;

const timeoutSeconds = 10;
/** For tokens whose issuer does not say how long they are valid. */
const defaultSeconds = 300;
/** A token is renewed when it is valid for less than this, and a shorter one after half of its time. */
const renewBeforeSeconds = 60;

/** OpenID Connect Core 1.0, authorization code flow with PKCE (RFC 7636). */
export function createIssuer(options: Options): Issuer {
  const { issuerUrl, client, scopes, redirectUri, readUser, log } = options;
  const find = keepFirst(() => discover(options));

  function toTokens(answer: Answer, user: User, before?: Tokens['signedIn']): Tokens {
    const { access_token: accessToken, refresh_token, id_token } = answer;
    const refreshToken = refresh_token ?? before?.refreshToken ?? null;
    const idToken = id_token ?? before?.idToken ?? '';
    const seconds = answer.expiresIn() ?? defaultSeconds;
    const renewAt = new Date(Date.now() + (seconds - Math.min(renewBeforeSeconds, seconds / 2)) * 1000);
    return { signedIn: { accessToken, refreshToken, idToken, ...user }, renewAt };
  }

  /** The refresh token was used: without the API the new tokens must be stored all the same. */
  async function readUserAgain(accessToken: string, { name, roles }: User): Promise<User | null> {
    try {
      return await readUser(accessToken);
    } catch (error) {
      if (error instanceof Failure && error.code === 'forbidden') return null;
      log.warn('failed to read name and roles of a person; read again with the next token', { error });
      return { name, roles };
    }
  }

  function logFailure(error: unknown): undefined {
    log.warn('failed to end the grant at the issuer; the session of the console has ended', { error });
  }

  return {
    async begin({ silent, maxAge, factor }, stateOf) {
      const config = await find();
      const attempt = {
        silent,
        maxAge,
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      return oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopes,
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        state: stateOf(attempt),
        nonce: attempt.nonce,
        ...(silent && { prompt: 'none' }),
        ...(maxAge !== undefined && { max_age: String(maxAge) }),
        ...(factor && { acr_values: 'second-factor' }),
      });
    },
    async finish(callback, { state, nonce, verifier, maxAge }) {
      const config = await find();
      const answer = await oidc
        .authorizationCodeGrant(config, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
          ...(maxAge !== undefined && { maxAge }),
        })
        .catch(refuse);
      const claims = answer.claims();
      if (!claims) throw refuse(new Error('the issuer sent no ID token'));
      const user = await readUser(answer.access_token);
      return { person: `${claims.iss} ${claims.sub}`, tokens: toTokens(answer, user) };
    },
    async renew(before) {
      if (!before.refreshToken) return null;
      const config = await find();
      try {
        const answer = await oidc.refreshTokenGrant(config, before.refreshToken);
        const user = await readUserAgain(answer.access_token, before);
        return user && toTokens(answer, user, before);
      } catch (error) {
        if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') return null;
        throw toFailure(error);
      }
    },
    async end({ refreshToken, idToken }) {
      const config = await find().catch(logFailure);
      if (!config) return undefined;
      const { revocation_endpoint, end_session_endpoint } = config.serverMetadata();
      if (refreshToken && revocation_endpoint)
        await oidc.tokenRevocation(config, refreshToken).catch(logFailure);
      if (!end_session_endpoint) return undefined;
      return oidc.buildEndSessionUrl(config, { id_token_hint: idToken, client_id: client.id });
    },
    async origins() {
      // The page is shown without the issuer, too.
      const metadata = await find().then(
        (config) => config.serverMetadata(),
        () => undefined,
      );
      const pages = [issuerUrl, metadata?.authorization_endpoint, metadata?.end_session_endpoint];
      return [...new Set(pages.flatMap((page) => (page ? [new URL(page).origin] : [])))];
    },
  };
}

type Answer = Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>;

/** As the API does, accepts an issuer whose own name has a slash more or less at its end. */
async function discover({ issuerUrl, calledAt, client }: Options): Promise<oidc.Configuration> {
  const authentication = client.secret ? oidc.ClientSecretBasic(client.secret) : oidc.None();
  const discoverAs = (name: string) =>
    oidc.discovery(new URL(name), client.id, undefined, authentication, {
      timeout: timeoutSeconds,
      // A developer's machine, or the services' own network.
      execute: isInsecure(issuerUrl) || isInsecure(calledAt) ? [oidc.allowInsecureRequests] : [],
      [oidc.customFetch]: callAt(issuerUrl, calledAt),
    });
  try {
    return await discoverAs(issuerUrl).catch((error: unknown) => {
      if ((error as { code?: string }).code !== 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') throw error;
      return discoverAs(issuerUrl.endsWith('/') ? issuerUrl.slice(0, -1) : `${issuerUrl}/`);
    });
  } catch (error) {
    throw toFailure(error);
  }
}

function isInsecure(url: string | undefined): boolean {
  return url?.startsWith('http:') ?? false;
}

/** The built-in issuer is called without a detour through the routers of its public address. */
function callAt(issuerUrl: string, calledAt: string | undefined): oidc.CustomFetch {
  const { origin } = new URL(issuerUrl);
  return (url, { body, ...options }) => {
    const target = calledAt && url.startsWith(`${origin}/`) ? calledAt + url.slice(origin.length) : url;
    return fetch(target, { ...options, body: body as RequestInit['body'] });
  };
}

function refuse(cause: unknown): never {
  if (cause instanceof TypeError || (cause as { code?: string }).code === 'OAUTH_TIMEOUT')
    throw toFailure(cause);
  throw fail('malformed', 'The sign-in did not succeed. Please sign in again.', { cause });
}

function toFailure(cause: unknown) {
  const headers = { 'Retry-After': '5' };
  return fail('unavailable', 'The sign-in service does not answer. Please try again.', { cause, headers });
}

/** Repeats work until it has succeeded once. */
function keepFirst<T>(work: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= work().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}
