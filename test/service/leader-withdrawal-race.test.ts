import { decodeProtectedHeader } from 'jose';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  answered,
  type LeadingInstance,
  questionsOf,
  startLeading,
} from '../support/instances/leader-instance.ts';
import { letter, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

it('answers that meet a withdrawal on their way to the COMMIT are sealed again, and count as given after it', async () => {
  const { subject } = await answered(here);
  const withdrawn = await here.operator.send('POST', '/choices/withdraw', { subject });
  expect(withdrawn.status).toBe(201);
  const made = await createTransaction(here.operator, {
    subject,
    attributes: { order: '2' },
    layoutData: { elements: questionsOf(here) },
  });
  // A withdrawal that is being stored holds the lock of its subject.
  const other = new pg.Client({ connectionString: here.databaseUrl });
  await other.connect();
  await other.query('BEGIN');
  await other.query(`SELECT pg_advisory_xact_lock(hashtext('subject'), hashtext($1))`, [subject]);
  const answers = [here.lab, here.clinic].map((each) => [each.asked('study'), ['accepted']] as const);
  const submitting = subjectOf(here, made).submit({ [letter]: ['accepted'], ...Object.fromEntries(answers) });
  await until(async () => {
    const { rows } = await other.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`);
    expect(rows).not.toEqual([]);
  });
  const {
    rows: [{ at }],
  } = await other.query(
    `UPDATE transactions.transactions SET changed_at = clock_timestamp() WHERE subject = $1 AND kind = 'WITHDRAWAL' RETURNING changed_at AS at`,
    [subject],
  );
  await other.query('COMMIT');
  await other.end();
  expect((await submitting).status).toBe(200);
  for (const partner of [here.lab, here.clinic]) {
    const { sealed } = await here.partOf(made, partner);
    const { iat } = decodeProtectedHeader(sealed as string) as { iat: number };
    expect(iat * 1000).toBeGreaterThanOrEqual((at as Date).getTime());
  }
});
