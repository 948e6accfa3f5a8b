import { afterAll, beforeAll, expect, it } from 'vitest';
import { choicesVisitor } from '../support/instances/choices-visitor.ts';
import { letter, study } from '../support/instances/live-subject.ts';
import { recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { leadsTo, linkIn, startMailServer } from '../support/network/mail-server.ts';
import { makePart, newPeer } from '../support/peers/peer-parts.ts';

const mails = await startMailServer();
let lab: OwnerInstance;
beforeAll(async () => {
  lab = await startOwner({ MAIL_URL: mails.url });
  for (const key of ['processing.001', 'processing.002']) await lab.share(key);
}, 60_000);
afterAll(async () => {
  await lab?.stop();
  await mails.close();
});

const peer = newPeer();
/** A part with a consent of a person who confirmed this address at the leader. */
const partOf = (address: string, question: string, mode: 'commit' | 'hold') =>
  makePart(lab, {
    peer,
    answers: { [question]: ['accepted'] },
    content: { subjectInfos: { emailAddress: address }, addressConfirmed: true },
    submission: { subject: address, mode },
  });

/** Opens the choices of an address by the link that comes by mail. */
async function open(address: string) {
  const asked = await lab.fetch('/choices/link', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ address }),
  });
  expect(asked.status).toBe(202);
  const visitor = choicesVisitor(lab);
  const { mail } = await mails.waitFor(address);
  expect((await visitor.post(await leadsTo(linkIn(mail)))).status).toBe(303);
  return visitor;
}

it('a session that an address of a part opened leaves a question whose answer in force was given here, although a part with it is held', async () => {
  const address = 'ann@example.org';
  await recordAnswers(lab.admin, address, { [letter]: ['accepted'] });
  expect(await lab.one.acceptSubmission(await partOf(address, study, 'commit'))).toMatchObject({
    verdict: 'committed',
  });
  expect(await lab.one.acceptSubmission(await partOf(address, letter, 'hold'))).toMatchObject({
    verdict: 'held',
  });
  const ann = await open(address);
  const named: [string, string][] = [letter, study].map((each) => ['elements', each]);
  expect((await ann.post('/choices/withdraw', named)).status).toBe(303);
  const records = await recordsOf(lab.admin, address);
  expect(records['processing.002']?.[0]).toMatchObject({ value: 'refused' });
  expect(records['processing.001']).toMatchObject([{ state: 'PENDING' }, { status: 'VALID' }]);
});
