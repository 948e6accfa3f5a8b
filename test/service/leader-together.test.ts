import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signIn } from '../support/instances/callers.ts';
import {
  type LeadingInstance,
  type LedPartner,
  pageOf,
  questionsOf,
  startLeading,
} from '../support/instances/leader-instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { eventsOf, historyOf } from '../support/instances/live-events.ts';
import {
  letter,
  problemOf,
  type Representation,
  subjectOf,
  transactionIn,
} from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';

const patience = { timeout: 15_000, interval: 100 };

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

const complete = () => ({
  [letter]: ['accepted'],
  [here.lab.asked('study')]: ['accepted'],
  [here.clinic.asked('study')]: ['refused'],
});
const together = () => ({ peerCommit: 'together', layoutData: { elements: questionsOf(here) } });
type Made = Representation & { url: string; task: string };
/** A transaction whose answers wait for both partners. */
async function submitted(context: Record<string, unknown> = {}): Promise<Made> {
  const made = await createTransaction(here.operator, { ...together(), ...context });
  const answer = await subjectOf(here, made).submit(complete());
  expect(answer.status).toBe(200);
  return { ...made, ...(await transactionIn(answer)), task: made.task };
}
const statesOf = async (made: Made) => {
  const { state, followers } = await here.followersOf(made);
  return [state, ...followers.map((follower) => follower.state)];
};
/** State and status of each record of the subject. */
const recorded = async ({ subject }: Made) =>
  Object.values(await recordsOf(here.operator, subject))
    .flat()
    .map(({ state, statusExplanation }) => [state, statusExplanation]);
/** The decisions that a partner received about its part. */
async function decided(made: Made, partner: LedPartner): Promise<unknown[]> {
  const told = await here.toldOf((await here.partOf(made, partner)).sid);
  expect(told[0]?.type).toBe('io.accord.submission.released.v1');
  return told.slice(1).map(({ data }) => data.decision);
}
/** Asks as a partner that holds its part does. */
async function ask(partner: LedPartner, sid: string): Promise<unknown> {
  const answer = await partner.send(here.url, 'GET', `/federation/decisions/${sid}`);
  return decodeJwt(((await answer.json()) as { receipt: string }).receipt).decision;
}
const namesOf = async (made: Made) =>
  (await eventsOf(here, made)).map(({ event }) => event.type.split('.').slice(3, -1).join('.'));

describe('answers with peerCommit together', () => {
  it('are stored but not in force: no task, no receipt, and the page says what they wait for', async () => {
    const made = await submitted();
    expect(made).toMatchObject({
      state: 'SUBMITTED',
      followers: [{ state: 'SENDING' }, { state: 'SENDING' }],
    });
    const shown = (await (await here.operator.get(`/consents/${made.id}`)).json()) as Representation;
    expect(shown).not.toHaveProperty('task');
    expect(shown).not.toHaveProperty('receipt');
    expect(Date.parse(shown.expires) - Date.now()).toBeLessThan(24 * 3_600_000 + 60_000);
    expect((await here.operator.get(`/receipts/${made.id}`)).status).toBe(404);
    expect(await recorded(made)).toEqual([['PENDING', 'STILL_PENDING']]);
    expect(await namesOf(made)).toEqual(['created', 'submitted']);
    const page = await pageOf(here, made);
    for (const text of [
      'Your answers are on their way',
      'On its way to Northern Lab.',
      'See how it stands now',
    ])
      expect(page).toContain(text);
    expect((await here.partOf(made, here.lab)).mode).toBe('hold');
  });

  it('are idempotent; other answers and the form are a conflict', async () => {
    const made = await submitted();
    const subject = subjectOf(here, made);
    expect(await transactionIn(subject.submit(complete()))).toMatchObject({ state: 'SUBMITTED' });
    const other = await subject.submit({ ...complete(), [letter]: ['refused'] });
    expect((await problemOf(other)).said).toBe('409 wrong-state');
    expect((await subject.get('/submit')).status).toBe(409);
    expect((await subject.post('/child')).status).toBe(409);
  });

  it('are rolled back when a part that was sent is withdrawn, whatever the owners have said', async () => {
    const subject = randomUUID();
    const made = await submitted({ subject });
    await here.say(made, here.lab, { verdict: 'held', id: 'there-1' });
    const withdrawn = await here.operator.send('POST', '/choices/withdraw', { subject });
    expect(withdrawn.status).toBe(201);
    expect(await statesOf(made)).toEqual(['SUBMITTED', 'HELD', 'SENDING']);
    await here.say(made, here.clinic, { verdict: 'held', id: 'there-2' });
    expect(await statesOf(made)).toEqual(['ROLLBACK', 'DROPPED', 'DROPPED']);
    for (const partner of [here.lab, here.clinic])
      expect(await decided(made, partner)).toEqual([undefined, 'rollback']);
    expect(await pageOf(here, made)).toContain('were withdrawn before they could take effect');
    const acknowledged = await submitted({ subject });
    await here.operator.send('POST', '/choices/withdraw', { subject });
    await here.say(acknowledged, here.lab, { about: 'withdrawal', verdict: 'done' });
    expect(await statesOf(acknowledged)).toEqual(['ROLLBACK', 'DROPPED', 'DROPPED']);
  });

  it('are rolled back by an owner that asks, if they were erased, if the deadline has passed, or if the owner does not get their withdrawal', async () => {
    const commit = async () => {
      const made = await submitted({ subject: randomUUID() });
      for (const partner of [here.lab, here.clinic]) await here.say(made, partner, { verdict: 'held' });
      const { sid } = await here.partOf(made, here.lab);
      expect(await ask(here.lab, sid)).toBe('commit');
      return { made, sid };
    };
    const withdrawn = await commit();
    expect((await here.operator.send('POST', `/consents/${withdrawn.made.id}/withdraw`)).status).toBe(201);
    // The order follows, and other answers of the part stay.
    expect(await ask(here.lab, withdrawn.sid)).toBe('commit');
    await here.say(withdrawn.made, here.lab, { about: 'withdrawal', verdict: 'expired' });
    expect(await ask(here.lab, withdrawn.sid)).toBe('rollback');
    const subject = randomUUID();
    const open = await submitted({ subject });
    expect((await here.operator.send('POST', '/choices/withdraw', { subject })).status).toBe(201);
    expect(await ask(here.lab, (await here.partOf(open, here.lab)).sid)).toBe('rollback');
    const expired = await commit();
    await here.say(expired.made, here.lab, { verdict: 'expired' });
    expect(await ask(here.lab, expired.sid)).toBe('rollback');
    const erased = await commit();
    const admin = await signIn(here, 'admin');
    const erasure = await admin.send('POST', `/subjects/${erased.made.subject}/erasure`);
    expect(erasure.status).toBe(202);
    await vi.waitFor(async () => expect(await ask(here.lab, erased.sid)).toBe('rollback'), patience);
  });

  it('are not asked again while they wait', async () => {
    const subject = randomUUID();
    const made = await submitted({ subject });
    const again = await here.operator.send('POST', '/consents', { subject, ...together() });
    expect([again.status, ((await again.json()) as Made).id]).toEqual([200, made.id]);
  });

  it('can be given in a single step, once', async () => {
    const context = { subject: randomUUID(), ...together() };
    const send = () => here.operator.send('POST', '/consents/singlestep', { context, values: complete() });
    const first = await send();
    const made = await transactionIn(first);
    expect([first.status, made.state]).toEqual([201, 'SUBMITTED']);
    const again = await send();
    expect([again.status, (await transactionIn(again)).id]).toEqual([200, made.id]);
  });

  it('are in force when the last owner holds its part, and each owner is notified', async () => {
    const subject = randomUUID();
    const earlier = await recordAnswers(here.operator, subject, { [letter]: ['refused'] });
    const made = await submitted({ subject });
    await here.say(made, here.lab, { verdict: 'held', id: 'at-the-lab' });
    expect(await statesOf(made)).toEqual(['SUBMITTED', 'HELD', 'SENDING']);
    expect(await decided(made, here.lab)).toEqual([]);
    expect(await pageOf(here, made)).toContain('Northern Lab has them. They take effect there as soon as');

    await here.say(made, here.clinic, { verdict: 'held' });
    expect(await statesOf(made)).toEqual(['COMMITTED', 'HELD', 'HELD']);
    for (const partner of [here.lab, here.clinic]) expect(await decided(made, partner)).toEqual(['commit']);
    expect(await recorded(made)).toEqual([
      ['COMMITTED', 'LATEST_VALID'],
      ['COMMITTED', 'OBSOLETE'],
    ]);
    expect((await eventsOf(here, earlier)).at(-1)?.event.type).toBe('io.accord.record.superseded.v1');
    expect(await historyOf(here, made)).toEqual([
      { version: 1, state: 'CREATED' },
      { version: 2, state: 'SUBMITTED' },
      { version: 3, state: 'COMMITTED' },
    ]);
    expect(await namesOf(made)).toEqual([
      ...['created', 'submitted', 'submission.delivered', 'submission.delivered', 'committed'],
    ]);

    await here.say(made, here.lab, { verdict: 'done' });
    await here.say(made, here.clinic, { verdict: 'done', id: 'at-the-clinic' });
    const { followers } = await here.followersOf(made);
    expect(followers).toMatchObject([
      { state: 'ACCEPTED', id: 'at-the-lab' },
      { state: 'ACCEPTED', id: 'at-the-clinic' },
    ]);
  });

  it('have a receipt of the time when they came into force, with what each owner asked', async () => {
    const made = await submitted({ validity: 'P1M' });
    const { rows } = {
      rows: await rowsOf<{ body: string }>(
        here,
        'SELECT body FROM transactions.receipt_drafts WHERE transaction = $1',
        [made.id],
      ),
    };
    const draft = JSON.parse(rows[0]?.body ?? '') as { timestamp: string };
    for (const partner of [here.lab, here.clinic]) await here.say(made, partner, { verdict: 'held' });
    const receipt = (await (
      await here.operator.get(`/receipts/${made.id}`)
    ).json()) as components['schemas']['Receipt'];
    expect(Date.parse(receipt.timestamp)).toBeGreaterThan(Date.parse(draft.timestamp));
    expect(receipt.peers?.map(({ name }) => name)).toEqual(['Northern Lab', 'Lakeside Clinic']);
    expect(receipt.updateUrl).toContain(`/consents/${made.id}/child?t=`);
    const signed = await (await here.operator.get(`/receipts/${made.id}?format=jose`)).text();
    expect(decodeJwt(signed)).toEqual(receipt);
    const [record] = Object.values(await recordsOf(here.operator, made.subject)).flat();
    expect(record?.expirationTimestamp).toBe(Date.parse(receipt.expirationTimestamp ?? ''));
    expect(
      await rowsOf(here, 'SELECT * FROM transactions.receipt_drafts WHERE transaction = $1', [made.id]),
    ).toEqual([]);
  });

  it('wait for the decision even if an owner has committed its part already', async () => {
    const made = await submitted();
    await here.say(made, here.lab, { verdict: 'done' });
    expect(await statesOf(made)).toEqual(['SUBMITTED', 'HELD', 'SENDING']);
  });

  it('change an earlier consent only when they come into force', async () => {
    const subject = randomUUID();
    const parent = await submitted({ subject });
    for (const partner of [here.lab, here.clinic]) await here.say(parent, partner, { verdict: 'held' });
    const child = await transactionIn(subjectOf(here, parent).post('/child'));
    const answers = { [letter]: ['refused'], [here.lab.asked('study')]: ['refused'] };
    expect(await transactionIn(subjectOf(here, child).submit(answers))).toMatchObject({
      state: 'SUBMITTED',
      followers: [{ name: 'Northern Lab' }],
    });
    await here.say(child, here.lab, { verdict: 'held' });
    const claimed = await here.operator.send('POST', '/consents', { subject, ...together() });
    expect([claimed.status, ((await claimed.json()) as Made).id]).toEqual([200, child.id]);
  });

  it('without elements of peers are in force at once', async () => {
    const made = await createTransaction(here.operator, {
      ...together(),
      layoutData: { elements: ['processing.001'] },
    });
    expect(await transactionIn(subjectOf(here, made).submit({ [letter]: ['accepted'] }))).toMatchObject({
      state: 'COMMITTED',
      followers: [],
    });
  });
});

describe('answers are rolled back', () => {
  const nothingLeft = async (made: Made) => {
    expect(await recorded(made)).toEqual([['ROLLED_BACK', 'ROLLED_BACK']]);
    expect((await here.operator.get(`/receipts/${made.id}`)).status).toBe(404);
    for (const partner of [here.lab, here.clinic])
      expect((await here.partOf(made, partner)).sealed).toBeNull();
    expect(
      await rowsOf(here, 'SELECT * FROM transactions.receipt_drafts WHERE transaction = $1', [made.id]),
    ).toEqual([]);
  };

  it('if one owner refuses its part; the others are notified', async () => {
    const made = await submitted();
    await here.say(made, here.lab, { verdict: 'refused', reason: 'stale' });
    expect(await statesOf(made)).toEqual(['ROLLBACK', 'REFUSED', 'DROPPED']);
    expect(await decided(made, here.lab)).toEqual([]);
    expect(await decided(made, here.clinic)).toEqual(['rollback']);
    await nothingLeft(made);
    expect(await namesOf(made)).toEqual(['created', 'submitted', 'submission.refused', 'rolledback']);
    const page = await pageOf(here, made);
    expect(page).toContain('At least one organisation that asked could not store your answers');
    expect(page).toContain('Northern Lab did not save them');
    // The other part may have arrived meanwhile: its owner says so, and nothing changes.
    await here.say(made, here.clinic, { verdict: 'held' });
    await here.say(made, here.clinic, { verdict: 'refused' });
    expect(await statesOf(made)).toEqual(['ROLLBACK', 'REFUSED', 'DROPPED']);
  });

  it('but stay in force at an owner that has committed them, and the page says so', async () => {
    const made = await submitted();
    await here.say(made, here.lab, { verdict: 'done' });
    await here.say(made, here.clinic, { verdict: 'refused', reason: 'stale' });
    expect(await statesOf(made)).toEqual(['ROLLBACK', 'DROPPED', 'REFUSED']);
    expect(await decided(made, here.lab)).toEqual(['rollback']);
    await here.say(made, here.lab, { verdict: 'done' });
    expect(await statesOf(made)).toEqual(['ROLLBACK', 'ACCEPTED', 'REFUSED']);
    const { sid } = await here.partOf(made, here.lab);
    const line = `"code":"taken-back","id":"${sid}","transaction":"${made.id}"`;
    expect(here.logs()).toMatch(new RegExp(`"level":"error".*${line}.*in force at the peer`));
    const page = await pageOf(here, made);
    expect(page).toContain('One of the organisations that asked has put them in force all the same');
    expect(page).toContain('Northern Lab has received and saved your answers.');
    for (const untrue of ['stored nowhere', 'Nothing was stored', 'not taken effect at Northern Lab'])
      expect(page).not.toContain(untrue);
    await nothingLeft(made);
  });

  it('if one part is held and the other one refused', async () => {
    const made = await submitted();
    await here.say(made, here.lab, { verdict: 'held' });
    await here.say(made, here.clinic, { verdict: 'refused', reason: 'unknown-element' });
    expect(await statesOf(made)).toEqual(['ROLLBACK', 'DROPPED', 'REFUSED']);
    expect(await decided(made, here.lab)).toEqual(['rollback']);
    await nothingLeft(made);
  });

  it('if one part could not be delivered', async () => {
    const made = await submitted();
    await here.say(made, here.lab, { verdict: 'expired' });
    expect(await statesOf(made)).toEqual(['ROLLBACK', 'DROPPED', 'DROPPED']);
    expect(await decided(made, here.clinic)).toEqual(['rollback']);
    await nothingLeft(made);
  });

  it('if the transaction is cancelled while they wait', async () => {
    const made = await submitted({ cancellable: true });
    await here.say(made, here.lab, { verdict: 'held' });
    expect(await pageOf(here, made)).toContain(`/consents/${made.id}/cancel`);
    expect(await transactionIn(subjectOf(here, made).post('/cancel'))).toMatchObject({ state: 'CANCELLED' });
    for (const partner of [here.lab, here.clinic]) expect(await decided(made, partner)).toEqual(['rollback']);
    await nothingLeft(made);
    await here.say(made, here.clinic, { verdict: 'held' });
    expect(await statesOf(made)).toEqual(['CANCELLED', 'DROPPED', 'DROPPED']);
  });

  it('and can be given again in a child', async () => {
    const made = await submitted();
    await here.say(made, here.lab, { verdict: 'refused', reason: 'stale' });
    expect(await transactionIn(subjectOf(here, made).post('/child'))).toMatchObject({ state: 'CREATED' });
  });
});

it('the decision commit is released again to an owner that has not confirmed it for 72 hours', async () => {
  const made = await submitted();
  for (const partner of [here.lab, here.clinic]) await here.say(made, partner, { verdict: 'held' });
  await here.say(made, here.clinic, { verdict: 'done' });
  await letTimePass(here, '73 hours');
  await vi.waitFor(async () => expect(await decided(made, here.lab)).toEqual(['commit', 'commit']), patience);
  expect(await decided(made, here.clinic)).toEqual(['commit']);
  await letTimePass(here, '0 hours');
});

describe('an owner that requests the decision', () => {
  it('receives open, and later the decision', async () => {
    const made = await submitted();
    const { sid } = await here.partOf(made, here.lab);
    expect(await ask(here.lab, sid)).toBe('open');
    await here.say(made, here.lab, { verdict: 'held' });
    await here.say(made, here.clinic, { verdict: 'held' });
    expect(await ask(here.lab, sid)).toBe('commit');
    const lost = await submitted();
    await here.say(lost, here.lab, { verdict: 'refused', reason: 'stale' });
    expect(await ask(here.clinic, (await here.partOf(lost, here.clinic)).sid)).toBe('rollback');
  });

  it('receives rollback for a part of another owner or an unknown one', async () => {
    const made = await submitted();
    for (const partner of [here.lab, here.clinic]) await here.say(made, partner, { verdict: 'held' });
    expect(await ask(here.clinic, (await here.partOf(made, here.lab)).sid)).toBe('rollback');
    expect(await ask(here.clinic, '1'.repeat(22))).toBe('rollback');
  });
});

it('answers that not all owners hold within a day are rolled back', async () => {
  const made = await submitted();
  await here.say(made, here.lab, { verdict: 'held' });
  const { sid } = await here.partOf(made, here.lab);
  await letTimePass(here, '24 hours');
  expect((await here.followersOf(made)).state).toBe('ROLLBACK');
  await vi.waitFor(async () => expect(await ask(here.lab, sid)).toBe('rollback'), patience);
  await here.say(made, here.clinic, { verdict: 'held' });
  await vi.waitFor(async () => expect(await decided(made, here.lab)).toEqual(['rollback']), patience);
  expect(await recorded(made)).toEqual([['ROLLED_BACK', 'ROLLED_BACK']]);
  expect((await historyOf(here, made)).map(({ state }) => state)).toEqual([
    'CREATED',
    'SUBMITTED',
    'ROLLBACK',
  ]);
  const listed = await here.operator.get(`/transactions?subject=${made.subject}&states=ROLLBACK`);
  expect(((await listed.json()) as { values: object[] }).values).toHaveLength(1);
});

it('an owner is told no rollback while a commit that began before the deadline is in progress', async () => {
  const made = await submitted();
  const { sid } = await here.partOf(made, here.lab);
  const commit = new pg.Client({ connectionString: here.databaseUrl });
  await commit.connect();
  await commit.query('BEGIN');
  const change = `UPDATE transactions.transactions SET state = 'COMMITTED', version = version + 1 WHERE id = $1`;
  await commit.query(change, [made.id]);
  await letTimePass(here, '48 hours');
  expect((await here.followersOf(made)).state).toBe('ROLLBACK');
  expect(await ask(here.lab, sid)).toBe('open');
  await commit.query('COMMIT');
  await commit.end();
  expect(await ask(here.lab, sid)).toBe('commit');
});

it('a child that is replaced after its 24-hour deadline is rolled back with a mail about it', async () => {
  const emailAddress = 'ann@example.org';
  const parent = await submitted({ subjectInfos: { emailAddress } });
  for (const partner of [here.lab, here.clinic]) await here.say(parent, partner, { verdict: 'held' });
  const child = await transactionIn(subjectOf(here, parent).post('/child'));
  const answers = { [letter]: ['refused'], [here.lab.asked('study')]: ['refused'] };
  await transactionIn(subjectOf(here, child).submit(answers));
  await letTimePass(here, '72 hours');
  const next = await transactionIn(subjectOf(here, parent).post('/child'));
  expect(next.id).not.toBe(child.id);
  const messages = await (await here.operator.get(`/consents/${child.id}/messages`)).json();
  expect(messages).toMatchObject([{ kind: 'bad-news' }]);
});

it('a rollback after the 24-hour deadline is not mailed to a person who has withdrawn the answers', async () => {
  const made = await submitted({ subjectInfos: { emailAddress: 'ann@example.org' } });
  await here.operator.send('POST', '/choices/withdraw', { subject: made.subject });
  await letTimePass(here, '120 hours');
  // The state is shown by the clock at once; the sweeper writes it, and the mail.
  await vi.waitFor(
    async () => expect((await historyOf(here, made)).at(-1)?.state).toBe('ROLLBACK'),
    patience,
  );
  const messages = (await (await here.operator.get(`/consents/${made.id}/messages`)).json()) as object[];
  expect(messages.filter((each) => 'kind' in each && each.kind === 'bad-news')).toEqual([]);
});
