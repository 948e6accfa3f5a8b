import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type LeadingInstance, questionsOf, startLeading } from '../support/instances/leader-instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { letter, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { startMailServer } from '../support/network/mail-server.ts';

const server = await startMailServer();
let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading({ MAIL_URL: server.url, MAIL_FROM: 'Theatre <consent@theatre.example>' });
}, 60_000);
afterAll(() => Promise.all([here?.stop(), server.close()]));

/** Answers that have committed, whose part for the laboratory was not delivered in time. */
async function undelivered(emailAddress: string) {
  const context = { layoutData: { elements: questionsOf(here) }, subjectInfos: { emailAddress } };
  const made = await createTransaction(here.operator, context);
  const [study, other] = [here.lab.asked('study'), here.clinic.asked('study')];
  const answers = { [letter]: ['accepted'], [study]: ['accepted'], [other]: ['refused'] };
  await transactionIn(await subjectOf(here, made).submit(answers));
  await here.say(made, here.lab, { verdict: 'expired' });
  return made;
}
const messagesOf = async ({ id }: { id: string }) =>
  (await here.operator.get(`/consents/${id}/messages`)).json();
const patience = { timeout: 20_000, interval: 20 };

it('a subject gets a mail that names the organisation whose part was not delivered', async () => {
  await undelivered('ann@example.org');
  await vi.waitFor(() => expect(server.to('ann@example.org')).toHaveLength(1), patience);
  expect(JSON.stringify(server.to('ann@example.org'))).toContain('Northern Lab');
});

it('the mail about answers that were rolled back is in the language of the form', async () => {
  const context = {
    layoutData: { elements: questionsOf(here) },
    subjectInfos: { emailAddress: 'luc@example.org' },
    peerCommit: 'together',
  };
  const made = await createTransaction(here.operator, context);
  const [study, other] = [here.lab.asked('study'), here.clinic.asked('study')];
  const answers = { [letter]: ['accepted'], [study]: ['accepted'], [other]: ['refused'] };
  const sent = await subjectOf(here, made).submitForm(answers, { 'Accept-Language': 'fr' });
  expect(sent.status).toBe(303);
  await here.say(made, here.lab, { verdict: 'refused', reason: 'invalid' });
  await vi.waitFor(() => expect(server.to('luc@example.org')).toHaveLength(1), patience);
  expect(server.to('luc@example.org')[0]?.mail.subject).toMatch(/réponses/);
});

it('the mail is not sent if the organisation confirms its part before', async () => {
  server.behave('ben@example.org', { recipient: 451 });
  const made = await undelivered('ben@example.org');
  await vi.waitFor(async () => expect(await messagesOf(made)).toMatchObject([{ attempts: 1 }]), patience);
  await here.say(made, here.lab, { verdict: 'done' });
  server.behave('ben@example.org', {});
  await letTimePass(here, '1 minute');
  await vi.waitFor(
    async () => expect(await messagesOf(made)).toMatchObject([{ kind: 'bad-news', state: 'EXPIRED' }]),
    patience,
  );
  expect(server.to('ben@example.org')).toEqual([]);
});

it('a subject gets one mail if no verdict on any part is reported until a day after the deadline', async () => {
  const context = {
    layoutData: { elements: questionsOf(here) },
    subjectInfos: { emailAddress: 'eve@example.org' },
  };
  const made = await createTransaction(here.operator, context);
  const [study, other] = [here.lab.asked('study'), here.clinic.asked('study')];
  await subjectOf(here, made).submit({ [letter]: ['accepted'], [study]: ['accepted'], [other]: ['refused'] });
  await letTimePass(here, '31 days 1 hour');
  await vi.waitFor(
    async () => expect(await messagesOf(made)).toMatchObject([{ kind: 'bad-news', state: 'SENT' }]),
    patience,
  );
  expect(JSON.stringify(server.to('eve@example.org'))).toContain('Lakeside Clinic');
});
