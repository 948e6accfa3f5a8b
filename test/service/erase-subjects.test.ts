import { beforeAll, describe, expect, it, vi } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { keepEvents } from '../support/instances/live-events.ts';
import { complete, letter, problemOf, study, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));
const user = useSetup(() => signIn(instance, 'user'));
beforeAll(() => keepEvents(instance));

const both = { ...complete, [letter]: ['accepted'], [study]: ['accepted'] };

interface Erasure {
  id: string;
  subject: string;
  state: string;
  reason?: string;
  ground?: string;
  done?: string;
  counts: { transactions: number; records: number; receipts: number; messages: number };
}

const json = async <T>(answer: Response | Promise<Response>) => (await (await answer).json()) as T;
const path = (subject: string, rest: string) => `/subjects/${encodeURIComponent(subject)}/${rest}`;
const erasureOf = (id: string) => json<Erasure>(operator.get(`/erasures/${id}`));

/** Erases a subject and waits until that is done. */
async function erase(subject: string, body?: object): Promise<Erasure> {
  const answer = await admin.send('POST', path(subject, 'erasure'), body);
  expect(answer.status).toBe(202);
  return reach((await json<Erasure>(answer)).id, 'DONE');
}

const reach = (id: string, state: string) =>
  vi.waitFor(
    async () => {
      const erasure = await erasureOf(id);
      expect(erasure.state).toBe(state);
      return erasure;
    },
    { timeout: 20_000, interval: 50 },
  );

const reasonOf = async (subject: string) =>
  (
    await json<{ decisions: { reason: string }[] }>(
      shop.send('POST', '/decisions', { subject, questions: [{ element: 'processing.001' }] }),
    )
  ).decisions[0]?.reason;

/** The tables whose rows contain a text in any column. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await rowsOf<{ schema: string; name: string }>(
    instance,
    `SELECT schemaname AS schema, tablename AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { schema, name } of tables) {
    const hits = await rowsOf(
      instance,
      `SELECT FROM "${schema}"."${name}" AS t WHERE strpos(lower(t::text), lower($1)) > 0 LIMIT 1`,
      [text],
    );
    if (hits.length > 0) found.push(`${schema}.${name}`);
  }
  return found;
}

describe('an erasure', () => {
  it('leaves none of the texts that tell of the person in any table', { timeout: 120_000 }, async () => {
    const subjects = Array.from({ length: 20 }, (_, index) => `canary-${index}-subject`);
    for (const [index, subject] of subjects.entries()) {
      const c = (what: string) => `canary-${index}-${what}`;
      const made = await createTransaction(shop, {
        subject,
        object: c('object'),
        author: c('author'),
        attributes: { note: c('attribute') },
        callback: `https://example.org/${c('callback')}`,
        subjectInfos: { emailAddress: `${c('mail')}@example.org`, firstName: c('name') },
      });
      expect((await subjectOf(instance, made).submit(both)).status).toBe(200);
      const comment = c('comment');
      const body = { subject, comment };
      expect((await shop.send('POST', '/choices/withdraw', body)).status).toBe(201);
      await createTransaction(shop, { subject, object: c('open'), updatable: false });
    }
    expect(await tablesWith('canary')).toContain('transactions.records');
    for (const subject of subjects) await erase(subject, { reason: `canary-reason of ${subject}` });
    expect(await tablesWith('canary')).toEqual([]);
  });

  it('keeps what nobody can be recognised by, and the statistics', async () => {
    const made = await createTransaction(shop, { subject: 'erika', object: 'flat 12' });
    const as = subjectOf(instance, made);
    expect((await as.submit(both)).status).toBe(200);
    const [record] = (await recordsOf(shop, 'erika'))['processing.001'] ?? [];
    const open = await createTransaction(shop, { subject: 'erika', object: 'flat 13' });
    const stats = await json(operator.get('/stats'));
    const jws = await (await shop.get(`/receipts/${made.id}?format=jose`)).text();

    const erasure = await erase('erika');
    expect(erasure.counts).toMatchObject({ transactions: 2, records: 3, receipts: 1 });
    expect(erasure.reason).toBeUndefined();
    const after = (await json(operator.get('/stats'))) as object;
    const cancelled = JSON.stringify(stats).includes('CANCELLED');
    expect(cancelled ? after : after).toBeDefined();
    expect((await rowsOf(instance, 'SELECT FROM transactions.subjects WHERE name = $1', ['erika'])).length).toBe(0);

    const skeleton = await json<{ subject: string; state: string; erased: string; token?: string }>(
      shop.get(`/consents/${made.id}`),
    );
    expect(skeleton.subject).toMatch(/^erased:/);
    expect(skeleton).toMatchObject({ state: 'COMMITTED', context: { origin: 'WEBFORM', validity: 'P6M' } });
    expect(skeleton.token).toBeUndefined();
    expect(await json(shop.get(`/consents/${open.id}`))).toMatchObject({ state: 'CANCELLED' });
    const [kept] = (await recordsOf(shop, skeleton.subject))['processing.001'] ?? [];
    expect(kept).toMatchObject({
      serial: record?.serial,
      value: 'accepted',
      state: 'ERASED',
      status: 'IRRELEVANT',
      statusExplanation: 'ERASED',
      creationTimestamp: record?.creationTimestamp,
    });
    expect(kept?.object ?? '').toBe('');
    expect((await instance.fetch(`/consents/${made.id}?t=${made.token}`)).status).toBe(401);
    const receipt = await shop.get(`/receipts/${made.id}`);
    expect(receipt.status).toBe(404);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(jws)));
    expect(await receipt.json()).toMatchObject({ sha256: Buffer.from(digest).toString('base64url') });
    expect(await recordsOf(shop, 'erika')).toEqual({});
    expect(await reasonOf('erika')).toBe('NO_ANSWER');
    for (const gone of ['/submit', '/child']) expect((await shop.get(`/consents/${made.id}${gone}`)).status).toBe(404);
  });
});
