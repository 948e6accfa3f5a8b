import { beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { createTransaction, expire, recordAnswers } from '../support/instances/live-transactions.ts';

type List = components['schemas']['TransactionList'];
type Page = components['schemas']['TransactionPage'];

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
beforeAll(async () => {
  const subject = 'ann';
  ann.created = (await createTransaction(operator, { subject, object: '1' })).id;
  const answers = { 'element/processing/processing.001/1.0': ['accepted'] };
  ann.committed = (await recordAnswers(operator, subject, answers)).id;
  ann.cancelled = (await createTransaction(operator, { subject, object: '2' })).id;
  await operator.send('POST', `/consents/${ann.cancelled}/cancel`);
  ann.expired = (await createTransaction(operator, { subject, object: '3' })).id;
  await expire(instance, { id: ann.expired });
});
/**
 * One transaction of ann's in each state that there can be without codes, in the order in which they were
 * made.
 */
const ann: Record<'created' | 'committed' | 'cancelled' | 'expired', string> = {
  created: '',
  committed: '',
  cancelled: '',
  expired: '',
};

const list = async (query: string) => (await (await operator.get(`/transactions?${query}`)).json()) as List;
const search = async (body: object) =>
  (await (await operator.send('POST', '/transactions', body)).json()) as Page;
const idsOf = ({ values }: List | Page) => values.map(({ id }) => id);

describe('the list of transactions', () => {
  it("has a subject's transactions, newest first, each with its state and context and without a token", async () => {
    const found = await list('subject=ann');
    expect(idsOf(found)).toEqual([ann.expired, ann.cancelled, ann.committed, ann.created]);
    expect(found.values.map(({ state }) => state)).toEqual(['TIMEOUT', 'CANCELLED', 'COMMITTED', 'CREATED']);
    expect(found).not.toHaveProperty('next');
    for (const each of found.values) {
      expect(each).not.toHaveProperty('token');
      expect(each).toMatchObject({ subject: 'ann', author: 'operator', context: { subject: 'ann' } });
    }
    expect(await list('subject=Ann')).toEqual({ values: [] });
  });

  it.each([
    ['states=CREATED', ['created']],
    ['states=COMMITTED,CANCELLED', ['cancelled', 'committed']],
    ['states=COMMITTED&states=CANCELLED', ['cancelled', 'committed']],
    ['states=TIMEOUT', ['expired']],
    ['states=SUBMITTED,ROLLBACK', []],
    ['states=', ['expired', 'cancelled', 'committed', 'created']],
    ['before=2026-01-01', []],
    ['after=2026-01-01T00:00:00Z&states=CREATED', ['created']],
    ['after=2200-01-01', []],
  ] as const)('is filtered by %s', async (query, names) => {
    expect(idsOf(await list(`subject=ann&${query}`))).toEqual(names.map((name) => ann[name]));
  });

  it('is filtered by times, including the first and excluding the second', async () => {
    const { values } = await list('subject=ann');
    const at = (id: string) => encodeURIComponent(values.find((each) => each.id === id)?.created ?? '');
    const after = await list(`subject=ann&after=${at(ann.cancelled)}`);
    expect(idsOf(after)).toEqual([ann.expired, ann.cancelled]);
    expect(idsOf(await list(`subject=ann&before=${at(ann.cancelled)}`))).toEqual([
      ann.committed,
      ann.created,
    ]);
  });

  it.each([
    ['states=OPEN', '/states'],
    ['states=CREATED,created', '/states'],
    ['kind=withdrawal', '/kind'],
    ['after=soon', '/after'],
    ['before=2026-02-31T99:00', '/before'],
  ])('is rejected with %s', async (query, pointer) => {
    const answer = await operator.get(`/transactions?${query}`);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ errors: [{ pointer }] });
  });

  it('is for operators and keys, not for users and strangers', async () => {
    const key = await createKey(instance);
    expect((await key.get('/transactions')).status).toBe(200);
    const user = await signIn(instance, 'user');
    expect((await user.get('/transactions?subject=user')).status).toBe(403);
    expect((await user.send('POST', '/transactions', {})).status).toBe(403);
    expect((await instance.fetch('/transactions')).status).toBe(401);
  });
});

describe('the kinds of transactions', () => {
  /** What kim did, oldest first: accepted, refused in a form, accepted on paper, withdrew, was asked. */
  const kim: string[] = [];
  beforeAll(async () => {
    const element = 'element/processing/processing.001/1.0';
    const record = async (answer: string, context = {}) =>
      kim.push((await recordAnswers(operator, 'kim', { [element]: [answer] }, context)).id);
    await record('accepted');
    await record('refused');
    await record('accepted', { origin: 'OPERATOR', collection: { way: 'PAPER' } });
    const withdrawn = await operator.send('POST', `/consents/${kim[2]}/withdraw`, {});
    kim.push(((await withdrawn.json()) as { id: string }).id);
    kim.push((await createTransaction(operator, { subject: 'kim' })).id);
  });

  it('are named in lists; an answer in a form that ended a consent is a withdrawal, too', async () => {
    const kindsOf = ({ values }: List | Page) => values.map(({ id, kinds }) => [id, kinds]).reverse();
    const expected = [['FORM'], ['FORM', 'WITHDRAWAL'], ['ON_BEHALF'], ['WITHDRAWAL'], ['FORM']];
    const named = kim.map((id, place) => [id, expected[place]]);
    expect(kindsOf(await list('subject=kim'))).toEqual(named);
    expect(kindsOf(await search({ subject: 'kim' }))).toEqual(named);
  });

  it.each(['FORM', 'ON_BEHALF', 'WITHDRAWAL', 'IMPORT'] as const)('are searched for: %s', async (kind) => {
    const all = (await list('subject=kim')).values.filter(({ kinds }) => kinds?.includes(kind));
    const found = await list(`subject=kim&kind=${kind}`);
    expect(idsOf(found)).toEqual(all.map(({ id }) => id));
    expect(await search({ subject: 'kim', kind })).toMatchObject({ totalCount: all.length });
    for (const { kinds } of (await list(`kind=${kind}`)).values) expect(kinds).toContain(kind);
  });

  it('are absent from a transaction by itself', async () => {
    expect(await (await operator.get(`/consents/${kim[0]}`)).json()).not.toHaveProperty('kinds');
  });
});

describe('the pages of a search', () => {
  it('start at 0 and have totals', async () => {
    const first = await search({ subject: 'ann', size: 3 });
    expect(first).toMatchObject({ page: 0, pageSize: 3, totalPages: 2, totalCount: 4 });
    expect(idsOf(first)).toEqual([ann.expired, ann.cancelled, ann.committed]);
    const second = await search({ subject: 'ann', size: 3, page: 1 });
    expect(second).toMatchObject({ page: 1, pageSize: 3, totalPages: 2, totalCount: 4 });
    expect(idsOf(second)).toEqual([ann.created]);
    expect((await search({ subject: 'ann', page: 7 })).values).toEqual([]);
    expect(await search({ subject: 'nobody' })).toEqual({
      values: [],
      page: 0,
      pageSize: 50,
      totalPages: 0,
      totalCount: 0,
    });
  });

  it('have 1 to 200 transactions', async () => {
    expect(await search({ size: 100_000 })).toMatchObject({ pageSize: 200 });
    expect(await search({ size: 0, page: -1 })).toMatchObject({ pageSize: 1, page: 0 });
    for (const body of [{ size: 'ten' }, { page: 1.5 }, { states: 'CREATED' }, []])
      expect((await operator.send('POST', '/transactions', body)).status).toBe(400);
  });

  it('name the members that they do not know', async () => {
    const found = await search({ subjct: 'ann', size: 1, cursor: '' });
    expect(found.warnings?.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/subjct', 'unknown-field'],
    ]);
    expect(await search({ subject: 'ann' })).not.toHaveProperty('warnings');
  });

  it('accept the same filters, and no body', async () => {
    expect(idsOf(await search({ subject: 'ann', states: ['TIMEOUT'] }))).toEqual([ann.expired]);
    expect(await search({ subject: 'ann', states: ['CREATED'], after: '2200-01-01' })).toMatchObject({
      totalCount: 0,
    });
    expect((await operator.send('POST', '/transactions', { states: ['OPEN'] })).status).toBe(422);
    const whole = await operator.send('POST', '/transactions');
    expect(((await whole.json()) as Page).totalCount).toBeGreaterThanOrEqual(4);
  });
});
