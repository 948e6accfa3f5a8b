import type { Credentials, Introspection } from '#lib/contracts/auth.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { resemblesApiKey } from './api-keys.ts';

/** The credentials of one request by kind. */
export interface ReadCredentials {
  /** From `CM_KEY` or `CM-Key`, and from `Authorization: Basic`. */
  keys: string[];
  /** A bearer token. */
  token?: string;
  /** The Authorization header is neither a key nor a token. */
  malformed: boolean;
}

/**
 * Sorts credentials by kind. `Basic` holds a plain key, or base64 as `curl -u <key>:` sends it
 * (docs/interface.md, "Credentials").
 */
export function readCredentials({ authorization, apiKey }: Credentials): ReadCredentials {
  const keys = apiKey === undefined ? [] : [apiKey.trim()];
  if (authorization === undefined) return { keys, malformed: false };
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)\s*$/.exec(authorization) ?? [];
  if (/^bearer$/i.test(scheme)) return { keys, token: value, malformed: false };
  const key = /^basic$/i.test(scheme) ? readBasicKey(value) : undefined;
  return key === undefined ? { keys, malformed: true } : { keys: [...keys, key], malformed: false };
}

function readBasicKey(value: string): string | undefined {
  if (resemblesApiKey(value)) return value;
  const [user = '', password = ''] = Buffer.from(value, 'base64').toString().split(':', 2);
  return [user, password].find(resemblesApiKey);
}

/** The result of verifying an API key. */
export type KeyVerdict =
  | { valid: true; principal: Principal }
  /** Unknown or revoked, or a pairing key that is used or too old. */
  | { valid: false };

/** The result of verifying an access token. */
export type TokenVerdict =
  | { valid: true; principal: Principal }
  /** Malformed, expired, or of another issuer or audience; or its account has changed since it was issued. */
  | { valid: false; isChanged?: boolean }
  /** Cannot be verified: the issuer is unreachable. */
  | { valid: 'unknown'; cause: unknown };

/** The credentials of one request, each verified. */
export interface JudgedCredentials {
  keys: KeyVerdict[];
  token?: TokenVerdict;
  /** The Authorization header is neither a key nor a token. */
  malformed: boolean;
  browser: boolean;
}

/**
 * Combines several credentials (docs/interface.md, "Credentials"): an invalid key is refused; a valid one is
 * accepted whatever the Authorization header holds; valid credentials add up. A key from a browser page is
 * forbidden.
 * @throws Failure `unavailable` if the only credential is a token whose issuer is unreachable.
 */
export function judgeCredentials({ keys, token, malformed, browser }: JudgedCredentials): Introspection {
  if (keys.some((key) => !key.valid))
    return { result: 'refused', code: 'unauthorized', detail: 'The API key is not valid.' };
  if (keys.length > 0 && browser)
    return {
      result: 'refused',
      code: 'forbidden',
      detail: 'API keys must not be used in browser pages, where every visitor can read them.',
    };
  const principals = [...keys, ...(token ? [token] : [])].flatMap((verdict) =>
    verdict.valid === true ? [verdict.principal] : [],
  );
  const [first, ...others] = principals;
  if (first) return { result: 'principal', principal: others.reduce(unite, first) };
  if (token?.valid === 'unknown')
    throw fail('unavailable', 'The identity provider cannot be reached to check the access token.', {
      headers: { 'Retry-After': '5' },
      cause: token.cause,
    });
  if (token?.valid === false && token.isChanged)
    return {
      result: 'refused',
      code: 'unauthorized',
      detail: 'The account has changed since this access token was issued. Sign in again.',
    };
  return token || malformed ? { result: 'bad-authorization' } : { result: 'none' };
}

/**
 * Unites roles, prefers the person's name and subject, and counts requests for the first credential, the key.
 */
function unite(one: Principal, other: Principal): Principal {
  const person = other.subject === undefined ? one : other;
  return {
    roles: [...new Set([...one.roles, ...other.roles])],
    name: person.name,
    subject: person.subject,
    account: one.account,
    // A key beside it must not hide an old sign-in.
    signedInAt: other.signedInAt ?? one.signedInAt,
  };
}
