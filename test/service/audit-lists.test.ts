import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeAudit } from '#lib/audit/compose-audit.ts';
import { recordAction } from '#lib/audit/record-action.ts';
import { sql } from '#lib/db/sql.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { readAudit, sentencesOf } from '../support/instances/audit-reader.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { createTestBus } from '../support/stores/event-bus.ts';

let under: AuthUnderTest;
let get: (path: string) => Promise<Response>;
beforeAll(async () => {
  under = await startAuth();
  const headers = { Authorization: `Bearer ${await under.tokenOf('admin')}` };
  get = (path) => under.fetch(path, { headers });
  for (let day = 1; day <= 5; day += 1) {
    const actor = day % 2 === 0 ? 'key:even' : 'user:odd';
    await recordAction(under.db, { action: 'key.created', target: `key/${day}` }, actor);
    await recordAction(under.db, { action: 'key.revoked', target: `key/${day}` }, actor);
    const at = `2026-03-0${day}T12:00:00Z`;
    await under.db.query(sql`UPDATE audit_log SET at = ${at} WHERE target = ${`key/${day}`}`);
  }
});
afterAll(() => under.stop());

const read = (query: string) => readAudit(get, 'auth', query);
const targetsOf = async (query: string) => [
  ...new Set((await read(query)).values.map(({ target }) => target.slice(4))),
];

describe('a list of the audit log', () => {
  it('has pages, newest first, that neither repeat nor skip lines of the same time', async () => {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const { values, next } = await read(`?limit=3${cursor ? `&cursor=${cursor}` : ''}`);
      pages.push(values.map(({ id }) => id));
      cursor = next;
    } while (cursor);
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 3, 1]);
    expect(pages.flat()).toEqual((await read('')).values.map(({ id }) => id));
    expect(new Set(pages.flat()).size).toBe(10);
  });

  it.each([
    ['?actor=even', ['4', '2']],
    ['?actor=odd&before=2026-03-03', ['1']],
    ['?target=key/3', ['3']],
    ['?after=2026-03-04T12:00:00Z', ['5', '4']],
    ['?before=2026-03-02T12:00:00Z', ['1']],
    ['?after=2026-03-02&before=2026-03-04&actor=even', ['2']],
    ['?actor=nobody', []],
    ['?actor=&action=&target=&after=', ['5', '4', '3', '2', '1']],
  ])('has filters: %s', async (query, targets) => {
    expect(await targetsOf(query)).toEqual(targets);
  });

  it('has a filter of one or several actions', async () => {
    const only = await read('?action=key.revoked&target=key/2');
    expect(sentencesOf(only.values)).toEqual(['key even: key.revoked key/2']);
    expect((await read('?action=key.revoked,key.created')).values).toHaveLength(10);
  });

  it('rejects unknown actions, times that are none, and foreign cursors', async () => {
    for (const [query, status] of [
      ['?action=key.forgotten', 422],
      ['?after=yesterday&before=never', 422],
      ['?cursor=abc', 400],
      ['?limit=0', 400],
    ] as const)
      expect((await get(`/audit/auth${query}`)).status, query).toBe(status);
  });
});

describe('subjects and peers', () => {
  it('have no lines', async () => {
    const before = (await read('')).values.length;
    for (const account of ['transaction:abc', 'peer:abc', 'anonymous'])
      await recordAction(under.db, { action: 'key.created', target: 'key/1' }, account);
    expect((await read('')).values).toHaveLength(before);
  });
});

describe('AUDIT_RETENTION', () => {
  it('blanks older lines, keeps their hashes, and keeps the others', async () => {
    const log = createLogger({ level: 'silent' });
    const bus = createTestBus(log);
    const instance = { baseUrl: under.baseUrl, auditRetention: 'P2Y' };
    const { sealer, sweeper } = composeAudit({ area: 'auth', db: under.db, bus, instance, log });
    await under.db.query(sql`
      UPDATE audit_log SET at = accord_now() - '1 year 364 days'::interval WHERE target = 'key/2'`);
    await under.db.query(sql`
      UPDATE audit_log SET at = accord_now() - '2 years 1 second'::interval WHERE target = 'key/1'`);
    const before = sentencesOf((await read('')).values);
    await sealer.runOnce();
    await sweeper.runOnce();
    expect(await targetsOf('')).toEqual(['5', '4', '3', '2']);
    const { values } = (await (await get('/audit/auth?from=0')).json()) as { values: { leaf?: string }[] };
    expect(values).toHaveLength(before.length);
    expect(values.filter(({ leaf }) => leaf)).toEqual([
      {
        id: expect.any(String),
        at: expect.any(String),
        seq: 0,
        leaf: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      {
        id: expect.any(String),
        at: expect.any(String),
        seq: 1,
        leaf: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
  });
});
