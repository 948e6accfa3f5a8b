import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LeadingInstance, questionsOf, startLeading } from '../support/instances/leader-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

const subject = 'ann with peers';
const path = `/subjects/${encodeURIComponent(subject)}/export`;

it('an export names the peers that keep answers, with the state of each part, and the peer that led', async () => {
  const layoutData = { elements: questionsOf(here) };
  const made = await createTransaction(here.operator, { subject, layoutData });
  const answers = {
    [letter]: ['accepted'],
    [here.lab.asked('study')]: ['accepted'],
    [here.clinic.asked('study')]: ['refused'],
  };
  expect((await subjectOf(here, made).submit(answers)).status).toBe(200);
  const led = await createTransaction(here.operator, { subject, object: 'led by a peer' });
  await rowsOf(here, 'UPDATE transactions.transactions SET leader = $1 WHERE id = $2', [
    JSON.stringify({ location: 'https://school.example', id: made.id }),
    led.id,
  ]);
  const owners = [
    { name: 'Lakeside Clinic', location: here.clinic.url },
    { name: 'Northern Lab', location: here.lab.url },
  ];
  const exported = (await (await here.operator.get(path)).json()) as {
    transactions: { followers: { name: string; location: string; state: string }[] }[];
    peers: object[];
  };
  const [, { followers } = { followers: [] }] = exported.transactions;
  expect(followers.map(({ name, location }) => ({ name, location })).toSorted(byName)).toEqual(owners);
  for (const { state } of followers) expect(['SENDING', 'ACCEPTED']).toContain(state);
  expect(exported.peers).toEqual([
    ...owners,
    { name: 'https://school.example', location: 'https://school.example' },
  ]);
  const page = parsePage(await (await here.operator.get(`${path}?format=html`)).text());
  const captions = page.tagged('caption').map((caption) => page.text(caption));
  expect(captions).toEqual(expect.arrayContaining(['Answers that others keep', 'Whom else to ask']));
  for (const { name, location } of owners)
    for (const text of [name, location]) expect(page.text()).toContain(text);
});

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
