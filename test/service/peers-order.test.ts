import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { subjectOf } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  recordAnswers,
  recordsOf,
  submitForCode,
} from '../support/instances/live-transactions.ts';
import { type Asked, type ClinicAndLab, own, startClinicAndLab } from '../support/peers/clinic-and-lab.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Decision = components['schemas']['Decision'];
type Transaction = components['schemas']['Transaction'];

let here: ClinicAndLab;
beforeAll(async () => {
  here = await startClinicAndLab();
}, 60_000);
afterEach(() => here.way.behave('well'));
afterAll(() => here?.stop());

/** Answers both questions again, in a child: the clinic's as before. */
async function answerAgain({ id, subject }: Pick<Asked, 'id' | 'subject'>, value: string): Promise<Asked> {
  const created = await here.clinicAdmin.send('POST', `/consents/${id}/child`);
  const child = (await created.json()) as Transaction;
  const asked = { id: child.id, token: child.token as string, subject };
  const answers = { [own]: ['accepted'], [`element/processing/${here.theirs}/1.0`]: [value] };
  expect((await subjectOf(here.clinic, asked).submit(answers)).status).toBe(200);
  return asked;
}

async function withdraw({ id, subject }: Asked): Promise<Asked> {
  const response = await here.clinicAdmin.send('POST', `/consents/${id}/withdraw`);
  expect(response.status).toBe(201);
  const { id: withdrawal, token } = (await response.json()) as Transaction;
  return { id: withdrawal, token: token as string, subject };
}

const told = (made: Asked) =>
  until(async () => expect(await here.partOf(made)).toMatchObject({ withdrawal: { state: 'ACKNOWLEDGED' } }));

/** Lets the deliveries about a part wait, and all others go. */
async function holdBack(made: Asked): Promise<void> {
  await runInDatabase(
    here.clinic,
    `UPDATE peers.deliveries AS d
        SET not_before = CASE WHEN f.transaction = $1 THEN 'infinity' ELSE now() END
       FROM transactions.sent_parts AS f WHERE f.sid = d.sid`,
    [made.id],
  );
  here.way.behave('well');
  await runInDatabase(here.clinic, 'UPDATE peers.queues SET next_at = now()');
}

/** Waits until so many deliveries are queued. */
const queued = (count: number) =>
  until(async () => expect(await rowsOf(here.clinic, 'SELECT FROM peers.deliveries')).toHaveLength(count));

async function decisionAtLab(subject: string): Promise<Decision> {
  const query = `subject=${encodeURIComponent(subject)}&element=processing.002`;
  return (await (await here.labAdmin.get(`/decisions?${query}`)).json()) as Decision;
}

describe('answers to a peer that arrive in another order than they were given', () => {
  it('leave a later refusal in force, although nothing was accepted before it arrived', async () => {
    here.way.behave('down');
    const made = await here.consent();
    const refusal = await answerAgain(made, 'refused');
    await queued(2);
    await holdBack(made);
    await here.delivered(refusal);
    await here.letWaitsPass();
    await here.delivered(made);
    expect(await decisionAtLab(made.subject)).toMatchObject({ allowed: false });
    const records = (await recordsOf(here.labAdmin, made.subject))['processing.002'] ?? [];
    expect(records.map(({ value }) => value)).toEqual(['refused', 'accepted']);
  });

  it('leave a consent in force if an earlier refusal arrives after it', async () => {
    const made = await here.consent();
    await here.delivered(made);
    here.way.behave('down');
    const refusal = await answerAgain(made, 'refused');
    const consent = await answerAgain(refusal, 'accepted');
    await queued(2);
    await holdBack(refusal);
    await here.delivered(consent);
    await here.letWaitsPass();
    await here.delivered(refusal);
    expect(await decisionAtLab(made.subject)).toMatchObject({ allowed: true, reason: 'GIVEN' });
  });

  it('are ordered by when they were given, also if they arrive at the same moment', async () => {
    here.way.behave('down');
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const made = await here.consent();
        return { made, refusal: await answerAgain(made, 'refused') };
      }),
    );
    await queued(12);
    here.way.behave('well');
    await here.letWaitsPass();
    for (const { made, refusal } of answers) {
      await here.delivered(made);
      await here.delivered(refusal);
      expect(await decisionAtLab(made.subject)).toMatchObject({ allowed: false });
    }
    // The refusal has ended the consent, unless it was stored first: then the consent was never in force.
    const subjects = answers.map(({ made }) => made.subject);
    const stored = await rowsOf<{ isRight: boolean }>(
      here.lab,
      `SELECT r.withdraws = a.id OR a.from_position IS NULL AS "isRight"
         FROM transactions.records AS r JOIN transactions.records AS a ON a.subject = r.subject
        WHERE r.subject = ANY($1::text[]) AND r.value = '{refused}' AND a.value = '{accepted}'`,
      [subjects],
    );
    expect(stored).toEqual(subjects.map(() => ({ isRight: true })));
  });

  it('put no consent in force that was given before the person refused at the owner itself', async () => {
    here.way.behave('down');
    const made = await here.consent();
    await queued(1);
    await holdBack(made);
    await recordAnswers(here.labAdmin, made.subject, {
      'element/processing/processing.002/1.0': ['refused'],
    });
    await here.letWaitsPass();
    await here.delivered(made);
    expect(await decisionAtLab(made.subject)).toMatchObject({ allowed: false });
  });
});

describe('a withdrawal at the owner', () => {
  it('takes effect at once, also if the leader of a part that waits has a clock that is ahead', async () => {
    const made = await here.consent();
    await here.delivered(made);
    const { subject } = made;
    here.way.behave('reply lost');
    const held = await here.consent({ subject, validity: 'P5M', peerCommit: 'together' });
    const waiting = `SELECT FROM transactions.records WHERE subject = $1 AND state = 'PENDING'`;
    await until(async () => expect(await rowsOf(here.lab, waiting, [subject])).toHaveLength(1));
    await runInDatabase(
      here.lab,
      `UPDATE transactions.records SET created_at = created_at + interval '25 seconds'
        WHERE subject = $1 AND state = 'PENDING'`,
      [subject],
    );
    await holdBack(held);
    const [record] = await rowsOf<{ transaction: string }>(
      here.lab,
      `SELECT transaction FROM transactions.records WHERE subject = $1 AND state = 'COMMITTED'`,
      [subject],
    );
    const withdrawn = await here.labAdmin.send('POST', `/consents/${record?.transaction}/withdraw`);
    expect(withdrawn.status).toBe(201);
    expect(await decisionAtLab(subject)).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
    await here.letWaitsPass();
    await here.delivered(held);
    expect(await decisionAtLab(subject)).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
  });
});

describe('a withdrawal that arrives late', () => {
  it('leaves a consent in force that the person gave after it, whichever arrives first', async () => {
    for (const first of ['order', 'consent']) {
      const made = await here.consent();
      await here.delivered(made);
      here.way.behave('down');
      const withdrawal = await withdraw(made);
      const consent = await answerAgain(withdrawal, 'accepted');
      await queued(2);
      await holdBack(first === 'order' ? consent : made);
      await (first === 'order' ? told(made) : here.delivered(consent));
      await here.letWaitsPass();
      await told(made);
      await here.delivered(consent);
      expect([first, await decisionAtLab(made.subject)]).toMatchObject([first, { reason: 'GIVEN' }]);
    }
  });

  it('ends consents to its questions that were given in other forms before it, also if they arrive later', async () => {
    const made = await here.consent();
    await here.delivered(made);
    const { subject } = made;
    const other = await here.consent({ subject, validity: 'P5M' });
    await here.delivered(other);
    here.way.behave('down');
    const late = await here.consent({ subject, validity: 'P4M' });
    await withdraw(made);
    await queued(2);
    await holdBack(late);
    await told(made);
    expect(await decisionAtLab(subject)).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
    await here.letWaitsPass();
    await here.delivered(late);
    expect(await decisionAtLab(subject)).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
  });

  it('keeps an older consent out of force that arrives after the order, also if the order found no consent', async () => {
    const made = await here.consent();
    await here.delivered(made);
    await here.delivered(await answerAgain(made, 'refused'));
    here.way.behave('down');
    const late = await here.consent({ subject: made.subject, validity: 'P4M' });
    await withdraw(made);
    await queued(2);
    await holdBack(late);
    await told(made);
    await here.letWaitsPass();
    await here.delivered(late);
    expect(await decisionAtLab(made.subject)).toMatchObject({ allowed: false });
    const records = (await recordsOf(here.labAdmin, made.subject))[here.theirs.split('@')[0] ?? ''];
    const accepted = records?.filter(({ value }) => value === 'accepted') ?? [];
    const receipts = await Promise.all(
      accepted.map(async ({ transaction }) => {
        const receipt = await (await here.labAdmin.get(`/receipts/${transaction}`)).json();
        return (receipt as { consents: { withdrawn?: string }[] }).consents[0]?.withdrawn;
      }),
    );
    expect(receipts.filter((withdrawn) => withdrawn !== undefined)).toHaveLength(1);
  });

  it('ends a notice that rests on consent also if a later form has shown the notice before the order arrives', async () => {
    const content = { ...sampleContent.processing, legalBases: ['LEGAL_BASIS_CONSENT'], refusable: false };
    const { id, key } = await makeLiveModel(here.labAdmin, 'processing', { en: content });
    await here.labAdmin.send('PUT', `/models/${id}`, { name: 'A notice', shared: true });
    const notice = `${key}@${new URL(here.lab.url).host}`;
    const subject = `notice-${randomUUID()}`;
    const send = async (context: object) => {
      const layoutData = { elements: ['processing.001', notice] };
      const made = await until(() =>
        createTransaction(here.clinicAdmin, { subject, layoutData, ...context }),
      );
      expect((await subjectOf(here.clinic, made).submit({ [own]: ['accepted'] })).status).toBe(200);
      return made;
    };
    const made = await send({});
    await here.delivered(made);
    here.way.behave('down');
    await withdraw(made);
    const later = await send({ validity: 'P4M' });
    await queued(2);
    await holdBack(made);
    await here.delivered(later);
    await here.letWaitsPass();
    await told(made);
    const query = `subject=${encodeURIComponent(subject)}&element=${key}`;
    const decision = await (await here.labAdmin.get(`/decisions?${query}`)).json();
    expect(decision).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
  });

  it('leaves a late preference in force, and does not put the older preference in its place', async () => {
    const { id, key } = await makeLiveModel(here.labAdmin, 'preference', {
      en: { label: 'Wishes', valueType: 'FREE_TEXT' },
    });
    await here.labAdmin.send('PUT', `/models/${id}`, { name: 'Wishes', shared: true });
    const wishes = `${key}@${new URL(here.lab.url).host}`;
    const subject = `wishes-${randomUUID()}`;
    const answer = async (text: string, context: object) => {
      const layoutData = { elements: [here.theirs, wishes] };
      const made = await until(() =>
        createTransaction(here.clinicAdmin, { subject, layoutData, ...context }),
      );
      const answers = {
        [`element/processing/${here.theirs}/1.0`]: ['accepted'],
        [`element/preference/${wishes}/1.0`]: [text],
      };
      expect((await subjectOf(here.clinic, made).submit(answers)).status).toBe(200);
      return made;
    };
    const made = await answer('by mail', {});
    await here.delivered(made);
    here.way.behave('down');
    const late = await answer('by telephone', { validity: 'P4M' });
    await withdraw(made);
    await queued(2);
    await holdBack(late);
    await told(made);
    await here.letWaitsPass();
    await here.delivered(late);
    const records = await recordsOf(here.labAdmin, subject);
    expect(records[key]?.map(({ value }) => value)).toEqual(['by telephone', 'by mail']);
    expect(await decisionAtLab(subject)).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
  });

  it('leaves a consent in force that was given at the owner itself, also if that waits for a code', async () => {
    const made = await here.consent();
    await here.delivered(made);
    const { subject } = made;
    here.way.behave('down');
    await withdraw(made);
    await queued(1);
    await holdBack(made);
    const context = { subject, layoutData: { elements: ['processing.002'] } };
    const answers = { 'element/processing/processing.002/1.0': ['accepted'] };
    const { id, code } = await submitForCode(here.labAdmin, context, answers);
    await here.letWaitsPass();
    await told(made);
    expect(await decisionAtLab(subject)).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
    expect((await here.labAdmin.send('POST', `/consents/${id}/confirm`, { code })).status).toBe(200);
    expect(await decisionAtLab(subject)).toMatchObject({ reason: 'GIVEN' });
  });
});
