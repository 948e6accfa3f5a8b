import { afterAll, beforeAll, expect, it } from 'vitest';
import { holdUp } from '../support/instances/held-up.ts';
import { type LeadingInstance, startLeading } from '../support/instances/leader-instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { letter, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

it('a cancellation during a submission takes back the parts of all owners', async () => {
  const made = await createTransaction(here.operator, {
    cancellable: true,
    peerCommit: 'together',
    layoutData: { elements: ['processing.001', here.lab.named('study')] },
  });
  const subject = subjectOf(here, made);
  // The submission has locked the transaction, and waits for the session that inserts the same history row.
  const held = await holdUp(
    here,
    `INSERT INTO transactions.transaction_history VALUES ('${made.id}', 2, 'SUBMITTED', now())`,
    'accord-transactions',
  );
  const submitted = subject.submit({ [letter]: ['accepted'], [here.lab.asked('study')]: ['accepted'] });
  await held.waiting(1);
  const cancelled = subject.post('/cancel');
  await held.waiting(2);
  await held.release();
  expect((await submitted).status).toBe(200);
  expect(await transactionIn(cancelled)).toMatchObject({ state: 'CANCELLED' });

  const part = await here.partOf(made, here.lab);
  expect(part).toMatchObject({ state: 'DROPPED', sealed: null });
  expect((await here.toldOf(part.sid)).map(({ data }) => data.decision)).toEqual([undefined, 'rollback']);
  const [record] = (await recordsOf(here.operator, made.subject))['processing.001'] ?? [];
  expect(record).toMatchObject({ state: 'ROLLED_BACK' });
  expect(await rowsOf(here, 'SELECT transaction FROM transactions.receipt_drafts')).toEqual([]);
  await here.say(made, here.lab, { verdict: 'held' });
  expect((await here.toldOf(part.sid)).map(({ data }) => data.decision)).toEqual([undefined, 'rollback']);
});

it('a child answered at its deadline is rolled back with all parts if another child is created', async () => {
  const parent = await createTransaction(here.operator, {
    cancellable: true,
    peerCommit: 'together',
    layoutData: { elements: ['processing.001', here.lab.named('study')] },
  });
  const askForChild = async () =>
    (await (await here.operator.send('POST', `/consents/${parent.id}/child`)).json()) as typeof parent;
  await here.operator.send('POST', `/consents/${parent.id}/cancel`);
  const child = await askForChild();
  // The submit has the transaction, and its deadline passes before it ends.
  const held = await holdUp(
    here,
    `INSERT INTO transactions.transaction_history VALUES ('${child.id}', 2, 'SUBMITTED', now())`,
    'accord-transactions',
  );
  const submitted = subjectOf(here, child).submit({
    [letter]: ['accepted'],
    [here.lab.asked('study')]: ['accepted'],
  });
  await held.waiting(1);
  await letTimePass(here, '8 days');
  const another = askForChild();
  await held.waiting(2);
  await held.release();
  expect((await submitted).status).toBe(200);
  expect((await another).id).not.toBe(child.id);

  expect(await here.followersOf(child)).toMatchObject({ state: 'ROLLBACK' });
  expect(await here.partOf(child, here.lab)).toMatchObject({ state: 'DROPPED', sealed: null });
  const records = await rowsOf(
    here,
    'SELECT DISTINCT r.state FROM transactions.records AS r WHERE r.transaction = $1',
    [child.id],
  );
  expect(records).toEqual([{ state: 'ROLLED_BACK' }]);
});
