import { randomUUID } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { openAnswers } from '#lib/federation/sealed-answers.ts';
import { repeatPartEvents } from '../../services/transactions/sent-parts/lost-events-store.ts';
import { openPages } from '../support/console/open-pages.ts';
import {
  type LeadingInstance,
  pageOf,
  questionsOf,
  startLeading,
} from '../support/instances/leader-instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { eventsOf } from '../support/instances/live-events.ts';
import { letter, problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

const complete = (decision = 'accepted') => ({
  [letter]: ['accepted'],
  [here.lab.asked('study')]: [decision],
  [here.clinic.asked('study')]: ['refused'],
});
const create = (context: Record<string, unknown> = {}) =>
  createTransaction(here.operator, { layoutData: { elements: questionsOf(here) }, ...context });
async function submitted(context: Record<string, unknown> = {}) {
  const made = await create(context);
  const answer = await subjectOf(here, made).submit(complete());
  expect(answer.status).toBe(200);
  return { ...made, ...(await transactionIn(answer)) };
}

describe('answers to own elements and those of two peers', () => {
  it('are committed at once; own answers are recorded, and each peer’s part is sent', async () => {
    const made = await submitted();
    expect(made.state).toBe('COMMITTED');
    const changed = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(made.followers).toEqual([
      { location: here.lab.url, name: 'Northern Lab', state: 'SENDING', changed },
      { location: here.clinic.url, name: 'Lakeside Clinic', state: 'SENDING', changed },
    ]);
    expect(Object.keys(await recordsOf(here.operator, made.subject))).toEqual(['processing.001']);
    const listed = await here.operator.get(`/transactions?subject=${made.subject}`);
    expect(((await listed.json()) as { values: object[] }).values).toMatchObject([
      { followers: made.followers },
    ]);
    const searched = await here.operator.send('POST', '/transactions', { subject: made.subject });
    expect(((await searched.json()) as { values: object[] }).values).toMatchObject([
      { followers: made.followers },
    ]);
  });

  it('may leave out elements of peers with `ask: CHANGED`, as the form says', async () => {
    const made = await create({ ask: 'CHANGED' });
    const subject = subjectOf(here, made);
    const { elements } = (await (await subject.get('/submit')).json()) as {
      elements: { required: boolean }[];
    };
    expect(elements.map(({ required }) => required)).toEqual([true, false, false]);
    expect((await subject.submit({ [letter]: ['accepted'] })).status).toBe(200);
  });

  it('are released to each peer in the same commit, by events that contain only ids', async () => {
    const made = await submitted();
    for (const partner of [here.lab, here.clinic]) {
      const { sid, mode, deadline } = await here.partOf(made, partner);
      expect(await here.toldOf(sid)).toEqual([
        {
          type: 'io.accord.submission.released.v1',
          data: { submission: sid, peer: partner.url, deadline: expect.any(String) },
        },
      ]);
      expect(mode).toBe('commit');
      const days = (deadline.getTime() - Date.now()) / 86_400_000;
      expect(days).toBeGreaterThan(29.9);
      expect(days).toBeLessThan(30.1);
    }
  });

  it('can be opened by their owner, and bound to this instance and what was asked', async () => {
    const made = await submitted();
    const { sid, sealed } = await here.partOf(made, here.lab);
    const opened = openAnswers(sealed ?? '', { keys: [here.lab.sealing], now: new Date() });
    expect(opened).toMatchObject({
      opened: true,
      header: { sid, leader: here.url },
      content: {
        language: 'en',
        info: 'element/information/about.us/1.0',
        elements: ['element/processing/study/1.0'],
        answers: { 'element/processing/study/1.0': ['accepted'] },
      },
    });
  });

  it('are idempotent; other answers are a conflict', async () => {
    const made = await create();
    await subjectOf(here, made).submit(complete());
    expect((await subjectOf(here, made).submit(complete())).status).toBe(200);
    const other = await subjectOf(here, made).submit(complete('refused'));
    expect((await problemOf(other)).said).toBe('409 wrong-state');
    const rows = await rowsOf(here, 'SELECT sid FROM transactions.sent_parts WHERE transaction = $1', [
      made.id,
    ]);
    expect(rows).toHaveLength(2);
  });

  it('with faults are shown again as they were entered', async () => {
    const made = await create({
      layoutData: { elements: ['processing.001', here.lab.named('study'), here.lab.named('wishes')] },
    });
    const page = await (
      await subjectOf(here, made).submitForm({ [here.lab.asked('wishes')]: ['a quiet room'] })
    ).text();
    expect(page).toContain('a quiet room');
    expect(page).toContain(`name="${here.lab.asked('study')}"`);
    const rows = await rowsOf(here, 'SELECT sid FROM transactions.sent_parts WHERE transaction = $1', [
      made.id,
    ]);
    expect(rows).toEqual([]);
  });

  it('may all belong to a peer: there is a receipt, and no record here', async () => {
    const made = await create({ layoutData: { elements: [here.lab.named('study')] } });
    const answer = await subjectOf(here, made).submit({ [here.lab.asked('study')]: ['accepted'] });
    expect(await transactionIn(answer)).toMatchObject({
      state: 'COMMITTED',
      followers: [{ state: 'SENDING' }],
    });
    expect(await recordsOf(here.operator, made.subject)).toEqual({});
    expect(await pageOf(here, made)).toContain('Your answers were received');
  });

  it('can be recorded in a single step, once', async () => {
    const context = { subject: randomUUID(), layoutData: { elements: questionsOf(here) } };
    const send = () => here.operator.send('POST', '/consents/singlestep', { context, values: complete() });
    const first = await send();
    expect(first.status).toBe(201);
    const made = await transactionIn(first);
    expect(made.followers.map(({ state }) => state)).toEqual(['SENDING', 'SENDING']);
    const { sealed, deadline } = await here.partOf(made, here.lab);
    const { exp } = decodeProtectedHeader(sealed ?? '') as { exp: number };
    // More than the promised hour: answers are sealed before the deadline is known.
    expect(exp * 1_000 - deadline.getTime()).toBeGreaterThan(61 * 60_000);
    const again = await send();
    expect([again.status, (await transactionIn(again)).id]).toEqual([200, made.id]);
  });

  it('are sent once by a single step that is repeated, although there is no record here', async () => {
    const context = { subject: randomUUID(), layoutData: { elements: [here.lab.named('study')] } };
    const values = { [here.lab.asked('study')]: ['refused'] };
    const send = async () => {
      const answer = await here.operator.send('POST', '/consents/singlestep', { context, values });
      return { ...(await transactionIn(answer)), status: answer.status };
    };
    let made = await send();
    const isRepeated = async () => expect(await send()).toMatchObject({ status: 200, id: made.id });
    const isSentAgain = async () => {
      const former = made.id;
      made = await send();
      expect([made.status, made.id === former]).toEqual([201, false]);
      await isRepeated();
    };
    expect(made.status).toBe(201);
    await isRepeated();
    await here.say(made, here.lab, { verdict: 'done' });
    await isRepeated();
    // Answers that wait for a code have not been sent.
    const waiting = await createTransaction(here.operator, { ...context, confirmation: 'FORM_CODE' });
    expect((await subjectOf(here, waiting).submit(values)).status).toBe(200);
    await isRepeated();
    expect((await here.operator.send('POST', `/consents/${waiting.id}/cancel`)).status).toBe(200);
    await isRepeated();

    // The lab has got another answer since then.
    const changed = { ...context, attributes: { by: 'telephone' } };
    const accepted = { [here.lab.asked('study')]: ['accepted'] };
    await recordAnswers(here.operator, context.subject, accepted, changed);
    await isSentAgain();
    await here.operator.send('POST', `/consents/${made.id}/withdraw`);
    await isSentAgain();
    await here.say(made, here.lab, { verdict: 'refused', reason: 'stale' });
    await isSentAgain();
    await here.say(made, here.lab, { verdict: 'expired' });
    await isSentAgain();
  });
});

describe('the state of a part', () => {
  it('is part of the transaction and reported as an event, and the sealed answers are deleted', async () => {
    const made = await submitted();
    await here.say(made, here.lab, { verdict: 'done', id: 'theirs' });
    await here.say(made, here.clinic, { verdict: 'refused', reason: 'stale' });
    const { state, followers } = await here.followersOf(made);
    expect(state).toBe('COMMITTED');
    expect(followers).toMatchObject([
      { location: here.lab.url, id: 'theirs', name: 'Northern Lab', state: 'ACCEPTED' },
      { location: here.clinic.url, name: 'Lakeside Clinic', state: 'REFUSED', reason: 'stale' },
    ]);
    for (const [place, { changed }] of followers.entries())
      expect(changed > (made.followers[place]?.changed ?? '')).toBe(true);
    for (const partner of [here.lab, here.clinic])
      expect((await here.partOf(made, partner)).sealed).toBeNull();
    const told = (await eventsOf(here, made)).filter(({ event }) => event.type.includes('.submission.'));
    expect(told.map(({ topic, event }) => [topic, event.type, event.subject, event.data])).toEqual([
      [
        ...['accord.consents', 'io.accord.peer.submission.accepted.v1', made.id],
        { transaction: made.id, peer: here.lab.url, version: 2 },
      ],
      [
        ...['accord.consents', 'io.accord.peer.submission.refused.v1', made.id],
        { transaction: made.id, peer: here.clinic.url, version: 2, reason: 'stale' },
      ],
    ]);
  });

  it('is determined by the first verdict; later and repeated ones change nothing', async () => {
    const made = await submitted();
    const eventId = await here.say(made, here.lab, { verdict: 'done', id: 'theirs' });
    await here.say(made, here.lab, { verdict: 'done', id: 'other', eventId });
    for (const verdict of ['refused', 'held', 'expired'] as const)
      await here.say(made, here.lab, { verdict });
    const { followers } = await here.followersOf(made);
    expect(followers[0]).toMatchObject({ id: 'theirs', state: 'ACCEPTED' });
    const told = (await eventsOf(here, made)).filter(({ event }) => event.type.includes('.submission.'));
    expect(told).toHaveLength(1);
  });

  it('cannot be changed by another peer', async () => {
    const made = await submitted();
    const { sid } = await here.partOf(made, here.lab);
    await here.say(made, { ...here.clinic, url: here.clinic.url }, {
      verdict: 'done',
      submission: sid,
    } as never);
    expect((await here.followersOf(made)).followers[0]).toMatchObject({ state: 'SENDING' });
    expect(here.logs()).toContain('peer gave a verdict on a part that is unknown or not its own');
  });

  it('that could not be delivered in time is dropped', async () => {
    const made = await submitted();
    await here.say(made, here.lab, { verdict: 'expired' });
    expect((await here.followersOf(made)).followers[0]).toMatchObject({
      state: 'DROPPED',
      reason: 'expired',
    });
    expect(await pageOf(here, made)).toContain(
      'Northern Lab did not confirm them in time, so it is not known whether they were saved there.',
    );
    const pages = await openPages(here, 'operator');
    onTestFinished(pages.close);
    for (const [language, words] of [
      ['en', 'Not confirmed in time; may be in force'],
      ['fr', 'Non confirmée à temps\u202f; peut avoir pris effet'],
      ['ar', 'لم يؤكد في الوقت المحدد، وقد يكون ساريا'],
    ] as const) {
      const shown = await pages.get(`/console/transactions/${made.id}`, { 'Accept-Language': language });
      expect(await shown.text()).toContain(words);
    }
  });

  it('is shown on the final page, also if it changes after the commit', async () => {
    const made = await submitted();
    const before = await pageOf(here, made);
    expect(before).toContain('Your answers to Northern Lab');
    expect(before).toContain('A study of Northern Lab');
    expect(before).toContain('On its way to Northern Lab.');
    // The reason is the owner's own text: words of ours in it mean nothing.
    await here.say(made, here.lab, { verdict: 'refused', reason: 'constructor' });
    await here.say(made, here.clinic, { verdict: 'done' });
    const after = await pageOf(here, made);
    expect(after).toContain('Northern Lab did not save them');
    expect(after).toContain('Lakeside Clinic has received and saved your answers.');
  });
});

describe('the receipt', () => {
  it('lists what each peer asked, without answers', async () => {
    const made = await submitted();
    const response = await here.operator.get(`/receipts/${made.id}`);
    const receipt = (await response.json()) as components['schemas']['Receipt'];
    expect(receipt.consents.map(({ identifier }) => identifier)).toEqual([letter]);
    expect(receipt.peers).toMatchObject([
      {
        name: 'Northern Lab',
        location: here.lab.url,
        information: { lang: 'en', texts: { title: 'About Northern Lab' } },
        elements: [{ identifier: here.lab.asked('study'), texts: { title: 'A study of Northern Lab' } }],
      },
      { name: 'Lakeside Clinic', elements: [{ identifier: here.clinic.asked('study') }] },
    ]);
    expect(JSON.stringify(receipt.peers)).not.toMatch(/"(accepted|refused)"/);
    const page = await (await here.operator.get(`/receipts/${made.id}`, { Accept: 'text/html' })).text();
    expect(page).toContain(
      'Your answer to Northern Lab; if Northern Lab saved it, it is on the receipt from there',
    );
    expect(page).toContain('About Lakeside Clinic');
  });

  it('lists no peers if none asked', async () => {
    const made = await createTransaction(here.operator, { layoutData: { elements: ['processing.001'] } });
    await subjectOf(here, made).submit({ [letter]: ['accepted'] });
    expect(await (await here.operator.get(`/receipts/${made.id}`)).json()).not.toHaveProperty('peers');
  });
});

describe('a child', () => {
  it('shows a peer’s elements, and sends a part only if one of them is answered', async () => {
    const parent = await submitted();
    const child = await transactionIn(subjectOf(here, parent).post('/child'));
    const form = await subjectOf(here, child).form();
    expect(form.elements.map(({ owner, required }) => [owner, required])).toEqual([
      [null, true],
      ['Northern Lab', false],
      ['Lakeside Clinic', false],
    ]);
    const answers = { [letter]: ['refused'], [here.clinic.asked('study')]: ['accepted'] };
    const changed = await transactionIn(subjectOf(here, child).submit(answers));
    expect(changed).toMatchObject({ state: 'COMMITTED', followers: [{ name: 'Lakeside Clinic' }] });
    const receipt = await (await here.operator.get(`/receipts/${child.id}`)).json();
    expect(receipt).toMatchObject({ peers: [{ name: 'Lakeside Clinic' }] });
  });
});

it('a part without a verdict is released again every 72 hours, and ends a day after its deadline', async () => {
  const made = await submitted();
  const { sid } = await here.partOf(made, here.lab);
  const repeat = () => repeatPartEvents(here.db, 1_000, here.url);
  const released = await here.toldOf(sid);
  await letTimePass(here, '71 hours');
  await repeat();
  expect(await here.toldOf(sid)).toEqual(released);
  await letTimePass(here, '73 hours');
  await until(async () => expect(await here.toldOf(sid)).toEqual([...released, ...released]));
  await letTimePass(here, '30 days 12 hours');
  await repeat();
  await until(async () => expect(await here.toldOf(sid)).toHaveLength(3));
  expect(await here.partOf(made, here.lab)).toMatchObject({ state: 'SENDING' });
  await letTimePass(here, '31 days 1 hour');
  const dropped = { state: 'DROPPED', reason: 'expired' };
  await until(async () => expect((await here.followersOf(made)).followers).toMatchObject([dropped, dropped]));
  expect((await here.partOf(made, here.lab)).sealed).toBeNull();
  expect((await eventsOf(here, made)).at(-1)?.event).toMatchObject({
    type: 'io.accord.peer.submission.refused.v1',
    data: { version: 2, reason: 'expired' },
  });
  expect(await pageOf(here, made)).toContain('Northern Lab did not confirm them in time');
  expect(here.logs()).toMatch(new RegExp(`"level":"error".*"id":"${sid}","transaction":"${made.id}"`));
  // The report may still follow.
  await here.say(made, here.lab, { verdict: 'done' });
  expect((await here.followersOf(made)).followers[0]).toMatchObject({ state: 'ACCEPTED' });
  const line = `"code":"expired","id":"${sid}","transaction":"${made.id}"`;
  expect(here.logs()).toMatch(new RegExp(`"level":"error".*${line}.*in force at the peer`));
});
