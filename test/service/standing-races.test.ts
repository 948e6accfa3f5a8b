import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { keepEvents } from '../support/instances/live-events.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { letter, subjectOf } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  recordAnswers,
  recordsOf,
  submitForCode,
} from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Decision = components['schemas']['ElementDecision'];

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));
beforeAll(() => keepEvents(instance));

/**
 * What two requests do is decided within milliseconds, so each pair is sent often; `ROUNDS=200` more often.
 */
const rounds = Number(process.env.ROUNDS ?? 25);
const key = 'processing.001';
const layoutData = { elements: [key] };
const newSubject = () => `racing-${randomUUID()}`;

/** Carries out the rounds, a few at a time, because a busy instance refuses requests. */
async function everyRound(round: (number: number) => Promise<void>): Promise<void> {
  for (let first = 0; first < rounds; first += 5)
    await Promise.all([0, 1, 2, 3, 4].map((next) => round(first + next)));
}

/** An open form of the question. */
const open = (subject: string, more: Record<string, unknown> = {}) =>
  createTransaction(shop, { subject, layoutData, attributes: { form: randomUUID() }, ...more });

async function answer(made: { id: string; token: string }, value: string): Promise<void> {
  expect((await subjectOf(instance, made).submit({ [letter]: [value] })).status).toBe(200);
}

async function decide(subject: string, question: Record<string, unknown> = {}): Promise<Decision> {
  const response = await shop.send('POST', '/decisions', {
    subject,
    questions: [{ element: key, ...question }],
  });
  return ((await response.json()) as { decisions: Decision[] }).decisions[0] as Decision;
}

/** Data of the events of a type about the transactions of a subject. */
async function eventsAbout(subject: string, type: string): Promise<Record<string, unknown>[]> {
  const rows = await rowsOf<{ data: Record<string, unknown> }>(
    instance,
    `SELECT e.event->'data' AS data FROM transactions.kept_events AS e
       JOIN transactions.transactions AS t ON t.id = e.event->'data'->>'transaction'
      WHERE t.subject = $1 AND e.event->>'type' = $2`,
    [subject, `io.accord.${type}.v1`],
  );
  return rows.map(({ data }) => data);
}

describe('two requests of one person at the same moment', () => {
  it('do not give a notice again that one of them withdraws', async () => {
    const notice = await makeLiveModel(admin, 'processing', {
      en: { ...sampleContent.processing, legalBases: ['LEGAL_BASIS_CONSENT'], refusable: false },
    });
    const elements = [notice.key, key];
    await everyRound(async () => {
      const subject = newSubject();
      const first = await recordAnswers(
        shop,
        subject,
        { [letter]: ['accepted'] },
        { layoutData: { elements } },
      );
      const second = await open(subject, { layoutData: { elements } });
      const withdrawing = shop.send('POST', `/consents/${first.id}/withdraw`, { elements: [notice.key] });
      const [withdrawn] = await Promise.all([withdrawing, answer(second, 'accepted')]);
      expect(withdrawn.status).toBe(201);
      expect(await decide(subject, { element: notice.key })).toMatchObject({ reason: 'WITHDRAWN' });
    });
  });

  it('tell of a consent that one of them ends, if it was in force', async () => {
    await everyRound(async () => {
      const subject = newSubject();
      const [one, other] = [await open(subject), await open(subject)];
      await Promise.all([answer(one, 'accepted'), answer(other, 'refused')]);
      const { reason, record } = await decide(subject);
      const records = (await recordsOf(shop, subject))[key] ?? [];
      const of = (value: string) => records.find((each) => each.value === value);
      const ends = await eventsAbout(subject, 'consent.withdrawn');
      if (reason === 'GIVEN') {
        expect(of('refused')).not.toHaveProperty('withdraws');
        expect(ends).toEqual([]);
      } else {
        expect(reason).toBe('WITHDRAWN');
        expect(of('refused')).toMatchObject({ serial: record, withdraws: of('accepted')?.serial });
        expect(ends).toMatchObject([{ withdraws: [{ record: of('accepted')?.serial }] }]);
      }
    });
  });

  it('each name the record that they have replaced', async () => {
    await everyRound(async () => {
      const subject = newSubject();
      await recordAnswers(shop, subject, { [letter]: ['accepted'] });
      const [one, other] = [await open(subject), await open(subject)];
      await Promise.all([answer(one, 'accepted'), answer(other, 'accepted')]);
      const { record } = await decide(subject);
      const replaced = (await eventsAbout(subject, 'record.superseded')).map((data) => data.record);
      const serials = ((await recordsOf(shop, subject))[key] ?? []).map(({ serial }) => serial);
      expect([...replaced, record].sort()).toEqual(serials.sort());
    });
  });

  it('leave no consent in force whose code was entered beside its withdrawal, and its receipt says so', async () => {
    await everyRound(async () => {
      const subject = newSubject();
      const context = { subject, layoutData, attributes: { form: randomUUID() } };
      const waiting = await submitForCode(shop, context, { [letter]: ['accepted'] });
      const entering = shop.send('POST', `/consents/${waiting.id}/confirm`, { code: waiting.code });
      const [entered, withdrawn] = await Promise.all([
        entering,
        shop.send('POST', '/choices/withdraw', { subject }),
      ]);
      expect([entered.status, withdrawn.status]).toEqual([200, 201]);
      expect(await decide(subject)).toMatchObject({ reason: 'WITHDRAWN' });
      const receipt = await (await shop.get(`/receipts/${waiting.id}`)).json();
      const { consents } = receipt as { consents: { withdrawn?: string }[] };
      // Recipients are told only of a consent that was in force.
      const isTold = (await eventsAbout(subject, 'consent.withdrawn')).length > 0;
      expect(consents[0]?.withdrawn !== undefined).toBe(!isTold);
    });
  });
});

it('nothing is dated in the future, and a consent that was withdrawn while it waited was never in force', async () => {
  await everyRound(async () => {
    const subject = newSubject();
    await answer(await open(subject), 'accepted');
    const context = { subject, layoutData, attributes: { form: randomUUID() } };
    const waiting = await submitForCode(shop, context, { [letter]: ['accepted'] });
    expect((await shop.send('POST', '/choices/withdraw', { subject })).status).toBe(201);
    const stored = async () =>
      rowsOf<{ transaction: string; isFuture: boolean; from: Date | null; until: Date | null }>(
        instance,
        `SELECT r.transaction, r.from_at AS "from", r.until_at AS until,
                greatest(r.created_at, r.committed_at, r.from_at, r.until_at) > clock_timestamp() AS "isFuture"
           FROM transactions.records AS r WHERE r.subject = $1`,
        [subject],
      );
    expect((await stored()).filter(({ isFuture }) => isFuture)).toEqual([]);
    await shop.send('POST', `/consents/${waiting.id}/confirm`, { code: waiting.code });
    expect((await stored()).find(({ transaction }) => transaction === waiting.id)).toMatchObject({
      isFuture: false,
      from: null,
      until: null,
    });
  });
});

it('a decision is the same for ever if it is asked again with its time and position', async () => {
  await everyRound(async () => {
    const subject = newSubject();
    const given: Decision[] = [];
    let isChanging = true;
    const polling = (async () => {
      while (isChanging) given.push(await decide(subject));
    })();
    for (const value of ['accepted', 'refused', 'accepted', 'accepted'])
      await answer(await open(subject), value);
    expect((await shop.send('POST', '/choices/withdraw', { subject })).status).toBe(201);
    isChanging = false;
    await polling;
    for (const { asOf, position, reason, record } of given) {
      const again = await decide(subject, { asOf, position });
      expect({ reason: again.reason, record: again.record }).toEqual({ reason, record });
    }
  });
});
