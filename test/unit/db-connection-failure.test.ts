import { expect, test } from 'vitest';
import { toUnavailable } from '#lib/db/database.ts';

function pgError(code: string | undefined, message = 'said by PostgreSQL'): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

test.each([
  '08006',
  '28P01',
  '53300',
  '57P01',
  '57P03',
  '57014',
  '55P03',
  '40001',
  '40P01',
  'ECONNREFUSED',
  'ECONNRESET',
])('code %s is a database that is not available', (code) => {
  const cause = pgError(code);
  expect(toUnavailable(cause)).toMatchObject({ code: 'unavailable', cause, headers: { 'Retry-After': '1' } });
});

test.each([
  'timeout exceeded when trying to connect',
  'Connection terminated unexpectedly',
  'Query read timeout',
])('"%s" is a database that is not available', (message) =>
  expect(toUnavailable(pgError(undefined, message))?.code).toBe('unavailable'),
);

test.each(['23505', '22P02', '42601', '42P01', 'ERR_INVALID_ARG_TYPE'])(
  'code %s is a fault of the statement',
  (code) => expect(toUnavailable(pgError(code))).toBeUndefined(),
);

test('what is no error at all is not a database that is not available', () => {
  expect(toUnavailable('57P01')).toBeUndefined();
  expect(toUnavailable(new TypeError('x is undefined'))).toBeUndefined();
});
