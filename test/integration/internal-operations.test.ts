import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createPool, createSharedClock } from '#lib/db/pool.ts';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { toFailure, toProblem } from '#lib/http/problem.ts';
import { createCallerCheck, createCallerTokens } from '#lib/internal/caller-tokens.ts';
import { createInternalClient } from '#lib/internal/internal-client.ts';
import { serveOperations } from '#lib/internal/internal-server.ts';
import { createLogger, currentRequestId, runWithRequestId } from '#lib/observability/logger.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

interface Library {
  find(input: { title: string; tags?: string[] }): Promise<{ title: string; tags: string[] } | null>;
  lend(input: { title: string }): Promise<{ lent: boolean }>;
  tear(input: object): Promise<never>;
  whoAsks(input: object): Promise<{ requestId: string | undefined }>;
  burn(input: object): Promise<{ burnt: boolean }>;
}

const library: Library = {
  find: async ({ title, tags = [] }) => (title === '' ? null : { title, tags }),
  lend: async () => {
    throw fail('wrong-state', 'It is lent already.', {
      errors: [{ pointer: '/title', code: 'lent', detail: 'Ask again in a week.' }],
      members: { state: 'LENT', task: null },
      headers: { 'Retry-After': '604800' },
      cause: new Error('private'),
    });
  },
  tear: async () => {
    throw new TypeError('private');
  },
  whoAsks: async () => ({ requestId: currentRequestId() }),
  burn: async () => ({ burnt: true }),
};

const secret = (name: string) => new TextEncoder().encode(name.padEnd(40, '-0123456789'));
const offer = {
  service: 'library',
  operations: library,
  callers: { find: ['reader'], lend: ['reader'], tear: ['reader'], whoAsks: ['reader'], burn: ['fireman'] },
};
const silent = createLogger({ level: 'silent' });
const servers: Server[] = [];

async function serve(listener: Parameters<typeof createServer>[1]): Promise<{ url: string; server: Server }> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function serveLibrary(keys = { reader: [secret('reader')], fireman: [secret('fireman')] }) {
  return serveOperations({ offer, checkCaller: createCallerCheck('library', keys), log: silent });
}

function clientAt(addresses: readonly string[], tokens = createCallerTokens('reader', [secret('reader')])) {
  const patience = { timeoutMs: 4_000, firstMs: 1_000 };
  return createInternalClient<Library>({
    service: 'library',
    addresses,
    tokens,
    reads: ['find'],
    ...patience,
  });
}

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  return work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => toFailure(error),
  );
}

let url = '';
beforeAll(async () => {
  url = (await serve(serveLibrary())).url;
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

describe.each([
  ['in one process', () => library],
  ['over HTTP', () => clientAt([url])],
])('operations of another service, %s', (_way, connect) => {
  it('give what they return, also when it is nothing', async () => {
    const operations = connect();
    expect(await operations.find({ title: 'Émile', tags: ['a\u2028b'] })).toEqual({
      title: 'Émile',
      tags: ['a\u2028b'],
    });
    expect(await operations.find({ title: '' })).toBeNull();
  });

  it('take as much as a page may hold', async () => {
    const title = 'x'.repeat(8 * 2 ** 20);
    expect((await connect().find({ title }))?.title.length).toBe(title.length);
  });

  it('fail with the same Failure', async () => {
    const failure = await failureOf(connect().lend({ title: 'Candide' }));
    expect({ ...toProblem(failure, '', '/'), headers: failure.headers }).toEqual({
      type: '/docs/problems/wrong-state',
      code: 'wrong-state',
      title: 'Not possible in this state',
      status: 409,
      detail: 'It is lent already.',
      instance: '/',
      errors: [{ pointer: '/title', code: 'lent', detail: 'Ask again in a week.' }],
      state: 'LENT',
      task: null,
      headers: { 'Retry-After': '604800' },
    });
  });

  it('tell a client nothing of a fault of their own', async () => {
    const failure = await failureOf(connect().tear({}));
    expect(failure.code).toBe('internal');
    expect(failure.message).not.toContain('private');
  });

  it('belong to the request that asks', async () => {
    const asked = await runWithRequestId('request-0001', () => connect().whoAsks({}));
    expect(asked).toEqual({ requestId: 'request-0001' });
  });
});

describe('a call over HTTP', () => {
  it('is refused without a token, and to a caller that may not make it', async () => {
    const post = (operation: string, token?: string) =>
      fetch(`${url}/internal/library/${operation}`, {
        method: 'POST',
        headers: token ? { Authorization: `Bearer ${token}` } : {},
        body: '{}',
      });
    expect((await post('whoAsks')).status).toBe(401);
    const reader = await createCallerTokens('reader', [secret('reader')]).tokenFor('library');
    expect((await post('whoAsks', reader)).status).toBe(200);
    expect((await post('burn', reader)).status).toBe(403);
    expect((await post('toString', reader)).status).toBe(404);
    const elsewhere = await createCallerTokens('reader', [secret('reader')]).tokenFor('archive');
    expect((await post('whoAsks', elsewhere)).status).toBe(401);
    const posing = await createCallerTokens('fireman', [secret('reader')]).tokenFor('library');
    expect((await post('burn', posing)).status).toBe(401);
  });

  it('is refused with a token that would live for longer than a minute', async () => {
    const now = Math.floor(Date.now() / 1000);
    const check = createCallerCheck('library', { reader: [secret('reader')] });
    const make = (issued: number, expires: number) =>
      new SignJWT()
        .setProtectedHeader({ alg: 'HS256', typ: 'accord-internal+jwt' })
        .setIssuer('reader')
        .setAudience('library')
        .setIssuedAt(issued)
        .setExpirationTime(expires)
        .sign(secret('reader'));
    expect(await check(await make(now, now + 60))).toBe('reader');
    expect(await check(await make(now - 70, now + 600))).toBeUndefined();
    expect(await check(await make(now + 300, now + 360))).toBeUndefined();
    expect(await check(await make(now - 120, now - 60))).toBeUndefined();
    expect(await check(await make(now, now + 86_400))).toBeUndefined();
  });

  it('is a fault of the instance, not of the client, when the services do not agree on a secret', async () => {
    const stranger = clientAt([url], createCallerTokens('reader', [secret('other')]));
    expect((await failureOf(stranger.find({ title: 'x' }))).code).toBe('internal');
  });

  it('goes on while the secret is being replaced, one service after the other', async () => {
    const [before, after] = [secret('reader'), secret('next')];
    const both = await serve(serveLibrary({ reader: [before, after], fireman: [] }));
    for (const mine of [[before], [after, before], [after]])
      expect(await clientAt([both.url], createCallerTokens('reader', mine)).find({ title: '' })).toBeNull();
  });

  it('succeeds although the clock of the caller is ten minutes off', async () => {
    const slow = createCallerTokens('reader', [secret('reader')]);
    slow.followClock(url, new Date(Date.now() - 600_000).toUTCString());
    expect(await clientAt([url], slow).find({ title: '' })).toBeNull();
  });

  it('succeeds although the clock of one of two replicas is ten minutes off', async () => {
    const good = serveLibrary();
    const late = await serve((request, response) => {
      const time = Date.now() - 600_000;
      const { iat = 0 } = decodeJwt(request.headers.authorization?.slice('Bearer '.length) ?? '');
      if (Math.abs(iat * 1000 - time) < 60_000) return void response.writeHead(200).end('null');
      response.writeHead(401, { Date: new Date(time).toUTCString() }).end();
    });
    const right = await serve(good);
    const client = clientAt([late.url, right.url]);
    for (let turn = 0; turn < 6; turn += 1) expect(await client.find({ title: '' })).toBeNull();
  });

  it('succeeds behind one name although the clock of one replica is wrong, because all go by that of PostgreSQL', async () => {
    const database = await createTestDatabase();
    const pool = createPool({ url: database.url, schema: 'forms', log: silent });
    onTestFinished(async () => {
      vi.useRealTimers();
      await pool.end();
      await database.drop();
    });
    const keys = { reader: [secret('reader')] };
    const serveWith = async (clock: () => number) =>
      serveOperations({ offer, checkCaller: createCallerCheck('library', keys, clock), log: silent, clock });
    const right = await serveWith(await createSharedClock(pool));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
    const wrong = await serveWith(await createSharedClock(pool));
    let turn = 0;
    const balanced = await serve((request, response) => {
      turn += 1;
      (turn % 2 === 0 ? right : wrong)(request, response);
    });
    const clock = await createSharedClock(pool);
    const client = clientAt([balanced.url], createCallerTokens('reader', keys.reader, clock));
    for (let call = 0; call < 6; call += 1) await client.whoAsks({});
    expect(turn, 'none had to be repeated').toBe(6);
    expect(Date.now() - clock()).toBeGreaterThan(590_000);
  });

  it('is made again on another connection when the other side closes this one before it answers', async () => {
    let cut = 0;
    const good = serveLibrary();
    const rude = await serve((request, response) => {
      if (cut++ === 0) return request.socket.destroy();
      good(request, response);
    });
    expect(await clientAt([rude.url]).find({ title: '' })).toBeNull();
    expect(cut).toBe(2);
  });

  it('goes to another replica when one is gone', async () => {
    const gone = await serve(serveLibrary());
    gone.server.close();
    const client = clientAt([gone.url, url]);
    for (let turn = 0; turn < 4; turn += 1) expect(await client.find({ title: '' })).toBeNull();
  });

  it('that only reads is asked of another replica when one sleeps', async () => {
    const ignored: string[] = [];
    const asleep = await serve((request) => void ignored.push(request.url ?? ''));
    const client = clientAt([asleep.url, url]);
    for (let turn = 0; turn < 4; turn += 1) expect(await client.find({ title: '' })).toBeNull();
    expect(ignored).toContain('/internal/library/find');
  });

  it('that only reads is asked on a new connection, which behind one name leads to another replica', async () => {
    const asleep = new Set<Socket>();
    const good = serveLibrary();
    const balanced = await serve((request, response) => {
      if (!asleep.has(request.socket)) good(request, response);
    });
    const connections: Socket[] = [];
    balanced.server.on('connection', (socket) => void connections.push(socket));
    const client = clientAt([balanced.url]);
    // Two connections to the same replica, which then falls asleep.
    await Promise.all([client.find({ title: '' }), client.find({ title: '' })]);
    for (const socket of connections) asleep.add(socket);
    expect(await client.find({ title: '' })).toBeNull();
    await expect.poll(() => [...asleep].every((socket) => socket.destroyed)).toBe(true);
    expect(await client.find({ title: '' })).toBeNull();
  });

  it('that changes something is not made twice when it gets no answer in time: somebody may be at it', async () => {
    const asked: string[] = [];
    const asleep = await serve((request) => void asked.push(request.url ?? ''));
    expect((await failureOf(clientAt([asleep.url]).lend({ title: 'Candide' }))).code).toBe('unavailable');
    expect(asked).toEqual(['/internal/library/lend']);
  });

  it('fails as not available, to be tried again, when nobody is there or nobody answers', async () => {
    const gone = await serve(serveLibrary());
    gone.server.close();
    const deaf = await serve(() => {});
    for (const address of [gone.url, deaf.url]) {
      const failure = await failureOf(clientAt([address]).find({ title: '' }));
      expect(failure.code).toBe('unavailable');
      expect(failure.headers).toEqual({ 'Retry-After': '1' });
    }
  });
});
