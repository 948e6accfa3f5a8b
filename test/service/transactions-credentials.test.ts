import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, callerWith, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordsOf,
} from '../support/instances/live-transactions.ts';

let key: Awaited<ReturnType<typeof createKey>>;
let made: LiveTransaction;
const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const user = useSetup(() => signIn(instance, 'user'));
beforeAll(async () => {
  key = await createKey(instance, 'till');
  made = await createTransaction(operator);
});

const bad = { Authorization: 'Bearer garbled' };
const at = (token?: string, path = `/consents/${made.id}`) =>
  token === undefined ? path : `${path}?t=${token}`;
const statusOf = async (path: string, headers: Record<string, string> = {}) =>
  (await instance.fetch(path, { headers })).status;

describe("a caller's credential beside a transaction's token", () => {
  it('wins over the token, even if the token is invalid', async () => {
    for (const caller of [operator, key]) {
      const seen = await caller.get(at('garbled'));
      expect(seen.status).toBe(200);
      expect(await seen.json()).toHaveProperty('author');
    }
  });

  it('wins even if it allows less than the token', async () => {
    expect(await statusOf(at(made.token), user.headers)).toBe(404);
    expect(await statusOf(at(made.token))).toBe(200);
  });

  it('determines the author of the answers', async () => {
    const answers = { 'element/processing/processing.001/1.0': ['accepted'] };
    const layoutData = { elements: ['processing.001'] };
    const authors = ['ann', 'ben', 'user'].map(async (subject) => {
      const { task, token } = await createTransaction(operator, { subject, layoutData });
      const caller = { ann: operator, ben: key, user }[subject] as Caller;
      expect((await caller.send('POST', `${task}?t=${token}`, answers)).status).toBe(200);
      return (await recordsOf(operator, subject))['processing.001']?.[0]?.author;
    });
    expect(await Promise.all(authors)).toEqual(['operator', 'till', 'user']);
  });

  it('is ignored beside a valid token if it is an invalid Authorization header', async () => {
    expect(await statusOf(at(made.token), bad)).toBe(200);
    const seen = await callerWith(instance, bad).get(at(made.token));
    expect(await seen.json()).not.toHaveProperty('author');
  });

  it('is not ignored if it is an invalid API key', async () => {
    expect(await statusOf(at(made.token), { CM_KEY: 'garbled' })).toBe(401);
    expect(await statusOf(at(made.token), { CM_KEY: 'garbled', ...operator.headers })).toBe(401);
  });
});

describe('an API key and an Authorization header together', () => {
  it('the key counts if the header is malformed or invalid', async () => {
    for (const authorization of ['Bearer garbled', 'Bearer', 'nonsense', 'Bearer undefined'])
      expect(await statusOf(at(), { CM_KEY: key.key, Authorization: authorization })).toBe(200);
  });

  it('have the rights of both', async () => {
    const headers = { ...user.headers, CM_KEY: key.key };
    expect(await statusOf('/transactions', headers)).toBe(200);
    expect(await statusOf('/records?subject=user', headers)).toBe(200);
    const admin = await signIn(instance, 'admin');
    expect(await statusOf('/keys', { ...admin.headers, CM_KEY: key.key })).toBe(200);
    expect(await statusOf('/keys', { CM_KEY: key.key })).toBe(403);
  });

  it.each(['CM_KEY', 'CM-Key'])('a key may come as %s', async (name) => {
    expect(await statusOf(at(), { [name]: key.key })).toBe(200);
  });
});

describe('without a valid credential', () => {
  it('a transaction is a 401 with the ways to sign in', async () => {
    for (const [path, headers] of [
      [at(), {}],
      [at('garbled'), {}],
      [at(''), {}],
      [at('garbled'), bad],
      [at(), { Authorization: 'Transaction garbled' }],
    ] as const) {
      const answer = await instance.fetch(path, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBeTruthy();
    }
  });

  it('a browser gets an error page', async () => {
    const answer = await instance.fetch(at('garbled'), { headers: { Accept: 'text/html' } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
  });
});

describe('a transaction that is not the caller’s', () => {
  it('looks exactly like an unknown one', async () => {
    const nowhere = '7Zk3pQxWm4tYv9LsRb2NcD';
    const other = await createTransaction(operator);
    for (const [headers, query] of [
      [user.headers, ''],
      [{}, `?t=${other.token}`],
    ] as const)
      for (const path of ['', '/submit', '/child']) {
        const seen = await Promise.all(
          [made.id, nowhere].map(async (id) => {
            const answer = await instance.fetch(`/consents/${id}${path}${query}`, { headers });
            return { status: answer.status, text: (await answer.text()).replaceAll(id, '<id>') };
          }),
        );
        expect(seen[0]?.status).toBe(404);
        expect(seen[0]).toEqual(seen[1]);
      }
  });

  it("a transaction's token is good nowhere else", async () => {
    for (const path of ['/transactions', '/records?subject=ann', '/subjects', '/user', '/models', '/keys'])
      expect(await statusOf(path, { Authorization: `Transaction ${made.token}` })).toBe(403);
  });
});
