import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { repeatNotices } from '../../services/transactions/sent-parts/notices-store.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import {
  type LeadingInstance,
  type LedPartner,
  questionsOf,
  startLeading,
} from '../support/instances/leader-instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { letter, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, type LiveTransaction } from '../support/instances/live-transactions.ts';
import { tablesWith } from '../support/instances/tables-with.ts';
import { until } from '../support/run/until.ts';

let here: LeadingInstance;
let admin: Caller;
beforeAll(async () => {
  here = await startLeading();
  admin = await signIn(here, 'admin');
}, 60_000);
afterAll(() => here?.stop());

/** A transaction with a part for each peer. */
async function answered(subject: string): Promise<LiveTransaction> {
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
  return made;
}

it('an erasure sends no part that waits, and asks the peers to erase theirs', async () => {
  const subject = 'canary-with-peers';
  const made = await answered(subject);
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
    'SELECT state, sealed FROM transactions.sent_parts WHERE transaction = $1',
    [made.id],
  );
  expect(parts).toEqual([
    { state: 'DROPPED', sealed: null },
    { state: 'DROPPED', sealed: null },
  ]);
  expect(await tablesWith(here, 'canary')).toEqual([]);
  // The owner is asked to erase the part, so an administrator need not act.
  await here.say(made, here.lab, { verdict: 'done' });
  const line = `"code":"erased","id":"[^"]+","transaction":"${made.id}"`;
  expect(here.logs()).toMatch(new RegExp(`"level":"info".*${line}.*in force at the peer`));
});

it('a peer is asked again until it has noted the request, then for 40 days, and is never FAILED after that', async () => {
  // The verdicts are those of the test.
  await runInDatabase(here, "UPDATE peers.peers SET state = 'QUARANTINED'");
  const made = await answered('asked-for-long');
  const started = await admin.send('POST', '/subjects/asked-for-long/erasure');
  const { id } = (await started.json()) as { id: string };
  /** The states of the laboratory and of the clinic. */
  const states = async () => {
    const erasure = (await (await admin.get(`/erasures/${id}`)).json()) as {
      peers: { location: string; state: string }[];
    };
    return [here.lab, here.clinic].map(
      ({ url }) => erasure.peers.find(({ location }) => location === url)?.state,
    );
  };
  const become = (...expected: string[]) => until(async () => expect(await states()).toEqual(expected));
  const letPass = async (interval: string) => {
    await letTimePass(here, interval);
    await repeatNotices(here.db, 1_000, here.url);
  };
  /** How many times a peer was to be asked. */
  const times = async (partner: LedPartner) => {
    const { sid } = await here.partOf(made, partner);
    return (await here.toldOf(sid)).filter(({ type }) => type === 'io.accord.submission.erased.v1').length;
  };
  await become('QUEUED', 'QUEUED');
  await here.say(made, here.lab, { about: 'erasure', verdict: 'noted' });
  await letPass('31 days');
  await become('DELIVERED', 'OVERDUE');
  // The event may have been lost twice.
  const asked = await times(here.clinic);
  await letPass('35 days');
  await until(async () => expect(await times(here.clinic)).toBe(asked + 1));
  for (const partner of [here.lab, here.clinic])
    await here.say(made, partner, { about: 'erasure', verdict: 'expired' });
  expect(await states()).toEqual(['DELIVERED', 'FAILED']);
  const before = await times(here.lab);
  await letPass('37 days');
  await until(async () => expect(await times(here.lab)).toBe(before + 1));
  await letPass('41 days');
  await become('OVERDUE', 'FAILED');
  await here.say(made, here.lab, { about: 'erasure', verdict: 'expired' });
  expect(await states()).toEqual(['OVERDUE', 'FAILED']);
  await here.say(made, here.lab, { about: 'erasure', verdict: 'done' });
  expect(await states()).toEqual(['ACKNOWLEDGED', 'FAILED']);
});
