import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { LiveTransaction } from '../support/instances/live-transactions.ts';
import { expectRefusal, headersOf, type Mode, modes } from './bad-input/refusals.ts';
import { badInput } from './bad-input/session.ts';

const session = badInput();
let made: LiveTransaction;
let other: LiveTransaction;
beforeAll(async () => {
  made = await session.open({ cancellable: true });
  other = await session.open({ cancellable: true });
});

/** Everything that a transaction token opens. */
const requests = [
  ['GET', ''],
  ['GET', '/submit'],
  ['POST', '/submit'],
  ['POST', '/cancel'],
  ['GET', '/child'],
  ['POST', '/child'],
] as const;

const ask = (method: string, path: string, mode: Mode, query: string, headers: Record<string, string> = {}) =>
  session.instance.fetch(`${path}${query}`, {
    method,
    headers: {
      ...headersOf[mode],
      ...headers,
      ...(path.endsWith('/submit') && method === 'POST'
        ? { 'Content-Type': 'application/x-www-form-urlencoded' }
        : {}),
    },
    ...(path.endsWith('/submit') && method === 'POST' ? { body: 'info=x' } : {}),
  });

/** The token of the transaction, made anew with something else in it. */
async function forge({
  claims = {},
  header = {},
  secret = session.instance.secrets.transactionToken[0] as Uint8Array,
}: {
  claims?: object;
  header?: object;
  secret?: Uint8Array;
}): Promise<string> {
  const known = decodeProtectedHeader(made.token);
  return new SignJWT({ ...decodeJwt(made.token), ...claims })
    .setProtectedHeader({ ...known, alg: 'HS256', ...header })
    .sign(secret);
}

const now = () => Math.floor(Date.now() / 1000);
const parts = () => made.token.split('.') as [string, string, string];
const tokens: [string, () => string | Promise<string>][] = [
  ['that has expired', () => forge({ claims: { exp: now() - 1 } })],
  ['that never expires', () => forge({ claims: { exp: undefined } })],
  ['that is garbled', () => made.token.slice(0, -4)],
  [
    'with a transaction put into it',
    () =>
      [
        parts()[0],
        Buffer.from(JSON.stringify({ ...decodeJwt(made.token), sub: other.id })).toString('base64url'),
        parts()[2],
      ].join('.'),
  ],
  ['without a signature (alg=none)', () => new UnsecuredJWT(decodeJwt(made.token)).encode()],
  [
    'with alg=none and a signature',
    () =>
      [Buffer.from('{"alg":"none","typ":"accord-tx+jwt"}').toString('base64url'), ...parts().slice(1)].join(
        '.',
      ),
  ],
  ['without a signature', () => `${parts()[0]}.${parts()[1]}.`],
  ['signed with another secret', () => forge({ secret: new Uint8Array(32).fill(7) })],
  [
    'signed with another algorithm',
    () =>
      forge({
        header: { alg: 'HS512' },
        secret: Buffer.concat([
          session.instance.secrets.transactionToken[0] as Uint8Array,
          new Uint8Array(64),
        ]),
      }),
  ],
  [
    'of another instance',
    () => forge({ claims: { iss: 'https://other.example', aud: 'https://other.example' } }),
  ],
  ['meant for another instance', () => forge({ claims: { aud: 'https://other.example' } })],
  ['of another kind', () => forge({ header: { typ: 'at+jwt' } })],
  ['of a use that there is none of', () => forge({ claims: { use: 'admin' } })],
  ['that is an access token', () => session.admin.headers.Authorization?.replace('Bearer ', '') ?? ''],
  ['that is no token', () => '%00%22%3E%3Cscript%3E'],
];

describe.each(tokens)('a token %s', (_what, make) => {
  it.each(modes)('gives no access (%s); nothing is stored', async (mode) => {
    const token = await make();
    await session.storingNothing(async () => {
      for (const [method, path] of requests)
        await expectRefusal(await ask(method, `/consents/${made.id}${path}`, mode, `?t=${token}`), mode, [
          401,
          'unauthorized',
        ]);
      await expectRefusal(await ask('GET', `/receipts/${made.id}`, mode, `?t=${token}`), mode, [
        401,
        'unauthorized',
      ]);
    });
  });
});

describe('the token of another transaction', () => {
  it.each(modes)('gives no access (%s) and does not reveal that the transaction exists', async (mode) => {
    await session.storingNothing(async () => {
      for (const id of [made.id, '1111111111111111111111'])
        for (const [method, path] of requests)
          await expectRefusal(await ask(method, `/consents/${id}${path}`, mode, `?t=${other.token}`), mode, [
            404,
            'not-found',
          ]);
    });
  });

  it.each(modes)('gives no access in the header either (%s)', async (mode) => {
    const headers = { Authorization: `Transaction ${other.token}` };
    for (const [method, path] of requests)
      await expectRefusal(await ask(method, `/consents/${made.id}${path}`, mode, '', headers), mode, [
        404,
        'not-found',
      ]);
  });
});

it('a request without a token gets no access', async () => {
  for (const mode of modes)
    for (const [method, path] of requests)
      await expectRefusal(await ask(method, `/consents/${made.id}${path}`, mode, ''), mode, [
        401,
        'unauthorized',
      ]);
});

it('a transaction token gives no access to lists, contexts and creation, wherever it is sent', async () => {
  const shown: [string, Record<string, string>][] = [
    [`?t=${made.token}`, {}],
    ['', { Authorization: `Transaction ${made.token}` }],
  ];
  for (const [query, headers] of shown) {
    for (const path of ['/transactions', '/models', '/keys', '/stats', `/consents/${made.id}/context`])
      await expectRefusal(await ask('GET', path, 'json', query, headers), 'json', [403, 'forbidden']);
    const body = JSON.stringify({ subject: made.subject, layout: 'layout.001' });
    const create = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body };
    await expectRefusal(await session.instance.fetch(`/consents${query}`, create), 'json', [
      403,
      'forbidden',
    ]);
  }
  expect((await ask('GET', `/consents/${made.id}`, 'json', `?t=${made.token}`)).status).toBe(200);
});
