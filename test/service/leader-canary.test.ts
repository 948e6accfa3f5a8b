import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openAnswers } from '#lib/federation/sealed-answers.ts';
import { type LeadingInstance, startLeading } from '../support/instances/leader-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

const theirs = `Zq9-${randomUUID()}`;
const ours = `Zq8-${randomUUID()}`;
const wish = 'element/preference/preference.003/1.0';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

/** Tables of all services in which a text stands, in any form that a row is written in. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await rowsOf<{ name: string }>(
    here,
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE c.relkind = 'r' AND n.nspname IN ('auth', 'forms', 'transactions', 'peers', 'webhooks')`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const inHex = Buffer.from(text).toString('hex');
  const found = [];
  for (const { name } of tables) {
    const query = `SELECT FROM ${name} AS r WHERE strpos(r::text, $1) > 0 OR strpos(r::text, $2) > 0 LIMIT 1`;
    if ((await rowsOf(here, query, [text, inHex])).length > 0) found.push(name);
  }
  return found;
}

it('a part contains contact data of the subject only in sealed form; other tables store the same as without peers', async () => {
  const { lab, operator } = here;
  const emailAddress = `${randomUUID()}@example.org`;
  const phoneNumber = '+33639980001';
  const before = await tablesWith(phoneNumber);
  const made = await createTransaction(operator, {
    layoutData: { elements: ['processing.001', lab.named('study')] },
    subjectInfos: { emailAddress, phoneNumber, born: '1970-01-01' },
  });
  await subjectOf(here, made).submit({ [letter]: ['accepted'], [lab.asked('study')]: ['accepted'] });
  const { sealed } = await here.partOf(made, lab);
  const opened = openAnswers(sealed ?? '', { keys: [lab.sealing], now: new Date() });
  expect(opened).toMatchObject({ content: { subjectInfos: { emailAddress, phoneNumber } } });
  expect(JSON.stringify(opened)).not.toContain('born');
  expect(before).toEqual([]);
  const own = ['transactions.receipts', 'transactions.transactions'];
  expect((await tablesWith(emailAddress)).sort()).toEqual([own[0], 'transactions.subjects', own[1]]);
  expect((await tablesWith(phoneNumber)).sort()).toEqual(own);
  expect(here.logs()).not.toContain(emailAddress);
});

it("answers to a peer's elements are in no table, log, event or response of the leader", async () => {
  const { lab, operator } = here;
  const elements = ['processing.001', 'preference.003', lab.named('study'), lab.named('wishes')];
  const answers = {
    [letter]: ['accepted'],
    [wish]: [ours],
    [lab.asked('study')]: ['accepted'],
    [lab.asked('wishes')]: [theirs],
  };
  const said: string[] = [];
  const keep = async (response: Response) => void said.push(await response.clone().text());
  const make = (context: object = {}) =>
    createTransaction(operator, { layoutData: { elements }, ...context });

  // Faulty ones too: only the page that the subject gets back has what the subject entered.
  const faulty = subjectOf(here, await make());
  const back = await faulty.submitForm({ [lab.asked('wishes')]: [theirs] });
  expect([back.status, (await back.text()).includes(theirs)]).toEqual([422, true]);
  await keep(await faulty.submit({ [lab.asked('wishes')]: [theirs] }));
  await keep(await faulty.submit({ ...answers, [lab.asked('wishes')]: [theirs, theirs] }));

  for (const peerCommit of ['independent', 'together']) {
    const made = await make({ peerCommit });
    await keep(await subjectOf(here, made).submit(answers));
    await keep(await subjectOf(here, made).submit(answers));
    await here.say(made, lab, { verdict: 'held' });
    for (const path of [`/consents/${made.id}`, `/receipts/${made.id}`, `/records?subject=${made.subject}`])
      for (const Accept of ['application/json', 'text/html'])
        await keep(await operator.get(path, { Accept }));
    const child = await transactionIn(subjectOf(here, made).post('/child'));
    await keep(await subjectOf(here, child).submit(answers));
  }
  const context = { subject: randomUUID(), layoutData: { elements } };
  await keep(await operator.send('POST', '/consents/singlestep', { context, values: answers }));
  await keep(await operator.send('POST', '/transactions', {}));

  expect(await tablesWith(theirs)).toEqual([]);
  expect(here.logs()).not.toContain(theirs);
  expect(said.filter((text) => text.includes(theirs))).toEqual([]);
  // The same search finds our own.
  expect(await tablesWith(ours)).toEqual(
    expect.arrayContaining(['transactions.records', 'transactions.receipts']),
  );
  expect(said.some((text) => text.includes(ours))).toBe(true);
}, 60_000);
