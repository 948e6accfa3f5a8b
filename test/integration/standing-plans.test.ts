import { describe, expect, it } from 'vitest';
import { countRows, readPlans } from '../../bench/read-plans.ts';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { letter, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const key = 'processing.001';
const earlier = 5_000;

/**
 * Answers of a person to the question before the one in force, a minute apart; and four times as many answers
 * of others to another question.
 */
async function answerOften(subject: string): Promise<void> {
  await runInDatabase(instance, `SELECT setval('transactions.positions', 100000)`);
  const first = await recordAnswers(shop, subject, { [letter]: ['accepted'] });
  await recordAnswers(shop, subject, { [letter]: ['refused'] });
  await runInDatabase(
    instance,
    `INSERT INTO transactions.records
       (id, transaction, subject, object, key, type, serial, info_key, info_serial, value, positions, state, origin,
        author, created_at, committed_at, expires_at, position, from_position, from_at, until_position, until_at)
     SELECT gen_random_uuid(), '${first.id}', r.subject, r.object, r.key, r.type, r.serial, r.info_key, r.info_serial,
            r.value, r.positions, r.state, r.origin, r.author, n.at, n.at, r.expires_at,
            r.position - n.number - 1, r.from_position - n.number - 1, n.at, r.from_position - n.number, n.at + interval '1 minute'
       FROM transactions.records AS r, LATERAL (
            SELECT number, r.committed_at - (1 + number) * interval '1 minute' AS at
              FROM generate_series(1, ${earlier}) AS g (number)) AS n
      WHERE r.subject = '${subject}' AND r.until_position IS NULL`,
  );
  await runInDatabase(
    instance,
    `INSERT INTO transactions.records
       (id, transaction, subject, object, key, type, serial, info_key, info_serial, value, positions, state, origin,
        author, created_at, committed_at, expires_at, position, from_position, from_at)
     SELECT gen_random_uuid(), r.transaction, 'other-' || n.number, r.object, 'other', r.type, r.serial, r.info_key,
            r.info_serial, r.value, r.positions, r.state, r.origin, r.author, r.created_at, r.committed_at, r.expires_at,
            n.number, n.number, r.committed_at
       FROM transactions.records AS r, generate_series(1, ${4 * earlier}) AS n (number)
      WHERE r.subject = '${subject}' AND r.until_position IS NULL`,
  );
  await runInDatabase(instance, 'ANALYZE transactions.records');
}

const decide =
  (subject: string, question: object = {}) =>
  async () => {
    const body = { subject, questions: [{ element: key, ...question }] };
    expect((await shop.send('POST', '/decisions', body)).status).toBe(200);
  };
const yesterday = () => new Date(Date.now() - 86_400_000).toISOString();

describe('for a person who has answered a question thousands of times', () => {
  const subject = 'often';
  useSetup(async () => {
    await answerOften(subject);
    return {};
  });

  it.each([
    ['a decision of now', () => decide(subject)],
    ['a decision of another time', () => decide(subject, { asOf: yesterday() })],
    ['a decision by its position', () => decide(subject, { asOf: yesterday(), position: 98_000 })],
    [
      'a form with its answers',
      () => async () => {
        const context = { subject, layoutData: { elements: [key] }, attributes: { form: 'plans' } };
        const made = subjectOf(instance, await createTransaction(shop, context));
        expect((await made.form()).elements).toHaveLength(1);
        expect((await made.submit({ [letter]: ['refused'] })).status).toBe(200);
      },
    ],
    [
      'a withdrawal',
      () => async () => {
        await recordAnswers(shop, subject, { [letter]: ['accepted'] });
        expect((await shop.send('POST', '/choices/withdraw', { subject })).status).toBe(201);
      },
    ],
  ])('%s looks at a few records by an index', async (_what, act) => {
    const { statements, read, sorted } = await countRows(instance.databaseUrl, 'records', act());
    expect(statements).toBeGreaterThan(0);
    expect(read).toBeLessThan(50);
    expect(sorted).toBeLessThan(50);
  });

  it('statistics read a question by its index', async () => {
    const count = async () => {
      expect((await shop.get(`/stats/valid?keys=${key}`)).status).toBe(200);
    };
    const plans = await readPlans(instance.databaseUrl, count);
    const ofRecords = plans.filter(({ text }) => text.includes('FROM records'));
    for (const { readWhole, indexes } of ofRecords)
      expect({ readWhole, indexes }).toEqual({
        readWhole: [],
        indexes: expect.arrayContaining(['records_key']),
      });
    expect(ofRecords.length).toBeGreaterThan(1);
  });
});
