import { describe, expect, it, vi } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { holdUp } from '../support/instances/held-up.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { complete, letter, study, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));

const both = { ...complete, [letter]: ['accepted'], [study]: ['accepted'] };
const json = async <T>(answer: Promise<Response>) => (await (await answer).json()) as T;
const isDone = (id: string) =>
  vi.waitFor(async () => expect(await json(admin.get(`/erasures/${id}`))).toMatchObject({ state: 'DONE' }), {
    timeout: 20_000,
    interval: 50,
  });

describe('answers that arrive while their subject is erased', () => {
  it('are erased or those of a new subject, and never half of each', { timeout: 60_000 }, async () => {
    for (let round = 0; round < 6; round += 1) {
      const subject = `racer ${round}`;
      const { id: before } = await recordAnswers(shop, subject, { [letter]: ['accepted'] });
      const open = await createTransaction(shop, { subject, object: 'open' });
      const as = subjectOf(instance, open);
      const { id: reference } = await json<{ id: string }>(
        shop.get(`/subjects/${encodeURIComponent(subject)}`),
      );
      const [twice, submitted, later] = await Promise.all([
        Promise.all(
          [1, 2].map(() => json<{ id?: string }>(admin.send('POST', `/subjects/${reference}/erasure`))),
        ),
        as.submit(both),
        ...[1, 2, 3].map((object) =>
          recordAnswers(shop, subject, { [letter]: ['accepted'] }, { object: `${object}` }),
        ),
      ]);
      expect([200, 401, 404, 409]).toContain(submitted.status);
      // A request that comes after the end finds no subject.
      const [id, ...others] = new Set(twice.flatMap((each) => each.id ?? []));
      expect(others).toEqual([]);
      await isDone(id ?? '');
      const rows = await rowsOf<{ mixed: boolean }>(
        instance,
        `SELECT t.subject <> r.subject OR (t.erased_at IS NULL) <> (r.state <> 'ERASED') AS mixed
           FROM transactions.records AS r JOIN transactions.transactions AS t ON t.id = r.transaction
          WHERE t.id = ANY($1)`,
        [[before, open.id, later?.id]],
      );
      expect(rows.filter(({ mixed }) => mixed)).toEqual([]);
      const left = await rowsOf(
        instance,
        `SELECT FROM transactions.transactions AS t
          WHERE t.subject = $1 AND NOT EXISTS (SELECT FROM transactions.subjects AS s WHERE s.name = t.subject)`,
        [subject],
      );
      expect(left).toEqual([]);
      expect((await shop.get(`/subjects/${reference}`)).status).toBe(404);
    }
  });
});

describe('equal contexts whose claim an erasure deletes at the same moment', () => {
  it('have one open transaction, which later ones return', async () => {
    const subject = 'claimant';
    const { id: ended } = await createTransaction(shop, { subject });
    await shop.send('POST', `/consents/${ended}/cancel`);
    const context = { subject, layout: 'layout.001' };
    const create = () => json<{ id: string }>(shop.send('POST', '/consents', context));
    const lock = `SELECT FROM transactions.subjects WHERE name = '${subject}' FOR NO KEY UPDATE`;
    const held = await holdUp(instance, lock, 'accord-transactions');
    // Both have found the claim, and wait for the subject.
    const creating = [create(), create()];
    await held.waiting(2);
    await runInDatabase(instance, 'DELETE FROM transactions.context_claims WHERE transaction = $1', [ended]);
    await held.release();
    const made = [...(await Promise.all(creating)), await create()];
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  });
});
