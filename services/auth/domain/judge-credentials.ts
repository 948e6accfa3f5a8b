import type { Introspection } from '#lib/contracts/auth.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { KeyVerdict, TokenVerdict } from './verdict.ts';

/** The credentials of one request, each judged by itself. */
export interface JudgedCredentials {
  keys: KeyVerdict[];
  token?: TokenVerdict;
  /** An Authorization header that is neither a key nor a token. */
  malformed: boolean;
  browser: boolean;
}

/**
 * The rules for several credentials at once (docs/interface.md, "Credentials"): an invalid key is always a 401; a valid one stands whatever the
 * Authorization header is; two valid ones of different rights give the union. A key that a browser page sends is a 403.
 * @throws Failure `unavailable` if everything hangs on a token that nobody can judge now.
 */
export function judgeCredentials({ keys, token, malformed, browser }: JudgedCredentials): Introspection {
  if (keys.some((key) => !key.valid))
    return { result: 'refused', code: 'unauthorized', detail: 'The API key is not valid.' };
  if (keys.length > 0 && browser)
    return {
      result: 'refused',
      code: 'forbidden',
      detail: 'An API key must not be used in a browser page: it would be known to everyone who opens it.',
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
  return token || malformed ? { result: 'bad-authorization' } : { result: 'none' };
}

/** Both rights; the person's name and subject where there is one; counted by the first credential, the key. */
function unite(one: Principal, other: Principal): Principal {
  const person = other.subject === undefined ? one : other;
  return {
    roles: [...new Set([...one.roles, ...other.roles])],
    name: person.name,
    subject: person.subject,
    account: one.account,
  };
}
