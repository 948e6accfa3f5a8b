import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { type LeadingInstance, questionsOf, startLeading } from '../support/instances/leader-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter, type Representation, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

type Made = Representation & { url: string; task: string };

/** A transaction with parts for both peers, which awaits the code that its page shows. */
async function submitted(peerCommit: 'independent' | 'together'): Promise<Made> {
  const layoutData = { elements: questionsOf(here) };
  const made = await createTransaction(here.operator, { peerCommit, layoutData, confirmation: 'FORM_CODE' });
  const answer = await subjectOf(here, made).submit({
    [letter]: ['accepted'],
    [here.lab.asked('study')]: ['accepted'],
    [here.clinic.asked('study')]: ['refused'],
  });
  expect(answer.status).toBe(200);
  return { ...made, ...(await transactionIn(answer)), task: made.task };
}

const statesOf = async (made: Made) => {
  const { state, followers } = await here.followersOf(made);
  return [state, ...followers.map((follower) => follower.state)];
};

/** Types of the events about the parts of a transaction. */
async function toldOf(made: Made): Promise<string[]> {
  const parts = await Promise.all([here.lab, here.clinic].map((peer) => here.partOf(made, peer)));
  const told = await Promise.all(parts.map(({ sid }) => here.toldOf(sid)));
  return told.flat().map(({ type }) => type);
}

async function codeOf({ id }: { id: string }): Promise<string> {
  return ((await (await here.operator.get(`/consents/${id}/confirm`)).json()) as { code: string }).code;
}

async function confirm({ id }: { id: string }, wanted?: string) {
  const code = await codeOf({ id });
  const other = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  return here.operator.send('POST', `/consents/${id}/confirm`, { code: wanted === 'wrong' ? other : code });
}

const released = 'io.accord.submission.released.v1';

describe('parts for peers in a transaction that awaits a code', () => {
  it('that are rolled back, because one of them was withdrawn, were never sent: no owner is asked to erase them', async () => {
    const made = await submitted('together');
    const admin = await signIn(here, 'admin');
    const { subject } = made;
    const one = await admin.send('POST', '/choices/withdraw', { subject, peers: [here.lab.url] });
    expect(one.status).toBe(201);
    const code = await codeOf(made);
    // Twice: a client whose reply was lost sends the code again.
    for (const _ of ['once', 'again']) {
      const answer = await here.operator.send('POST', `/consents/${made.id}/confirm`, { code });
      expect([answer.status, (await transactionIn(answer)).state]).toEqual([200, 'ROLLBACK']);
    }
    expect(await statesOf(made)).toEqual(['ROLLBACK', 'DROPPED', 'DROPPED']);
    const erasure = await transactionIn(admin.send('POST', `/subjects/${subject}/erasure`));
    await vi.waitFor(async () =>
      expect(await transactionIn(admin.get(`/erasures/${erasure.id}`))).toMatchObject({
        state: 'DONE',
        peers: [],
      }),
    );
    expect(await here.toldOf((await here.partOf(made, here.clinic)).sid)).toEqual([]);
  });

  it.each(['independent', 'together'] as const)(
    'that are withdrawn while the code is being confirmed are not sent (%s)',
    async (mode) => {
      const made = await submitted(mode);
      const { subject } = made;
      const code = await codeOf(made);
      const gate = new pg.Client({ connectionString: here.databaseUrl });
      await gate.connect();
      onTestFinished(() => gate.end());
      await gate.query('BEGIN');
      await gate.query('SELECT FROM transactions.subjects WHERE name = $1 FOR NO KEY UPDATE', [subject]);
      const areWaiting = (count: number) =>
        until(async () => {
          const waiting = await rowsOf(
            here,
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          expect(waiting).toHaveLength(count);
        });
      const withdrawn = here.operator.send('POST', '/choices/withdraw', { subject });
      await areWaiting(1);
      const confirmed = here.operator.send('POST', `/consents/${made.id}/confirm`, { code });
      await areWaiting(2);
      await gate.query('COMMIT');
      expect((await withdrawn).status).toBe(201);
      expect((await confirmed).status).toBe(200);
      const state = mode === 'together' ? 'ROLLBACK' : 'COMMITTED';
      expect(await statesOf(made)).toEqual([state, 'DROPPED', 'DROPPED']);
      expect(await toldOf(made)).not.toContain(released);
      expect((await here.partOf(made, here.lab)).sealed).toBeNull();
    },
  );

  it.each(['independent', 'together'] as const)(
    'wait for the code, and are sent after it (%s)',
    async (mode) => {
      const made = await submitted(mode);
      expect(await statesOf(made)).toEqual(['SUBMITTED', 'WAITING', 'WAITING']);
      expect((await confirm(made, 'wrong')).status).toBe(422);
      expect(await toldOf(made)).toEqual([]);
      expect((await confirm(made)).status).toBe(200);
      const state = mode === 'together' ? 'SUBMITTED' : 'COMMITTED';
      expect(await statesOf(made)).toEqual([state, 'SENDING', 'SENDING']);
      await vi.waitFor(async () => expect(await toldOf(made)).toEqual([released, released]), {
        timeout: 15_000,
      });
    },
  );

  it('are sent once: the same confirmation again is the same success while owners are awaited', async () => {
    const made = await submitted('together');
    const code = await codeOf(made);
    const again = () => here.operator.send('POST', `/consents/${made.id}/confirm`, { code });
    for (const answer of [await again(), ...(await Promise.all([again(), again()]))])
      expect(await transactionIn(answer)).toMatchObject({ id: made.id, state: 'SUBMITTED' });
    await vi.waitFor(async () => expect(await toldOf(made)).toEqual([released, released]), {
      timeout: 15_000,
    });
  });

  it('are not waited for if there are none: the right code of a child without them commits its answers', async () => {
    const layoutData = { elements: questionsOf(here) };
    const parent = await createTransaction(here.operator, {
      peerCommit: 'together',
      layoutData,
      confirmation: 'FORM_CODE',
      updatable: true,
    });
    expect((await here.operator.send('POST', `/consents/${parent.id}/cancel`)).status).toBe(200);
    const child = await transactionIn(subjectOf(here, parent).post('/child'));
    expect((await subjectOf(here, child).submit({ [letter]: ['accepted'] })).status).toBe(200);
    expect((await confirm(child)).status).toBe(200);
    expect(await here.followersOf(child)).toMatchObject({ state: 'COMMITTED' });
  });

  it('are shown as dropped after the timeout', async () => {
    const made = await submitted('independent');
    await rowsOf(
      here,
      `UPDATE transactions.transactions SET expires_at = now() - interval '1 second' WHERE id = $1 RETURNING id`,
      [made.id],
    );
    const page = await (await subjectOf(here, made).get('', 'text/html')).text();
    expect(page).toContain('The time to answer is over');
    expect(page).toContain('They have not taken effect at Northern Lab.');
  });

  it('are dropped with a cancellation, and their owners receive nothing', async () => {
    const made = await submitted('together');
    expect((await here.operator.send('POST', `/consents/${made.id}/cancel`)).status).toBe(200);
    expect(await statesOf(made)).toEqual(['CANCELLED', 'DROPPED', 'DROPPED']);
    expect(await toldOf(made)).toEqual([]);
  });
});
