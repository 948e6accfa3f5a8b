import { decodeProtectedHeader } from 'jose';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import {
  answered,
  type LeadingInstance,
  questionsOf,
  startLeading,
} from '../support/instances/leader-instance.ts';
import { letter, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, type LiveTransaction } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

/** The answers to {@link questionsOf}. */
const toAll = () => ({
  [letter]: ['accepted'],
  ...Object.fromEntries([here.lab, here.clinic].map((each) => [each.asked('study'), ['accepted']])),
});

/**
 * A database transaction that holds the lock of a subject, as the COMMIT of a withdrawal or an erasure does.
 */
async function storeWithdrawal(subject: string): Promise<pg.Client> {
  const other = new pg.Client({ connectionString: here.databaseUrl });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('BEGIN');
  await other.query(`SELECT FROM transactions.subjects WHERE name = $1 FOR NO KEY UPDATE`, [subject]);
  return other;
}

/** Resolves as soon as a statement waits for the lock of a subject. */
const isAwaited = (other: pg.Client) =>
  until(async () => {
    const { rows } = await other.query(
      'SELECT FROM pg_stat_activity AS a WHERE pg_backend_pid() = ANY(pg_blocking_pids(a.pid))',
    );
    expect(rows).not.toEqual([]);
  });

it('answers that meet a withdrawal on their way to the COMMIT are sealed again, and count as given after it', async () => {
  const { subject } = await answered(here);
  const withdrawn = await here.operator.send('POST', '/choices/withdraw', { subject });
  expect(withdrawn.status).toBe(201);
  const made = await createTransaction(here.operator, {
    subject,
    attributes: { order: '2' },
    layoutData: { elements: questionsOf(here) },
  });
  const other = await storeWithdrawal(subject);
  const submitting = subjectOf(here, made).submit(toAll());
  await isAwaited(other);
  const {
    rows: [{ at }],
  } = await other.query(
    `WITH taken AS (
       UPDATE transactions.subjects SET position = nextval('transactions.positions') WHERE name = $1)
     UPDATE transactions.transactions SET changed_at = clock_timestamp() WHERE subject = $1 AND kind = 'WITHDRAWAL' RETURNING changed_at AS at`,
    [subject],
  );
  await other.query('COMMIT');
  expect((await submitting).status).toBe(200);
  for (const partner of [here.lab, here.clinic]) {
    const { sealed } = await here.partOf(made, partner);
    const { iat } = decodeProtectedHeader(sealed as string) as { iat: number };
    expect(iat * 1000).toBeGreaterThanOrEqual((at as Date).getTime());
  }
});

interface Act {
  name: string;
  context: object;
  /** What happens before the withdrawal. */
  prepare?(made: LiveTransaction): Promise<unknown>;
  act(made: LiveTransaction, prepared: unknown): Promise<unknown>;
}

const submit = (made: LiveTransaction) => subjectOf(here, made).submit(toAll());
const acts: Act[] = [
  { name: 'a submission', context: {}, act: submit },
  {
    name: 'a confirmation by a code',
    context: { confirmation: 'FORM_CODE' },
    async prepare(made) {
      await submit(made);
      return ((await (await here.operator.get(`/consents/${made.id}/confirm`)).json()) as { code: string })
        .code;
    },
    act: (made, code) => here.operator.send('POST', `/consents/${made.id}/confirm`, { code }),
  },
  {
    name: 'a verdict on a part',
    context: { peerCommit: 'together' },
    prepare: submit,
    act: (made) => here.say(made, here.lab, { verdict: 'held' }),
  },
  {
    name: 'the creation of a child',
    context: {},
    prepare: submit,
    act: (made) => subjectOf(here, made).post('/child'),
  },
];

it.each(acts)(
  '$name waits for a withdrawal of the person before it locks rows that the withdrawal may change',
  async ({ context, prepare, act }) => {
    const made = await createTransaction(here.operator, {
      ...context,
      layoutData: { elements: questionsOf(here) },
    });
    const prepared = await prepare?.(made);
    const other = await storeWithdrawal(made.subject);
    const acting = act(made, prepared);
    await isAwaited(other);
    // They would wait for each other for ever.
    const rows = ['transactions', 'sent_parts', 'codes'].map(
      (table) =>
        `SELECT FROM transactions.${table} WHERE ${table === 'transactions' ? 'id' : 'transaction'} = $1 FOR UPDATE NOWAIT`,
    );
    for (const statement of rows) await other.query(statement, [made.id]);
    await other.query('ROLLBACK');
    const answer = await acting;
    if (answer instanceof Response) expect(answer.ok).toBe(true);
  },
);
