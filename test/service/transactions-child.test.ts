import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import {
  complete,
  type LiveForm,
  letter,
  problemOf,
  subjectOf,
  transactionIn,
} from '../support/instances/live-subject.ts';
import { createTransaction, expire, recordsOf } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

interface Child {
  id: string;
  token: string;
  parent: string;
  state: string;
}

const committed = async (context = {}) => {
  const transaction = await createTransaction(shop, context);
  const subject = subjectOf(instance, transaction);
  await subject.submit();
  return { transaction, subject };
};
const childOf = async ({ subject }: { subject: ReturnType<typeof subjectOf> }) => {
  const answer = await subject.post('/child');
  return {
    status: answer.status,
    location: answer.headers.get('location'),
    ...((await answer.json()) as Child),
  };
};
const saidTo = async (answer: Promise<Response>) => (await problemOf(await answer)).said;

describe('a child', () => {
  it('is a new transaction with the context of a final one', async () => {
    const parent = await committed({ object: 'account 7', attributes: { campaign: 'spring' } });
    const child = await childOf(parent);
    expect(child).toMatchObject({ status: 201, state: 'CREATED', parent: parent.transaction.id });
    expect(child.location).toBe(`${instance.url}/consents/${child.id}?t=${child.token}`);
    const contextOf = async (id: string) => (await shop.get(`/consents/${id}/context`)).json();
    expect(await contextOf(child.id)).toEqual(await contextOf(parent.transaction.id));
  });

  it('is not created from a transaction that is erased while the request waits', async () => {
    const { transaction, subject } = await committed({ object: 'account 8' });
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    await client.query(
      `BEGIN; SELECT FROM transactions.subjects WHERE name = '${transaction.subject}' FOR NO KEY UPDATE`,
    );
    const answer = subject.post('/child');
    const waiting = `SELECT FROM pg_stat_activity
                      WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`;
    await until(async () => expect(await rowsOf(instance, waiting)).toHaveLength(1));
    await client.query(
      `UPDATE transactions.transactions SET erased_at = now(), subject = 'nobody', token_epoch = token_epoch + 1 WHERE id = $1`,
      [transaction.id],
    );
    await client.query('COMMIT');
    await client.end();
    expect((await answer).status).toBe(401);
    const children = 'SELECT FROM transactions.transactions WHERE subject = $1';
    expect(await rowsOf(instance, children, [transaction.subject])).toEqual([]);
  });

  it('shows earlier answers, and its own answers replace them', async () => {
    const parent = await committed();
    const child = subjectOf(instance, await childOf(parent));
    const { elements } = await child.form();
    expect(elements.map(({ previous }) => previous?.answers)).toEqual([
      ['accepted'],
      ['refused'],
      ['Every week'],
    ]);
    expect((await child.submit({ ...complete, [letter]: ['refused'] })).status).toBe(200);
    const records = await recordsOf(shop, parent.transaction.subject);
    expect(records['processing.001']?.map(({ value, status }) => `${value} ${status}`)).toEqual([
      'refused VALID',
      'accepted OBSOLETE',
    ]);
  });

  it('is returned again while it is open', async () => {
    const parent = await committed();
    const asked = await Promise.all(Array.from({ length: 20 }, () => childOf(parent)));
    expect(asked.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    expect(await childOf(parent)).toMatchObject({ status: 200, id: asked[0]?.id });
  });

  it('is followed by another one when it is final', async () => {
    const parent = await committed();
    const first = await childOf(parent);
    await subjectOf(instance, first).submit();
    const second = await childOf(parent);
    await shop.send('POST', `/consents/${second.id}/cancel`);
    const third = await childOf(parent);
    await expire(instance, third);
    const fourth = await childOf(parent);
    expect([first, second, third, fourth].map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set([first, second, third, fourth].map(({ id }) => id)).size).toBe(4);
  });

  it('can be created for a cancelled or expired transaction and for another child', async () => {
    const cancelled = await createTransaction(shop);
    await shop.send('POST', `/consents/${cancelled.id}/cancel`);
    const late = await createTransaction(shop);
    await expire(instance, late);
    const child = await childOf(await committed());
    await subjectOf(instance, child).submit();
    for (const parent of [cancelled, late, child])
      expect((await childOf({ subject: subjectOf(instance, parent) })).status).toBe(201);
  });

  it('has its creator as author', async () => {
    const operator = await signIn(instance, 'operator');
    const authorOf = async (id: string) => (await transactionIn(shop.get(`/consents/${id}`))).author;
    const { transaction } = await committed({ author: 'the desk' });
    const asked = await operator.send('POST', `/consents/${transaction.id}/child`);
    expect(await authorOf(((await asked.json()) as Child).id)).toBe('operator');
    const parent = await committed();
    expect(await authorOf((await childOf(parent)).id)).toBe(parent.transaction.subject);
  });

  it('is in the language of its creator', async () => {
    const { transaction } = await committed({ language: 'fr' });
    const asked = await shop.send('POST', `/consents/${transaction.id}/child`, undefined, {
      'Accept-Language': 'ar',
    });
    const child = (await asked.json()) as Child;
    const page = await instance.fetch(`/consents/${child.id}/submit?t=${child.token}`, {
      headers: { 'Accept-Language': 'ar' },
    });
    expect(((await page.json()) as LiveForm).language).toBe('ar');
  });
});

describe('no child', () => {
  it('is created for a transaction that is not final or not updatable', async () => {
    const open = await createTransaction(shop);
    expect(await saidTo(subjectOf(instance, open).post('/child'))).toBe('409 wrong-state');
    const { transaction, subject } = await committed({ updatable: false });
    expect(await saidTo(subject.post('/child'))).toBe('409 wrong-state');
    expect(await saidTo(shop.send('POST', `/consents/${transaction.id}/child`))).toBe('409 wrong-state');
  });

  it('is created for other users', async () => {
    const { transaction } = await committed();
    const { token } = await createTransaction(shop);
    const stranger = subjectOf(instance, { id: transaction.id, token });
    expect(await saidTo(stranger.post('/child'))).toBe('404 not-found');
    const user = await signIn(instance, 'user');
    expect(await saidTo(user.send('POST', `/consents/${transaction.id}/child`))).toBe('404 not-found');
  });

  it('is created by GET: clients get the open one or 404, browsers a page with one button', async () => {
    const parent = await committed();
    expect(await saidTo(parent.subject.get('/child'))).toBe('404 not-found');
    const page = await parent.subject.get('/child', 'text/html');
    const text = await page.text();
    expect(page.status).toBe(200);
    // Another withdraws the consent.
    expect(text.match(/action="[^"]*\/child\?/g)).toHaveLength(1);
    expect(await saidTo(parent.subject.get('/child'))).toBe('404 not-found');
    const { id } = await childOf(parent);
    expect(await (await parent.subject.get('/child')).json()).toMatchObject({ id, state: 'CREATED' });
  });
});

describe('a browser that asks for a child', () => {
  it('is redirected to its form', async () => {
    const { subject } = await committed();
    const asked = await subject.post('/child', 'text/html');
    expect(asked.status).toBe(303);
    const html = { headers: { Accept: 'text/html' } };
    const root = await instance.fetch(asked.headers.get('location') as string, html);
    const form = await instance.fetch(root.headers.get('location') as string, html);
    expect([form.status, await form.text()]).toEqual([200, expect.stringContaining('The programme letter')]);
  });
});
