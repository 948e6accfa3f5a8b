import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Caller, createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { complete, letter, problemOf, transactionIn } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordsOf,
} from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
const shop: Caller = useSetup(() => createKey(instance));

const submit = ({ id }: LiveTransaction, answers = complete) =>
  shop.send('POST', `/consents/${id}/submit`, answers);
const confirm = ({ id }: LiveTransaction, code: unknown) =>
  shop.send('POST', `/consents/${id}/confirm`, { code });
const resend = ({ id }: LiveTransaction) => shop.send('POST', `/consents/${id}/confirm/resend`);

interface Status {
  type: string;
  code: string;
  triesLeft: number;
  codesLeft: number;
  expires: string;
  resendAfter: string;
}

const statusOf = async ({ id }: LiveTransaction) =>
  (await (await shop.get(`/consents/${id}/confirm`)).json()) as Status;
const stateOf = async ({ id }: LiveTransaction) =>
  (await transactionIn(await shop.get(`/consents/${id}`))).state;

/** A transaction whose answers await the code that its page shows. */
async function submitted(context: Record<string, unknown> = {}) {
  const made = await createTransaction(shop, { confirmation: 'FORM_CODE', ...context });
  expect((await submit(made)).status).toBe(200);
  return made;
}

let hours = 0;
let seconds = 0;
/** Moves the clock of the service. */
const pass = async (more: { hours?: number; seconds?: number }) => {
  hours += more.hours ?? 0;
  seconds += more.seconds ?? 0;
  await letTimePass(instance, `${hours} hours ${seconds} seconds`);
};

const shownCodesOf = ({ id }: LiveTransaction) =>
  rowsOf(instance, 'SELECT FROM transactions.codes WHERE transaction = $1 AND sealed IS NOT NULL', [id]);

/** Six digits that are not the code. */
const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

/** A statement that takes the lock of a withdrawal or an erasure of the person. */
const withdrawalOf = ({ subject }: LiveTransaction) =>
  `SELECT FROM transactions.subjects WHERE name = '${subject}' FOR NO KEY UPDATE`;

/** A database transaction that has run a statement, and holds what it locked. */
async function holding(statement: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: instance.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  await client.query(statement);
  return client;
}

/** Resolves as soon as a statement of another connection waits for what a client holds. */
const isAwaited = (client: pg.Client) =>
  until(async () => {
    const { rows } = await client.query(
      'SELECT FROM pg_stat_activity AS a WHERE pg_backend_pid() = ANY(pg_blocking_pids(a.pid))',
    );
    expect(rows).not.toEqual([]);
  });

describe('answers that await a code', () => {
  it('are SUBMITTED with the task to confirm, and in force with the right code', async () => {
    const made = await createTransaction(shop, { confirmation: 'FORM_CODE' });
    const answer = await transactionIn(await submit(made));
    const task = `${instance.url}/consents/${made.id}/confirm`;
    expect(answer).toMatchObject({ state: 'SUBMITTED', task });
    expect(answer.links.confirm).toContain(`${task}?t=`);
    expect((await shop.get(`/receipts/${made.id}`)).status).toBe(404);
    const status = await statusOf(made);
    expect(status).toMatchObject({ type: 'FORM_CODE', triesLeft: 5, codesLeft: 2 });
    const done = await transactionIn(await confirm(made, status.code));
    expect(done).toMatchObject({ state: 'COMMITTED' });
    expect(done).not.toHaveProperty('task');
    const records = await recordsOf(shop, made.subject);
    expect(records['processing.001']).toMatchObject([{ status: 'VALID', state: 'COMMITTED' }]);
    const receipt = (await (await shop.get(`/receipts/${made.id}`)).json()) as { confirmation: object };
    expect(receipt.confirmation).toEqual({ type: 'FORM_CODE', confirmedAt: expect.any(String) });
  });

  it('are not in force before, and cannot be changed', async () => {
    const made = await submitted();
    expect(await recordsOf(shop, made.subject)).toMatchObject({
      'processing.001': [{ state: 'PENDING', statusExplanation: 'STILL_PENDING' }],
    });
    expect((await submit(made)).status).toBe(200);
    const changed = await problemOf(await submit(made, { ...complete, [letter]: ['refused'] }));
    expect(changed).toMatchObject({ said: '409 wrong-state', state: 'SUBMITTED' });
    expect(changed.task).toContain('/confirm');
  });

  it('cannot be confirmed before they are submitted; a browser is led to the form', async () => {
    const made = await createTransaction(shop, { confirmation: 'FORM_CODE' });
    const requests = [shop.get(`/consents/${made.id}/confirm`), confirm(made, '123456'), resend(made)];
    for (const answer of await Promise.all(requests))
      expect(await problemOf(answer)).toMatchObject({ said: '409 wrong-state', state: 'CREATED' });
    const page = await instance.fetch(`/consents/${made.id}/confirm?t=${made.token}`, {
      headers: { Accept: 'text/html' },
      redirect: 'manual',
    });
    expect(page.status).toBe(303);
    expect(page.headers.get('location')).toContain(`/consents/${made.id}?t=`);
  });

  it.each([
    ['a list with one text', (code: string) => ({ code: [code] })],
    ['the name that existing clients send', (code: string) => ({ ConfirmCodeValue: code })],
    ['spaces', (code: string) => ({ code: ` ${code.slice(0, 3)} ${code.slice(3)} ` })],
    [
      'Arabic digits',
      (code: string) => ({ code: code.replaceAll(/\d/g, (d) => '٠١٢٣٤٥٦٧٨٩'.charAt(Number(d))) }),
    ],
  ])('are confirmed with %s', async (_what, write) => {
    const made = await submitted();
    const { code } = await statusOf(made);
    expect((await shop.send('POST', `/consents/${made.id}/confirm`, write(code))).status).toBe(200);
    expect(await stateOf(made)).toBe('COMMITTED');
  });

  it('are confirmed once: the same code succeeds again, another code is a conflict', async () => {
    const made = await submitted();
    const { code } = await statusOf(made);
    const answers = await Promise.all(Array.from({ length: 5 }, () => confirm(made, code)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await confirm(made, code)).status).toBe(200);
    expect(await problemOf(await confirm(made, other(code)))).toMatchObject({ said: '409 wrong-state' });
    expect((await recordsOf(shop, made.subject))['processing.001']).toHaveLength(1);
  });

  it('are cancelled like those of an open transaction, and the code that the page shows is erased', async () => {
    const made = await submitted();
    const { code } = await statusOf(made);
    expect(await shownCodesOf(made)).toHaveLength(1);
    expect((await shop.send('POST', `/consents/${made.id}/cancel`)).status).toBe(200);
    expect(await stateOf(made)).toBe('CANCELLED');
    expect(await shownCodesOf(made)).toEqual([]);
    expect(await problemOf(await confirm(made, code))).toMatchObject({ said: '409 wrong-state' });
  });

  it('time out with their transaction, and the code that the page shows is erased', async () => {
    const made = await submitted({ timeout: 'PT1H' });
    const { code } = await statusOf(made);
    await pass({ hours: 2 });
    expect(await problemOf(await confirm(made, code))).toMatchObject({
      said: '410 expired',
      state: 'TIMEOUT',
    });
    expect((await problemOf(await confirm(made, '12345'))).said).toBe('410 expired');
    expect((await problemOf(await resend(made))).said).toBe('410 expired');
    expect((await problemOf(await shop.get(`/consents/${made.id}/confirm`))).said).toBe('409 wrong-state');
    expect(await stateOf(made)).toBe('TIMEOUT');
    await vi.waitFor(async () => expect(await shownCodesOf(made)).toEqual([]), { timeout: 20_000 });
  });
});

describe('a code', () => {
  it('that is wrong uses an attempt; an entry that is not six digits uses none', async () => {
    const made = await submitted();
    const { code } = await statusOf(made);
    expect(await problemOf(await confirm(made, '12345'))).toMatchObject({ said: '422 invalid' });
    expect(await problemOf(await confirm(made, other(code)))).toMatchObject({
      said: '422 confirmation-failed',
      triesLeft: 4,
      codesLeft: 2,
    });
    expect(await statusOf(made)).toMatchObject({ triesLeft: 4, codesLeft: 2 });
  });

  it('is evaluated five times at most, however many guesses come at once', async () => {
    const made = await submitted();
    const { code } = await statusOf(made);
    const guesses = await Promise.all(Array.from({ length: 20 }, () => confirm(made, other(code))));
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([422]));
    const [row] = await rowsOf(instance, 'SELECT tries FROM transactions.codes WHERE transaction = $1', [
      made.id,
    ]);
    expect(row).toEqual({ tries: 5 });
    expect(await problemOf(await confirm(made, code))).toMatchObject({
      said: '422 confirmation-failed',
      triesLeft: 0,
    });
    expect(await stateOf(made)).toBe('SUBMITTED');
  });

  it('is replaced by the next one after half a minute, and the third is the last', async () => {
    const made = await submitted();
    const { code: first } = await statusOf(made);
    const early = await resend(made);
    expect(early.status).toBe(429);
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(25);
    await pass({ seconds: 31 });
    expect((await resend(made)).status).toBe(202);
    const { code: second, codesLeft } = await statusOf(made);
    expect(codesLeft).toBe(1);
    if (first !== second) expect((await confirm(made, first)).status).toBe(422);
    await pass({ seconds: 31 });
    expect((await resend(made)).status).toBe(202);
    await pass({ seconds: 31 });
    expect(await problemOf(await resend(made))).toMatchObject({ said: '409 wrong-state' });
    const { code } = await statusOf(made);
    for (let guess = 0; guess < 4; guess += 1) expect((await confirm(made, other(code))).status).toBe(422);
    expect(await problemOf(await confirm(made, other(code)))).toMatchObject({
      said: '409 wrong-state',
      state: 'ROLLBACK',
    });
    expect((await confirm(made, code)).status).toBe(409);
    expect(await recordsOf(shop, made.subject)).toMatchObject({
      'processing.001': [{ statusExplanation: 'ROLLED_BACK' }],
    });
  });

  it('that is replaced while it is confirmed is wrong, and the next one has all its attempts', async () => {
    const made = await submitted();
    const { code: first } = await statusOf(made);
    await pass({ seconds: 31 });
    // The confirmation waits for a withdrawal of the person; the next code does not.
    const withdrawal = await holding(withdrawalOf(made));
    const confirming = confirm(made, first);
    await isAwaited(withdrawal);
    expect((await resend(made)).status).toBe(202);
    await withdrawal.query('ROLLBACK');
    expect(await problemOf(await confirming)).toMatchObject({
      said: '422 confirmation-failed',
      triesLeft: 5,
    });
    expect((await confirm(made, (await statusOf(made)).code)).status).toBe(200);
  });

  it('confirms with its last attempt, also if the same request comes twice at the same moment', async () => {
    const made = await submitted();
    for (const _ of ['second', 'third']) {
      await pass({ seconds: 31 });
      await resend(made);
    }
    await runInDatabase(instance, 'UPDATE transactions.codes SET tries = 4 WHERE transaction = $1', [
      made.id,
    ]);
    const { code } = await statusOf(made);
    const withdrawal = await holding(withdrawalOf(made));
    const confirming = confirm(made, code);
    await isAwaited(withdrawal);
    expect(await problemOf(await confirm(made, code))).toMatchObject({
      said: '422 confirmation-failed',
      detail: 'The code was entered wrongly too often.',
      codesLeft: 0,
    });
    await withdrawal.query('ROLLBACK');
    expect([(await confirming).status, await stateOf(made)]).toEqual([200, 'COMMITTED']);
  });

  it('that replaces another one during an attempt keeps all its attempts', async () => {
    const made = await submitted();
    const { code: former } = await statusOf(made);
    const replacing = await holding(
      `UPDATE transactions.codes SET number = number + 1 WHERE transaction = '${made.id}'`,
    );
    const confirming = confirm(made, former);
    await isAwaited(replacing);
    await replacing.query('COMMIT');
    expect((await confirming).status).toBe(422);
    const tries = 'SELECT tries FROM transactions.codes WHERE transaction = $1';
    expect(await rowsOf(instance, tries, [made.id])).toEqual([{ tries: 0 }]);
  });

  it('is locked after its transaction, as by a cancellation', async () => {
    const made = await submitted();
    const { code } = await statusOf(made);
    const cancelling = await holding(
      `SELECT FROM transactions.transactions WHERE id = '${made.id}' FOR UPDATE`,
    );
    const confirming = confirm(made, code);
    await isAwaited(cancelling);
    await cancelling.query('SELECT FROM transactions.codes WHERE transaction = $1 FOR UPDATE NOWAIT', [
      made.id,
    ]);
    await cancelling.query('ROLLBACK');
    expect((await confirming).status).toBe(200);
  });

  it('expires, and another code confirms the answers', async () => {
    const made = await submitted();
    const { code } = await statusOf(made);
    await pass({ seconds: 660 });
    expect(await problemOf(await confirm(made, code))).toMatchObject({
      said: '422 confirmation-failed',
      detail: 'The code has expired. Request another one.',
    });
    await resend(made);
    expect((await confirm(made, (await statusOf(made)).code)).status).toBe(200);
  });

  it('that is the last and has expired ends the answers, although nobody tries', {
    timeout: 30_000,
  }, async () => {
    const made = await submitted();
    for (const _ of ['second', 'third']) {
      await pass({ seconds: 31 });
      await resend(made);
    }
    const { code } = await statusOf(made);
    await pass({ seconds: 600 });
    expect(await problemOf(await confirm(made, code))).toMatchObject({
      said: '422 confirmation-failed',
      detail: 'The code has expired.',
      codesLeft: 0,
    });
    expect(await stateOf(made)).toBe('SUBMITTED');
    await pass({ seconds: 10 });
    await until(async () => expect(await stateOf(made)).toBe('ROLLBACK'));
    expect(
      await rowsOf(instance, 'SELECT FROM transactions.codes WHERE transaction = $1', [made.id]),
    ).toEqual([]);
    expect((await shop.send('POST', `/consents/${made.id}/child`)).status).toBe(201);
    expect((await problemOf(await confirm(made, code))).said).toBe('409 wrong-state');
  });
});

it('the page says that a newer code was sent where the problem document does', async () => {
  const made = await submitted();
  const first = (await statusOf(made)).code;
  const enter = (code: string) =>
    instance.fetch(`/consents/${made.id}/confirm?t=${made.token}`, {
      method: 'POST',
      headers: { Accept: 'text/html' },
      body: new URLSearchParams({ code }),
    });
  expect(await (await enter(other(first))).text()).toContain('This code is not correct');
  await pass({ seconds: 60 });
  expect((await resend(made)).status).toBe(202);
  const { code, triesLeft } = await statusOf(made);
  const old = first === code ? other(code) : first;
  const page = await enter(old);
  expect(page.status).toBe(422);
  const html = await page.text();
  expect(html).toContain('This is not the newest code');
  expect(html).toContain('A newer code was sent');
  expect((await statusOf(made)).triesLeft).toBe(triesLeft - 1);
  const problem = await problemOf(await confirm(made, old));
  expect(problem).toMatchObject({ triesLeft: triesLeft - 2, errors: [{ detail: 'is not the newest code' }] });
});
