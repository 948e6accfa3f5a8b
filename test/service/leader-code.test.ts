import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { awaitPeers } from '../../services/transactions/queries/release-parts.ts';
import { signIn } from '../support/instances/callers.ts';
import { type LeadingInstance, questionsOf, startLeading } from '../support/instances/leader-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter, type Representation, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

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

  it('that are withdrawn between the check and the release are reported by the release, and not sent', async () => {
    const { id, subject } = await submitted('together');
    const withdrawn = await here.operator.send('POST', '/choices/withdraw', { subject });
    expect(withdrawn.status).toBe(201);
    const deadline = new Date(Date.now() + 3_600_000);
    const released = await here.db.withTransaction((tx) =>
      awaitPeers(tx, { id, code: 1, deadline }, here.url),
    );
    expect(released).toEqual({ anyWithdrawn: true });
    expect((await here.partOf({ id }, here.lab)).sealed).toBeNull();
  });

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
    expect(page).toContain('They were not put in force at Northern Lab.');
  });

  it('are dropped with a cancellation, and their owners receive nothing', async () => {
    const made = await submitted('together');
    expect((await here.operator.send('POST', `/consents/${made.id}/cancel`)).status).toBe(200);
    expect(await statesOf(made)).toEqual(['CANCELLED', 'DROPPED', 'DROPPED']);
    expect(await toldOf(made)).toEqual([]);
  });
});
