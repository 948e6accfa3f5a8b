import { readError } from './problem.ts';
import { type SendOptions, send } from './send.ts';

/** Who calls. Tokens of a token endpoint are renewed before they end, and after a 401. */
export type Auth =
  /** An API key, for servers only: instances refuse keys that a browser sends. */
  | { apiKey: string }
  /** The token of a transaction or of a person's choices: `t` in their links. */
  | { linkToken: string }
  /** An access token, or a function that returns one and is asked for each request. */
  | { accessToken: string | (() => string | Promise<string>) }
  | (TokenEndpoint & { clientId: string; clientSecret: string })
  | (TokenEndpoint & { clientId: string; clientSecret?: string; refreshToken: string })
  /** The password grant, for trials: people sign in with the authorization code. */
  | (TokenEndpoint & { clientId: string; clientSecret?: string; username: string; password: string });

interface TokenEndpoint {
  /** Default: that of the built-in issuer, `<baseUrl>/auth`. */
  tokenUrl?: string;
  scope?: string;
  /** Is told each new refresh token, to store it. */
  onRefreshToken?: (token: string) => void;
}

/** What is added to a request. */
export interface Credentials {
  headers: Record<string, string>;
  query: Record<string, string>;
}

export interface CredentialSource {
  get(): Promise<Credentials>;
  /** Forgets a token that was refused. @returns whether there can be another one. */
  renew(): boolean;
}

const inHeaders = (headers: Record<string, string>): Credentials => ({ headers, query: {} });
const bearer = (token: string) => inHeaders({ Authorization: `Bearer ${token}` });

export function createCredentials(
  auth: Auth | undefined,
  baseUrl: URL,
  options: SendOptions,
): CredentialSource {
  if (!auth) return fixed(inHeaders({}));
  if ('apiKey' in auth) return fixed(inHeaders({ CM_KEY: auth.apiKey }));
  if ('linkToken' in auth) return fixed({ headers: {}, query: { t: auth.linkToken } });
  if ('accessToken' in auth) {
    const { accessToken: token } = auth;
    const get = async () => bearer(typeof token === 'function' ? await token() : token);
    return { get, renew: () => typeof token === 'function' };
  }
  return granted(auth, new URL(auth.tokenUrl ?? new URL('/auth', baseUrl)), options);
}

function fixed(credentials: Credentials): CredentialSource {
  return { get: async () => credentials, renew: () => false };
}

type Grant = Extract<Auth, { clientId: string }>;

interface Token {
  value: string;
  /** Milliseconds since 1970. */
  ends: number;
}

/** Tokens of a token endpoint. Calls at the same time share one request for a token. */
function granted(auth: Grant, url: URL, options: SendOptions): CredentialSource {
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;
  let refreshToken = 'refreshToken' in auth ? auth.refreshToken : undefined;

  async function request(): Promise<Token> {
    const body = new URLSearchParams(grantOf(auth, refreshToken));
    if (auth.scope) body.set('scope', auth.scope);
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (auth.clientSecret) headers.Authorization = basic(auth.clientId, auth.clientSecret);
    else body.set('client_id', auth.clientId);
    const response = await send(url, { method: 'POST', headers, body, redirect: 'error' }, options);
    if (!response.ok) throw await readError(response);
    const said = (await response.json()) as Granted;
    if (refreshToken && said.refresh_token && said.refresh_token !== refreshToken) {
      refreshToken = said.refresh_token;
      auth.onRefreshToken?.(refreshToken);
    }
    // A tenth of a life, at most half a minute, for requests under way.
    const life = (said.expires_in ?? 300) * 1000;
    return { value: said.access_token, ends: Date.now() + life - Math.min(30_000, life / 10) };
  }

  return {
    async get() {
      if (!current || current.ends <= Date.now()) {
        pending ??= request().finally(() => {
          pending = undefined;
        });
        current = await pending;
      }
      return bearer(current.value);
    },
    renew() {
      current = undefined;
      return true;
    },
  };
}

/** RFC 6749, section 2.3.1: both are encoded as in forms. */
function basic(id: string, secret: string): string {
  const encoded = new URLSearchParams([[id, secret]]).toString().replace('=', ':');
  return `Basic ${btoa(encoded)}`;
}

interface Granted {
  access_token: string;
  expires_in?: number;
  refresh_token?: string;
}

function grantOf(auth: Grant, refreshToken: string | undefined): Record<string, string> {
  if (refreshToken) return { grant_type: 'refresh_token', refresh_token: refreshToken };
  if ('username' in auth) return { grant_type: 'password', username: auth.username, password: auth.password };
  return { grant_type: 'client_credentials' };
}
