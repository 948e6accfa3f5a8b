import { describe, expect, it } from 'vitest';
import type { Principal } from '#lib/contracts/principal.ts';
import { drawApiKey } from '../../services/auth/domain/api-keys.ts';
import type { KeyVerdict, TokenVerdict } from '../../services/auth/domain/credentials.ts';
import {
  type JudgedCredentials,
  judgeCredentials,
  readCredentials,
} from '../../services/auth/domain/credentials.ts';

const key = drawApiKey('0197a1f0-58c1-7b1e-9c1d-3f0c2b8f4a11');
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('credentials in headers', () => {
  it.each([
    ['CM_KEY alone', { apiKey: key }, { keys: [key], malformed: false }],
    ['the key as it is after Basic', { authorization: `Basic ${key}` }, { keys: [key], malformed: false }],
    ['curl -u <key>:', { authorization: basic(`${key}:`) }, { keys: [key], malformed: false }],
    ['curl -u <key>', { authorization: basic(`${key}:typed`) }, { keys: [key], malformed: false }],
    ['curl -u :<key>', { authorization: basic(`:${key}`) }, { keys: [key], malformed: false }],
    ['basic in small letters', { authorization: `basic ${key}` }, { keys: [key], malformed: false }],
    ['a bearer token', { authorization: 'Bearer a.b.c' }, { keys: [], token: 'a.b.c', malformed: false }],
    ['bearer in capitals', { authorization: 'BEARER a.b.c' }, { keys: [], token: 'a.b.c', malformed: false }],
    [
      'both headers',
      { apiKey: key, authorization: 'Bearer t' },
      { keys: [key], token: 't', malformed: false },
    ],
    ['a name and password', { authorization: basic('jane:secret') }, { keys: [], malformed: true }],
    ['an unfinished header', { authorization: 'Bearer' }, { keys: [], malformed: true }],
    ['an unset variable', { apiKey: key, authorization: 'Bearer ' }, { keys: [key], malformed: true }],
    ['a token without a scheme', { authorization: 'a.b.c' }, { keys: [], malformed: true }],
    ['another scheme', { authorization: 'Digest x="y"' }, { keys: [], malformed: true }],
    ['nothing', {}, { keys: [], malformed: false }],
  ])('%s', (_name, headers, expected) => {
    expect(readCredentials({ browser: false, ...headers })).toEqual(expected);
  });
});

const shop: Principal = { roles: ['key'], name: 'shop', account: 'key:1' };
const person = (...roles: Principal['roles'][number][]): Principal => ({
  roles,
  name: 'jane',
  subject: 'jane',
  account: 'user:1',
});
const program: Principal = { roles: ['user'], name: 'robot', account: 'user:robot' };

const keyStates: Record<string, KeyVerdict[]> = {
  none: [],
  valid: [{ valid: true, principal: shop }],
  invalid: [{ valid: false }],
};
const tokenStates: Record<string, Pick<JudgedCredentials, 'token' | 'malformed'>> = {
  none: { malformed: false },
  malformed: { malformed: true },
  invalid: { malformed: false, token: { valid: false } },
  unknown: { malformed: false, token: { valid: 'unknown', cause: new Error('down') } },
  admin: { malformed: false, token: valid(person('admin', 'operator', 'user')) },
  user: { malformed: false, token: valid(person('user')) },
};

function valid(principal: Principal): TokenVerdict {
  return { valid: true, principal };
}

/** Every cell of docs/interface.md, "Credentials". */
const table: [key: string, token: string, outcome: string][] = [
  ['none', 'none', 'none'],
  ['none', 'malformed', 'bad-authorization'],
  ['none', 'invalid', 'bad-authorization'],
  ['none', 'unknown', 'unavailable'],
  ['none', 'admin', 'admin operator user as jane'],
  ['none', 'user', 'user as jane'],
  ['valid', 'none', 'key as shop'],
  ['valid', 'malformed', 'key as shop'],
  ['valid', 'invalid', 'key as shop'],
  ['valid', 'unknown', 'key as shop'],
  ['valid', 'admin', 'key admin operator user as jane'],
  ['valid', 'user', 'key user as jane'],
  ['invalid', 'none', 'unauthorized'],
  ['invalid', 'malformed', 'unauthorized'],
  ['invalid', 'invalid', 'unauthorized'],
  ['invalid', 'unknown', 'unauthorized'],
  ['invalid', 'admin', 'unauthorized'],
  ['invalid', 'user', 'unauthorized'],
];

function judge(keys: string, token: string, browser: boolean): string {
  try {
    const judged = { keys: keyStates[keys] ?? [], ...tokenStates[token] } as JudgedCredentials;
    const outcome = judgeCredentials({ ...judged, browser });
    if (outcome.result === 'refused') return outcome.code;
    if (outcome.result !== 'principal') return outcome.result;
    return `${outcome.principal.roles.join(' ')} as ${outcome.principal.name}`;
  } catch (failure) {
    return (failure as { code: string }).code;
  }
}

describe('several credentials at once', () => {
  it('are judged in every combination there is', () => {
    expect(table).toHaveLength(Object.keys(keyStates).length * Object.keys(tokenStates).length);
  });

  it.each(table)('%s key, %s token: %s', (keys, token, outcome) => {
    expect(judge(keys, token, false)).toBe(outcome);
  });

  it.each(table)(
    'from a browser page, %s key, %s token: a valid key is forbidden, all else is as ever',
    (keys, token, outcome) => {
      expect(judge(keys, token, true)).toBe(keys === 'valid' ? 'forbidden' : outcome);
    },
  );

  it('one bad key among two is refused', () => {
    const keys = [...(keyStates.valid ?? []), ...(keyStates.invalid ?? [])];
    expect(judgeCredentials({ keys, malformed: false, browser: false }).result).toBe('refused');
  });

  it('a program beside a key has no subject, and the key stays who acts', () => {
    const outcome = judgeCredentials({
      keys: keyStates.valid ?? [],
      token: valid(program),
      malformed: false,
      browser: false,
    });
    expect(outcome).toMatchObject({ principal: { name: 'shop', roles: ['key', 'user'], account: 'key:1' } });
  });
});
