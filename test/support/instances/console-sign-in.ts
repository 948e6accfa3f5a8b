import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { createBrowserSession } from '../pages/browser-session.ts';
import type { AuthUnderTest } from './auth-service.ts';

/** The client accord-console, as the console uses it. */
export interface ConsoleSignIn {
  config: client.Configuration;
  /** Signs in on the page of the issuer. @returns where the browser is sent at last. */
  signIn(username: string, password?: string): Promise<URL>;
  /**
   * Posts the name and password, and follows nothing.
   * @returns continues to where the browser is sent at last.
   */
  begin(username: string, password?: string): Promise<() => Promise<URL>>;
  /** Exchanges the code in the address to which the browser was sent. */
  exchange(callback: URL): Promise<ConsoleTokens>;
  /** Signs in and exchanges the code. */
  tokensOf(username: string, password?: string): Promise<ConsoleTokens>;
  refresh(refreshToken: string): Promise<ConsoleTokens>;
}

export interface ConsoleTokens {
  access: string;
  refresh: string;
  /** Claims of the access token. */
  claims: Record<string, unknown>;
  /** Claims of the ID token. */
  idClaims: Record<string, unknown> | undefined;
}

/** @param secret of the client; the first entry of `console-client` if it is not given. */
export async function startConsoleSignIn(under: AuthUnderTest, secret?: string): Promise<ConsoleSignIn> {
  const config = await client.discovery(
    new URL(under.authUrl),
    'accord-console',
    undefined,
    client.ClientSecretBasic(secret ?? under.secrets.consoleClient[0]),
    { execute: [client.allowInsecureRequests] },
  );
  const verifier = client.randomPKCECodeVerifier();
  const state = 'a state';
  const console: ConsoleSignIn = {
    config,
    async begin(username, password = 'demo') {
      const browser = createBrowserSession();
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: `${under.baseUrl}/console/callback`,
        scope: 'openid',
        state,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const redirected = await browser.fetch(url.href);
      const page = new URL(redirected.headers.get('location') ?? '', url).href;
      const html = await (await browser.fetch(page)).text();
      const answer = await browser.submit(page, html, { username, password });
      if (answer.status !== 303) throw new Error(`${username} was not signed in: ${answer.status}`);
      return async () => {
        let location = new URL(answer.headers.get('location') ?? '', page);
        while (location.pathname !== '/console/callback') {
          const next = await browser.fetch(location.href);
          if (next.status !== 303) throw new Error(`the sign-in of ${username} ended with ${next.status}`);
          location = new URL(next.headers.get('location') ?? '', location);
        }
        return location;
      };
    },
    signIn: async (username, password) => (await console.begin(username, password))(),
    exchange: async (callback) =>
      present(
        await client.authorizationCodeGrant(config, callback, {
          pkceCodeVerifier: verifier,
          expectedState: state,
        }),
      ),
    tokensOf: async (username, password) => console.exchange(await console.signIn(username, password)),
    refresh: async (refreshToken) => present(await client.refreshTokenGrant(config, refreshToken)),
  };
  return console;
}

function present(tokens: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers): ConsoleTokens {
  return {
    access: tokens.access_token,
    refresh: tokens.refresh_token ?? '',
    claims: decodeJwt(tokens.access_token),
    idClaims: tokens.claims(),
  };
}
