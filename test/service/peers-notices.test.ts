import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAnswers } from '#lib/federation/sealed-answers.ts';
import { type LeadingInstance, startLeading } from '../support/instances/leader-instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import {
  type Answers,
  letter,
  problemOf,
  subjectOf,
  transactionIn,
} from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { makePart, newPeer } from '../support/peers/peer-parts.ts';

let here: LeadingInstance;
let owner: OwnerInstance;
beforeAll(async () => {
  [here, owner] = await Promise.all([startLeading(), startOwner()]);
  for (const key of ['processing.001', 'processing.003']) await owner.share(key);
}, 90_000);
afterAll(async () => {
  await here?.stop();
  await owner?.stop();
});

describe("a peer's notice", () => {
  const create = () => {
    const elements = ['processing.001', here.lab.named('booking'), here.lab.named('study')];
    return createTransaction(here.operator, { layoutData: { elements } });
  };

  it('is sent with the part as accepted, whether the answers name it or not', async () => {
    const [booking, study] = [here.lab.asked('booking'), here.lab.asked('study')];
    const left: Answers = { [letter]: ['accepted'], [study]: ['refused'] };
    const named: Answers = { ...left, [booking]: ['accepted'] };
    for (const [first, again] of [
      [left, named],
      [named, left],
    ] as const) {
      const made = await create();
      const as = subjectOf(here, made);
      for (const answers of [first, again]) expect((await as.submit(answers)).status).toBe(200);
      expect((await problemOf(await as.submit({ ...left, [study]: ['accepted'] }))).said).toBe(
        '409 wrong-state',
      );
      const { sealed } = await here.partOf(made, here.lab);
      const opened = openAnswers(sealed ?? '', { keys: [here.lab.sealing], now: new Date() });
      const own = (identifier: string) => identifier.replace(/@[^/]+/, '');
      expect(opened).toMatchObject({
        content: { answers: { [own(booking)]: ['accepted'], [own(study)]: ['refused'] } },
      });
    }
  });

  it('is not sent again by a child in which the peer is not answered', async () => {
    const as = subjectOf(here, await create());
    await as.submit({ [letter]: ['accepted'], [here.lab.asked('study')]: ['refused'] });
    const child = await transactionIn(as.post('/child'));
    const answer = await subjectOf(here, child).submit({ [letter]: ['refused'] });
    expect(await transactionIn(answer)).toMatchObject({ state: 'COMMITTED', followers: [] });
  });
});

it('an owner records its notice even if a part leaves it out', async () => {
  const [asked, booking] = ['element/processing/processing.001/1.0', 'element/processing/processing.003/1.0'];
  const part = await makePart(owner, {
    answers: { [asked]: ['refused'] },
    content: { elements: [asked, booking] },
  });
  expect(await owner.one.acceptSubmission(part)).toMatchObject({ verdict: 'committed' });
  expect(await recordsOf(owner.admin, part.submission.subject)).toMatchObject({
    'processing.001': [{ value: 'refused' }],
    'processing.003': [{ value: 'accepted', origin: 'PEER' }],
  });
});

it.each(['before', 'after'])(
  'a notice that its leader withdrew does not come into force with a held part, if the order arrives %s the part',
  async (arrival) => {
    const notice = { title: 'A notice', data: 'Name', retention: { label: 'a year' }, usage: 'News' };
    const consent = { ...notice, refusable: false, legalBases: ['LEGAL_BASIS_CONSENT'] };
    const { key } = await makeLiveModel(owner.admin, 'processing', { en: consent });
    await owner.share(key);
    const identifier = `element/processing/${key}/1.0`;
    const [peer, subject] = [newPeer(), `withdrawn-${arrival}`];
    const ago = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;
    const partOf = (mode: 'commit' | 'hold', iat: number) =>
      makePart(owner, {
        peer,
        answers: { [identifier]: ['accepted'] },
        submission: { subject, mode },
        header: { iat },
      });
    const first = await partOf('commit', ago(300));
    const second = await partOf('hold', ago(100));
    const withdrawn = new Date(ago(200) * 1000).toISOString();
    const order = () => owner.one.withdrawSubmission({ peer, sid: first.sid, withdrawn });

    expect(await owner.one.acceptSubmission(first)).toMatchObject({ verdict: 'committed' });
    if (arrival === 'before') await order();
    expect(await owner.one.acceptSubmission(second)).toMatchObject({ verdict: 'held' });
    if (arrival === 'after') expect(await order()).toMatchObject({ verdict: 'withdrawn' });
    await owner.one.decideSubmission({ peer, sid: second.sid, decision: 'commit' });

    const records = (await recordsOf(owner.admin, subject))[key] ?? [];
    const inForce = records.filter(({ status }) => status === 'VALID').map(({ value }) => value);
    expect(inForce).toEqual(['refused']);
  },
);
