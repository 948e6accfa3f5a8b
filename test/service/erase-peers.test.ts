import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { type LeadingInstance, questionsOf, startLeading } from '../support/instances/leader-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { tablesWith } from '../support/instances/tables-with.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

it('an erasure sends no part that waits, and asks the peers to erase theirs', async () => {
  const admin = await signIn(here, 'admin');
  const subject = 'canary-with-peers';
  const made = await createTransaction(here.operator, {
    subject,
    layoutData: { elements: questionsOf(here) },
  });
  const answers = {
    [letter]: ['accepted'],
    [here.lab.asked('study')]: ['accepted'],
    [here.clinic.asked('study')]: ['refused'],
  };
  expect((await subjectOf(here, made).submit(answers)).status).toBe(200);
  const started = await admin.send('POST', `/subjects/${subject}/erasure`);
  const { id } = (await started.json()) as { id: string };
  await vi.waitFor(
    async () => {
      const erasure = (await (await admin.get(`/erasures/${id}`)).json()) as { peers: { name: string }[] };
      expect(erasure).toMatchObject({ state: 'DONE' });
      expect(erasure.peers.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
        { name: 'Lakeside Clinic', location: here.clinic.url, state: 'QUEUED', since: expect.any(String) },
        { name: 'Northern Lab', location: here.lab.url, state: 'QUEUED', since: expect.any(String) },
      ]);
    },
    { timeout: 10_000 },
  );
  const parts = await rowsOf<{ state: string; sealed: string | null }>(
    here,
    'SELECT state, sealed FROM transactions.followers WHERE transaction = $1',
    [made.id],
  );
  expect(parts).toEqual([
    { state: 'DROPPED', sealed: null },
    { state: 'DROPPED', sealed: null },
  ]);
  expect(await tablesWith(here, 'canary')).toEqual([]);
});
