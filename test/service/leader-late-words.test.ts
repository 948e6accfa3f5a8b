import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { movesInForce, type SubmissionAnswer } from '../../services/transactions/domain/part.ts';
import { createLateAnswers, type LateOutcome } from '../../services/transactions/queries/parts.ts';
import { answered, type LeadingInstance, startLeading } from '../support/instances/leader-instance.ts';
import { eventsOf } from '../support/instances/live-events.ts';
import type { LiveTransaction } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

const committed = () => answered(here);

interface Word {
  of: LiveTransaction;
  verdict: SubmissionAnswer['verdict'];
  /** Whose part it is about, and who says it. */
  part?: 'lab' | 'clinic';
  from?: 'lab' | 'clinic';
  reason?: string;
  eventId?: string;
}

/** Has words come in one turn of the event loop. */
async function hear(words: readonly Word[]): Promise<LateOutcome[]> {
  const source = here.url;
  const apply = createLateAnswers(here.db, { consumer: 'test', source });
  const read = await Promise.all(
    words.map(
      async ({ of, verdict, part = 'lab', from = part, reason = 'invalid', eventId = randomUUID() }) => {
        const { sid } = await here.partOf(of, here[part]);
        const moves = movesInForce({ verdict, ...(verdict === 'refused' && { reason }) });
        return { eventId, sid, location: here[from].url, remoteId: undefined, moves };
      },
    ),
  );
  return Promise.all(read.map(apply));
}
const stateOf = async (made: LiveTransaction, part: 'lab' | 'clinic' = 'lab') =>
  (await here.partOf(made, here[part])).state;
const made = { known: true, changed: true };
const without = { known: true, changed: false };
const another = { known: false, changed: false };

describe('words about answers in force that come at the same moment', () => {
  it('each settle their own part, and are told as events of their own', async () => {
    const [one, other] = [await committed(), await committed()];
    expect(
      await hear([
        { of: one, verdict: 'committed' },
        { of: other, verdict: 'refused' },
        { of: one, part: 'clinic', verdict: 'refused' },
      ]),
    ).toEqual([made, made, made]);
    expect([await stateOf(one), await stateOf(other), await stateOf(one, 'clinic')]).toEqual([
      'ACCEPTED',
      'REFUSED',
      'REFUSED',
    ]);
    const told = (await eventsOf(here, one)).filter(({ event }) => event.type.includes('.peer.submission.'));
    expect(told.map(({ event }) => event.type.split('.').at(-2)).sort()).toEqual(['accepted', 'refused']);
    expect(new Set(told.map(({ event }) => event.id)).size).toBe(2);
  });

  it('are one word if they are the same event, and change nothing when it comes again', async () => {
    const [transaction, eventId] = [await committed(), randomUUID()];
    const word: Word = { of: transaction, verdict: 'committed', eventId };
    expect(await hear([word, word])).toEqual([made, another]);
    expect(await hear([word])).toEqual([without]);
  });

  it('about one part are heard one after the other, so the first counts', async () => {
    const transaction = await committed();
    const words = await hear([
      { of: transaction, verdict: 'refused' },
      { of: transaction, verdict: 'committed' },
    ]);
    expect(words).toEqual([made, another]);
    expect(await stateOf(transaction)).toBe('REFUSED');
  });

  it('are kept from nothing by one that the database does not take', async () => {
    const [one, other] = [await committed(), await committed()];
    const words = hear([
      { of: one, verdict: 'committed' },
      { of: one, part: 'clinic', verdict: 'refused', reason: 'a\u0000b' },
      { of: other, verdict: 'committed' },
    ]);
    await expect(words).rejects.toMatchObject({ code: '22P05' });
    await until(async () =>
      expect([await stateOf(one), await stateOf(other)]).toEqual(['ACCEPTED', 'ACCEPTED']),
    );
    expect(await stateOf(one, 'clinic')).toBe('SENDING');
  });

  it('do nothing for a part that is not of who says them, and do not keep the others', async () => {
    const transaction = await committed();
    const words = await hear([
      { of: transaction, part: 'clinic', from: 'lab', verdict: 'refused' },
      { of: transaction, verdict: 'committed' },
    ]);
    expect(words).toEqual([another, made]);
    expect(await stateOf(transaction, 'clinic')).toBe('SENDING');
  });
});
